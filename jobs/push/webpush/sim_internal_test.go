package pushweb

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// secure is a stand-in behind TLS, by HTTP/2 unless old.
type secure struct {
	*pushsim.Server
	base  string // what endpoints begin with
	roots *x509.CertPool
	conns atomic.Int64
}

func newSecure(t *testing.T, cfg pushsim.Config, old bool) *secure {
	t.Helper()
	sim, err := pushsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &secure{Server: sim, roots: x509.NewCertPool()}
	server := httptest.NewUnstartedServer(sim)
	server.EnableHTTP2 = !old
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(func() { sim.Close(); server.Close() })
	s.roots.AddCert(server.Certificate())
	s.base = server.URL + "/wp/"
	return s
}

func (s *secure) vendor(t *testing.T, c Config) *Vendor {
	c.AllowPrivate = true
	return vendorWith(t, c, options{roots: s.roots})
}

func (s *secure) message(token string) push.Message {
	sub := pushsim.WebPushSubscription(s.base, token)
	m := message(sub.Endpoint)
	m.P256dh, m.Auth = sub.Keys.P256dh, sub.Keys.Auth
	return m
}

func TestStandIn(t *testing.T) {
	sim := newSecure(t, pushsim.Config{}, false)
	v := sim.vendor(t, Config{Timeout: time.Minute})
	for _, c := range []struct {
		token string
		want  push.Result
	}{
		{"good", push.Result{Outcome: push.Sent, Status: 201}},
		{"with /, % and 한글", push.Result{Outcome: push.Sent, Status: 201}},
		{"expired-1", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Status: 410, Code: "106"}},
		{"missing-1", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Status: 404, Code: "102"}},
		{"forbidden-1", push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Status: 403}},
		{"otherkey-1", push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Status: 403, Code: "VapidPkHashMismatch"}},
		{"badjwt-1", push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Status: 403, Code: "BadJwtToken"}},
		{"bad-1", push.Result{Outcome: push.Permanent, Reason: push.Rejected, Status: 400, Code: "110"}},
		{"topic-1", push.Result{Outcome: push.Unfit, Reason: push.Rejected, Status: 400, Code: "BadWebPushTopic"}},
		{"throttled-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 406, Code: "channelthrottled", RetryAfter: time.Second}},
		{"busy-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 429, Code: "TooManyRequests", RetryAfter: time.Second}},
		{"busy-1", push.Result{Outcome: push.Sent, Status: 201}},
		{"quotaopen-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 429, Code: "TooManyRequests"}},
		{"down-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Status: 503, Code: "201"}},
		{"internal-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Status: 500, Code: "999"}},
		{"page-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Status: 503}},
		{"goaway-1", push.Result{Outcome: push.Sent, Status: 201}},
		{"after goaway", push.Result{Outcome: push.Sent, Status: 201}},
	} {
		before := sim.Delivered(c.token, 7)
		r, err := v.Send(t.Context(), sim.message(c.token))
		if err != nil {
			t.Errorf("%s: %v", c.token, err)
			continue
		}
		told := sim.Delivered(c.token, 7) - before
		if sent := c.want.Outcome == push.Sent; sent != (told == 1) || sent != (r.MessageID != "") {
			t.Errorf("%s: %+v, but it was delivered %d times", c.token, r, told)
		}
		r.Message, r.MessageID = "", ""
		if r != c.want {
			t.Errorf("%s: got %+v, want %+v", c.token, r, c.want)
		}
	}
	r, err := v.Send(t.Context(), sim.message("quotadate-1"))
	if err != nil || r.Outcome != push.Wait || r.RetryAfter < time.Minute || r.RetryAfter > 2*time.Minute {
		t.Errorf("quotadate-1: got %+v and %v", r, err)
	}
}

// TestTakenAndCut: the message arrived and nobody said so; the call is not made again.
func TestTakenAndCut(t *testing.T) {
	sim := newSecure(t, pushsim.Config{}, false)
	v := sim.vendor(t, Config{Timeout: time.Minute})
	r := push.ResultOf(v.Send(t.Context(), sim.message("drop-1")))
	if r.Outcome != push.Transient || !r.Doubt || sim.Delivered("drop-1", 7) != 1 || sim.Counts().Calls != 1 {
		t.Errorf("got %+v; counted %+v", r, sim.Counts())
	}
}

func TestAnotherKeyIsFoundOut(t *testing.T) {
	sim := newSecure(t, pushsim.Config{Switches: pushsim.Switches{WebPush: pushsim.WebPushSwitches{Key: "another"}}}, false)
	r, err := sim.vendor(t, Config{}).Send(t.Context(), sim.message("good"))
	if err != nil || r.Outcome != push.Dead || !r.Guarded {
		t.Errorf("got %+v and %v, want dead, guarded", r, err)
	}
}

// loop sends calls messages by inFlight goroutines and gives how many were sent.
func loop(t *testing.T, v *Vendor, sim *secure, calls, inFlight int) int64 {
	t.Helper()
	var next, sent atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			for i := next.Add(1); i <= int64(calls); i = next.Add(1) {
				m := sim.message(fmt.Sprintf("token-%d", i))
				if r := push.ResultOf(v.Send(t.Context(), m)); r.Outcome == push.Sent {
					sent.Add(1)
				} else {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
	all.Wait()
	return sent.Load()
}

// TestFewConnections: a cold vendor with many calls at once takes few connections, and
// a warm one no further ones.
func TestFewConnections(t *testing.T) {
	sim := newSecure(t, pushsim.Config{Switches: pushsim.Switches{Latency: 20 * time.Millisecond, WebPush: pushsim.WebPushSwitches{Blind: true}}}, false)
	v := sim.vendor(t, Config{Timeout: time.Minute, MaxInFlight: 256})
	for range 2 {
		if sent := loop(t, v, sim, 600, 256); sent != 600 {
			t.Fatalf("%d of 600 were sent: %+v", sent, sim.Counts())
		}
	}
	if n := sim.conns.Load(); n > 3 || sim.Counts().Duplicates != 600 {
		t.Errorf("1200 calls, 256 at once, took %d connections, want 3: %+v", n, sim.Counts())
	}
}

// TestMoreThanInFlight: calls over the limit wait for their turn.
func TestMoreThanInFlight(t *testing.T) {
	sim := newSecure(t, pushsim.Config{Switches: pushsim.Switches{Latency: 5 * time.Millisecond, WebPush: pushsim.WebPushSwitches{Blind: true}}}, false)
	v := sim.vendor(t, Config{Timeout: time.Minute, MaxInFlight: 1})
	loop(t, v, sim, 300, 200)
	if c := sim.Counts(); sim.conns.Load() != 1 || c.MaxInFlight > perLane {
		t.Errorf("%d connections, counted %+v, want one with %d calls at once", sim.conns.Load(), c, perLane)
	}
}

// TestOldOrigin: a push service without HTTP/2 gets a connection for each call at
// once as soon as that is known, and they are used again.
func TestOldOrigin(t *testing.T) {
	sim := newSecure(t, pushsim.Config{Switches: pushsim.Switches{Latency: 20 * time.Millisecond, WebPush: pushsim.WebPushSwitches{Blind: true}}}, true)
	v := sim.vendor(t, Config{Timeout: time.Minute, MaxInFlight: 40})
	loop(t, v, sim, 1, 1)
	loop(t, v, sim, 400, 80)
	if c := sim.Counts(); c.MaxInFlight < 20 || c.MaxInFlight > 40 || sim.conns.Load() > 41 {
		t.Errorf("%d connections, counted %+v, want up to 40 calls at once", sim.conns.Load(), c)
	}
}

// TestNoRoom: a call that finds no place within its limit has not left.
func TestNoRoom(t *testing.T) {
	sim := newSecure(t, pushsim.Config{}, false)
	v := sim.vendor(t, Config{Timeout: 200 * time.Millisecond, MaxInFlight: 1})
	o := v.lanes.origin(strings.TrimSuffix(sim.base, "/wp/"), false)
	for range perLane {
		o.room <- struct{}{}
	}
	_, err := v.Send(t.Context(), sim.message("token"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || !na.Timeout || sim.Counts().Calls != 0 {
		t.Errorf("got %v, want a limit that ended it before it left", err)
	}
}

// TestOriginsAreApart: an origin that hangs takes no room from another.
func TestOriginsAreApart(t *testing.T) {
	// Both have the one certificate of httptest.
	sick, well := newSecure(t, pushsim.Config{}, false), newSecure(t, pushsim.Config{}, false)
	v := sick.vendor(t, Config{Timeout: time.Minute, MaxInFlight: 1})
	var hung sync.WaitGroup
	for i := range perLane + 10 {
		hung.Go(func() {
			if r := push.ResultOf(v.Send(t.Context(), sick.message(fmt.Sprintf("slow-%d", i)))); r.Outcome == push.Sent {
				t.Errorf("got %+v", r)
			}
		})
	}
	loop(t, v, well, 100, 10)
	sick.Close() // ends what hangs
	hung.Wait()
}

func TestOriginsAreBounded(t *testing.T) {
	v := plainVendor(t)
	for i := range maxOrigins + 10 {
		v.lanes.origin(fmt.Sprintf("https://%d.example", i), false)
		if n := len(v.lanes.origins); n > maxOrigins {
			t.Fatalf("%d origins are kept", n)
		}
	}
}
