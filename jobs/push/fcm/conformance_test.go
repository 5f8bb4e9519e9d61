package pushfcm_test

import (
	"encoding/json"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
	"bongsu/jobs/push/pushtest"
)

func TestConformance(t *testing.T) {
	tokens := serveTokens(t, nil)
	pushtest.Run(t, pushtest.Setup{
		New: func(t *testing.T, url string, timeout time.Duration) push.Vendor {
			return newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: url, Timeout: timeout})
		},
		Answers: answers(),
		Sent:    `{"name":"projects/test-project/messages/m-1"}`,
		Secret:  bearer,
		Fields: func(posted []byte) (token, title, body string, err error) {
			var p struct {
				Message struct {
					Token        string
					Notification struct{ Title, Body string }
				}
			}
			err = json.Unmarshal(posted, &p)
			return p.Message.Token, p.Message.Notification.Title, p.Message.Notification.Body, err
		},
	})
}
