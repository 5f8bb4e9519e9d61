package pushfcm_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/bareloop"
	pushfcm "bongsu/jobs/push/fcm"
	"bongsu/jobs/push/pushsim"
)

const inFlight = 256

// TestFewConnections: a cold client with many calls at once takes few connections,
// and a warm one no further ones.
func TestFewConnections(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{Switches: pushsim.Switches{Latency: 20 * time.Millisecond}})
	for range 2 {
		if _, sent := bareloop.Loop(t.Context(), v, 1000, inFlight); sent != 1000 {
			t.Fatalf("%d of 1000 were sent: %+v", sent, sim.Counts())
		}
	}
	c := sim.Counts()
	// Three of calls, one for the access token.
	if c.Connections > 4 || c.Delivered != 2000 || c.Tokens != 1 {
		t.Errorf("2000 calls, %d at once: %+v", inFlight, c)
	}
}

// TestOneAtATime takes one connection.
func TestOneAtATime(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{})
	if _, sent := bareloop.Loop(t.Context(), v, 20, 1); sent != 20 || sim.Counts().Connections != 2 {
		t.Errorf("%d sent: %+v", sent, sim.Counts())
	}
}

// TestMoreThanInFlight: calls over the limit wait for their turn.
func TestMoreThanInFlight(t *testing.T) {
	sim, err := pushsim.Start(pushsim.Config{Switches: pushsim.Switches{Latency: 5 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	key, err := sim.NewFCMKey(project, sim.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	v := newVendor(t, pushfcm.Config{Key: key, URL: sim.FCMURL(), Timeout: 30 * time.Second, MaxInFlight: 1})
	if _, sent := bareloop.Loop(t.Context(), v, 500, 300); sent != 500 {
		t.Errorf("%d of 500 were sent", sent)
	}
	if c := sim.Counts(); c.Connections > 2 || c.MaxInFlight > 90 {
		t.Errorf("counted %+v, want one connection of calls with 90 at once", c)
	}
}

// TestGoAway ends connections in mid-run, again and again. What was in doubt may
// have arrived, what was not must not have, and nothing arrives twice: net/http
// repeats nothing by itself.
func TestGoAway(t *testing.T) {
	const calls, every = 2000, 200
	sim, v := newSim(t, pushsim.Config{Switches: pushsim.Switches{Latency: 5 * time.Millisecond, FCM: pushsim.FCMSwitches{GoAwayEvery: every}}})
	var next, sent, doubt, clear atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			for i := next.Add(1); i <= calls; i = next.Add(1) {
				token := fmt.Sprintf("token-%d", i)
				r := push.ResultOf(v.Send(t.Context(), message(token)))
				told := sim.Delivered(token, 7)
				switch {
				case r.Outcome == push.Sent:
					sent.Add(1)
				case r.Doubt:
					doubt.Add(1)
				default:
					clear.Add(1)
					if told > 0 || r.Outcome != push.Transient {
						t.Errorf("%s: %+v, but it was delivered %d times", token, r, told)
					}
				}
			}
		})
	}
	all.Wait()
	c := sim.Counts()
	const ended = calls / every
	if c.Duplicates > 0 || c.Delivered > sent.Load()+doubt.Load() || doubt.Load()+clear.Load() > 90*ended {
		t.Errorf("%d sent, %d in doubt, %d never begun: %+v", sent.Load(), doubt.Load(), clear.Load(), c)
	}
	if c.Connections < 5 || c.Connections > 4+2*ended {
		t.Errorf("%d connections, of which up to %d were ended", c.Connections, ended)
	}
}

// TestFewStreams: a server that takes less at once than a lane gives gets more
// connections, and nobody waits for ever. A call that left before the server
// had said how many it takes may be refused, and is known not to have arrived.
func TestFewStreams(t *testing.T) {
	var open, took atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		took.Add(1)
		_, _ = io.WriteString(w, `{"name":"projects/p/messages/m"}`)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			open.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, serveTokens(t, nil).url), URL: server.URL, Timeout: 30 * time.Second})
	var next, sent, refused atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			for next.Add(1) <= 1000 {
				switch r := push.ResultOf(v.Send(t.Context(), message("token"))); {
				case r.Outcome == push.Sent:
					sent.Add(1)
				case r.Code == "goaway" && !r.Doubt:
					refused.Add(1)
				default:
					t.Errorf("got %+v", r)
				}
			}
		})
	}
	all.Wait()
	if took.Load() != sent.Load() || refused.Load() > 90*open.Load() || open.Load() < 4 {
		t.Errorf("%d sent and %d refused over %d connections; the server took %d", sent.Load(), refused.Load(), open.Load(), took.Load())
	}
}
