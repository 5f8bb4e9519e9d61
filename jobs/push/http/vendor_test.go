package pushhttp_test

import (
	"encoding/json"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushtest"

	"go.uber.org/goleak"
)

const bearer = "test-bearer-token"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newVendor(t *testing.T, url string, timeout time.Duration) push.Vendor {
	t.Helper()
	v, err := pushhttp.New(pushhttp.Config{URL: url, Token: bearer, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func TestConformance(t *testing.T) {
	pushtest.Run(t, pushtest.Setup{
		New:     newVendor,
		Answers: pushtest.HTTPAnswers(),
		Sent:    `{"message_id":"m-1"}`,
		Secret:  bearer,
		Fields: func(posted []byte) (token, title, body string, err error) {
			var p struct{ Token, Title, Body string }
			err = json.Unmarshal(posted, &p)
			return p.Token, p.Title, p.Body, err
		},
	})
}
