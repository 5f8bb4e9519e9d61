package pushfcm_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
	"bongsu/jobs/push/pushsim"
)

// TestCredentialsOverTime goes through what happens to a key: it is revoked while
// calls go on, and another key is another vendor.
func TestCredentialsOverTime(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{})
	send := func(v push.Vendor) push.Result {
		t.Helper()
		r, err := v.Send(t.Context(), message("token"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := send(v); r.Outcome != push.Sent {
		t.Errorf("got %+v", r)
	}
	sim.ForgetFCMTokens()
	if r := send(v); r.Outcome != push.Sent || sim.Counts().Tokens != 2 || sim.Counts().ByStatus[401] != 1 {
		t.Errorf("after the token was ended got %+v: %+v", r, sim.Counts())
	}
	sim.RevokeFCMKeys()
	if r := send(v); r.Outcome != push.Settings {
		t.Errorf("with a revoked key got %+v", r)
	}
	key, err := sim.NewFCMKey(project, sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	next := newVendor(t, pushfcm.Config{Key: key, URL: sim.FCMURL(), Timeout: 30 * time.Second})
	if r := send(next); r.Outcome != push.Sent || next.Credential().Fingerprint == v.Credential().Fingerprint {
		t.Errorf("with a new key got %+v as %+v", r, next.Credential())
	}
	other, err := sim.NewFCMKey("other-project", sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	if r := send(newVendor(t, pushfcm.Config{Key: other, URL: sim.FCMURL()})); r.Outcome != push.Sent {
		t.Errorf("at another project got %+v", r)
	}
}

// TestNotWritten: a host that does not take the connection told nobody.
func TestNotWritten(t *testing.T) {
	tokens := serveTokens(t, nil)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: gone.URL, Timeout: 30 * time.Second})
	_, err := v.Send(t.Context(), message("token"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || na.Timeout || na.Code != "refused" {
		t.Errorf("got %#v, want refused and not written", err)
	}
}

// TestWaitingForRoom: a call that never got its turn told nobody.
func TestWaitingForRoom(t *testing.T) {
	sim, err := pushsim.Start(pushsim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	key, err := sim.NewFCMKey(project, sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	v := newVendor(t, pushfcm.Config{Key: key, URL: sim.FCMURL(), Timeout: 30 * time.Second, MaxInFlight: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error)
	for range 90 {
		go func() {
			_, err := v.Send(ctx, message("slow-1"))
			ends <- err
		}()
	}
	for sim.Counts().Calls < 90 {
		time.Sleep(time.Millisecond) // the stand-in tells nobody that a call hangs
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err = v.Send(short, message("token"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || !na.Timeout {
		t.Errorf("got %#v, want a limit and not written", err)
	}
	cancel()
	for range 90 {
		if err := <-ends; !errors.As(err, &na) || !na.Written || na.Timeout || na.Code != "cancelled" {
			t.Errorf("a call that hung got %#v", err)
		}
	}
	if sim.Counts().Calls != 90 {
		t.Errorf("counted %+v", sim.Counts())
	}
}

// TestTLS: HTTP/2 by ALPN alone, with a certificate that holds.
func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet(t)
	server.StartTLS()
	t.Cleanup(server.Close)
	sim, err := pushsim.Start(pushsim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	// The token's endpoint must be https too, so an untrusted one is the first to be met.
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, server.URL+"/token"), URL: server.URL, Timeout: 30 * time.Second})
	r, err := v.Send(t.Context(), message("token"))
	if err != nil || r.Outcome != push.Wait || r.Code != "token_tls" {
		t.Errorf("got %+v and %v, want to wait for a certificate that holds", r, err)
	}
}
