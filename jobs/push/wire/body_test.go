package wire_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"bongsu/jobs/push/wire"
)

func newBody(t *testing.T) (*wire.Body, *http.Request) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return wire.NewBody(req, []byte("payload")), req
}

// TestBodyBeginsAnew: net/http closes the body of a request that found no
// connection, and asks for it again.
func TestBodyBeginsAnew(t *testing.T) {
	b, req := newBody(t)
	if req.ContentLength != 7 || req.Body.Close() != nil {
		t.Errorf("the request is of %d bytes", req.ContentLength)
	}
	again, err := req.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(again); string(got) != "payload" || err != nil || !b.Written() {
		t.Errorf("read %q and %v", got, err)
	}
}

// TestBodyLeavesOnce: with a byte read it is not given again.
func TestBodyLeavesOnce(t *testing.T) {
	b, req := newBody(t)
	if _, err := req.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if again, err := req.GetBody(); err == nil || again != nil || !wire.Unprocessed(err) {
		t.Errorf("got %v and %v, want it kept", again, err)
	}
	if !b.Written() {
		t.Error("it says that nothing left")
	}
}

// TestBodyIsOver: what was found unwritten stays so.
func TestBodyIsOver(t *testing.T) {
	b, req := newBody(t)
	if b.Written() {
		t.Error("it says that something left")
	}
	if n, err := req.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("read %d bytes and %v", n, err)
	}
	if _, err := req.GetBody(); err == nil {
		t.Error("it is given again")
	}
}
