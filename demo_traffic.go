package main

import (
	"context"
	"time"

	"bongsu/jobs/push/pushsim"
)

// fullRate is the least number of calls in a second that counts as sending at
// full rate.
const fullRate = 500

// A traffic looks at the stand-in to tell whether calls come at full rate. One
// goroutine uses it.
type traffic struct {
	sim   *pushsim.Server
	until int64 // with this many devices told the first wave is over

	calls   int64
	at      time.Time
	flowing bool // at the last look
}

// flowed tells whether calls came at full rate since the last look.
func (t *traffic) flowed() bool {
	calls, now := t.sim.Counts().Calls, time.Now()
	t.flowing = float64(calls-t.calls) >= fullRate*now.Sub(t.at).Seconds()
	t.calls, t.at = calls, now
	return t.flowing
}

// await waits until calls come at full rate. It is false when the first wave is
// over.
func (t *traffic) await(ctx context.Context) (flows bool, err error) {
	if t.flowing && time.Since(t.at) < 10*time.Millisecond {
		return true, nil // as the sample before has just seen
	}
	t.flowed()
	over := false
	err = poll(ctx, time.Minute, 5*time.Millisecond, "calls come at full rate", func() (bool, error) {
		over = t.sim.Counts().Unique >= t.until
		if over || time.Since(t.at) < 10*time.Millisecond {
			return over, nil
		}
		return t.flowed(), nil
	})
	return !over, err
}
