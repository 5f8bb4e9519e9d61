package pushfcm_test

import (
	"fmt"
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
	if c.Connections > 4 || c.MaxInFlight < inFlight/2 || c.Delivered != 2000 || c.Tokens != 1 {
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
	if c.Connections < 6 || c.Connections > 4+2*ended {
		t.Errorf("%d connections, of which up to %d were ended", c.Connections, ended)
	}
}
