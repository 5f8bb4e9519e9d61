package pushhttp

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"bongsu/jobs/push"
)

func TestTrustedCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
	}))
	defer server.Close()
	v, err := New(Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	v.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	r, err := v.Send(t.Context(), push.Message{Key: "k"})
	if err != nil || r.Outcome != push.Sent {
		t.Errorf("got %+v and %v, want sent", r, err)
	}
}

func TestNoProxy(t *testing.T) {
	v, err := New(Config{URL: "http://vendor.example/send"})
	if err != nil {
		t.Fatal(err)
	}
	if v.transport.Proxy != nil {
		t.Error("a proxy from the environment would be used")
	}
}
