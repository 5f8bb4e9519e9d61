package pushfcm_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
	"bongsu/jobs/push/pushsim"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// net/http lingers for half a second over a connection whose body it left.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const (
	bearer  = "test-access-token"
	project = "test-project"
)

// privateKey is made once: it takes a good part of a second.
var privateKey = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
})

// keyFor is a service account key whose tokens come from tokenURI. Each of change
// replaces a member, or takes it out where it is empty.
func keyFor(t testing.TB, tokenURI string, change ...[2]string) []byte {
	t.Helper()
	members := map[string]string{
		"type": "service_account", "project_id": project, "private_key_id": "k1", "private_key": privateKey(),
		"client_email": "sender@test-project.iam.gserviceaccount.com", "token_uri": tokenURI,
	}
	for _, c := range change {
		members[c[0]] = c[1]
		if c[1] == "" {
			delete(members, c[0])
		}
	}
	key, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// endpoint is a token endpoint that a test writes itself.
type endpoint struct {
	url   string
	asked atomic.Int64
}

// serveTokens answers with what answer says; nil: bearer for an hour.
func serveTokens(t testing.TB, answer http.HandlerFunc) *endpoint {
	t.Helper()
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, bearer)
		}
	}
	e := &endpoint{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	e.url = server.URL + "/token"
	return e
}

func newVendor(t testing.TB, c pushfcm.Config) *pushfcm.Vendor {
	t.Helper()
	v, err := pushfcm.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// newSim is a stand-in and a vendor that has a key of it.
func newSim(t testing.TB, cfg pushsim.Config) (*pushsim.Server, *pushfcm.Vendor) {
	t.Helper()
	sim, err := pushsim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	key, err := sim.NewFCMKey(project, sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	return sim, newVendor(t, pushfcm.Config{Key: key, URL: sim.FCMURL(), Timeout: 30 * time.Second})
}

// h2c is a server by HTTP/2 without TLS that answers with handler.
func h2c(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func message(token string) push.Message {
	return push.Message{
		NoticeID: 7, DeviceID: 11, Key: "n7-d11-k1", Address: push.Address{Kind: push.KindFCM, Token: token},
		Platform: "android", Title: "title", Body: "body", Link: "https://example.com/7",
		ExpiresAt: time.Now().Add(time.Hour), CollapseID: "7",
	}
}
