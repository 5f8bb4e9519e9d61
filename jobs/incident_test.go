package jobs

import (
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

// TestIncident sends the incident's notice to the incident's audience: every
// good device is told once, and every other one is in the archive with its
// reason, on the retry schedule.
func TestIncident(t *testing.T) {
	h := newHouse(t, pushsim.Config{Switches: pushsim.Switches{
		Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, TransientShare: 0.03}})
	h.devices(10_000, incident)
	h.process(nil)
	n := h.accept("incident")
	start := time.Now()
	_, c := h.finished(n.ID, 90*time.Second)
	t.Logf("finished after %v: %+v; stand-in: %+v", time.Since(start), c, h.sim.Counts())
	if c.Total != 10_000 || c.Sent != 9_800 || c.Failed != 200 || c.Twice != 0 {
		t.Errorf("counts: %+v", c)
	}
	if got := h.sim.Counts(); got.Duplicates != 0 || got.Unique != 9_800 {
		t.Errorf("stand-in: %+v", got)
	}
	if got := one[int](h, `SELECT count(*) FROM delivery WHERE status = 'failed' AND reason = 'token_expired' AND attempts = 1`); got != 100 {
		t.Errorf("%d failed as expired after one call, want 100", got)
	}
	if got := one[int](h, `SELECT count(*) FROM delivery WHERE status = 'failed' AND reason = 'vendor_error' AND attempts = 4 AND charged = 4`); got != 100 {
		t.Errorf("%d failed after four calls, want 100", got)
	}
	if got := one[int64](h, `SELECT count(*) FROM attempt`); got != c.Attempts || got != h.sim.Counts().Calls {
		t.Errorf("%d attempts are written, %d counted, the stand-in had %d calls", got, c.Attempts, h.sim.Counts().Calls)
	}
}
