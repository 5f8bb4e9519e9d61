package jobs

import (
	"fmt"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

func (h *house) vendorPaused() bool {
	h.t.Helper()
	list, err := h.db.Vendors(h.t.Context())
	h.no(err)
	return list[0].State == "paused"
}

// A refusal of our credentials pauses the vendor, in whatever form it comes, and
// nobody is charged: after it is mended all are told.
func TestCredentialsRefused(t *testing.T) {
	for name, set := range map[string]func(s *pushsim.Switches, on bool){
		"401":      func(s *pushsim.Switches, on bool) { s.Refuse = on },
		"403s":     func(s *pushsim.Switches, on bool) { s.Forbid = on },
		"redirect": func(s *pushsim.Switches, on bool) { s.Redirect = map[bool]string{true: "http://127.0.0.1:1/"}[on] },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, slow)
			h.devices(3000, good)
			h.process(nil)
			n := h.accept(name)
			h.midRun(n.ID, 500)
			h.no(h.sim.Update(func(s *pushsim.Switches) { set(s, true) }))
			h.eventually(10*time.Second, "paused", h.vendorPaused)
			_, c := h.until(n.ID, 20*time.Second, "quiet", func(_ db.Notice, c db.Counts) bool { return c.Sending == 0 })
			if c.Failed != 0 || c.Retrying != 0 {
				t.Errorf("somebody was charged: %+v", c)
			}
			calls := h.sim.Counts().Calls
			h.still(time.Second, "paused", func() bool { return h.sim.Counts().Calls == calls })
			h.no(h.sim.Update(func(s *pushsim.Switches) { set(s, false) }))
			h.no(h.db.ResumeVendor(t.Context(), "http", by))
			_, c = h.finished(n.ID, time.Minute)
			if c.Sent != 3000 {
				t.Errorf("counts: %+v", c)
			}
			if got := one[int](h, `SELECT count(*) FROM delivery WHERE charged > 0`); got != 0 {
				t.Errorf("%d were charged", got)
			}
			if got := h.sim.Counts(); got.Duplicates != 0 || got.Unique != 3000 {
				t.Errorf("stand-in: %+v", got)
			}
		})
	}
}

// A single 403 is the device's own.
func TestForbiddenAlone(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(500, func(i int) string {
		if i == 250 {
			return "forbidden-1"
		}
		return good(i)
	})
	h.process(nil)
	n := h.accept("403")
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 499 || c.Failed != 1 || h.vendorPaused() {
		t.Errorf("counts: %+v, paused %v", c, h.vendorPaused())
	}
	if got := one[string](h, `SELECT reason FROM delivery WHERE status = 'failed'`); got != "rejected" {
		t.Errorf("failed as %s", got)
	}
}

// 429 is waited for and not charged.
func TestRetryAfter(t *testing.T) {
	h := newHouse(t, pushsim.Config{KeepCalls: true})
	h.devices(200, func(i int) string {
		if i < 20 {
			return fmt.Sprintf("busy-%d", i)
		}
		return good(i)
	})
	h.process(nil)
	n := h.accept("429")
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 200 {
		t.Fatalf("counts: %+v", c)
	}
	if got := one[int](h, `SELECT count(*) FROM delivery WHERE charged > 0`); got != 0 {
		t.Errorf("%d were charged", got)
	}
	for i := range 20 {
		calls := h.sim.Calls(fmt.Sprintf("busy-%d", i), n.ID)
		if len(calls) != 2 || calls[1].At.Sub(calls[0].At) < time.Second {
			t.Errorf("calls of busy-%d: %+v", i, calls)
		}
	}
}

// The rate holds over all processes.
func TestRateOverTwoProcesses(t *testing.T) {
	const rate, n = 400, 1600
	h := newHouse(t, pushsim.Config{KeepCalls: true})
	h.devices(n, good)
	for range 2 {
		h.process(func(c *Config) { c.Rate = rate })
	}
	a := h.accept("rate")
	h.finished(a.ID, time.Minute)
	h.allOnce(a.ID, n)
	got := h.sim.Counts()
	took := got.LastCallAt.Sub(*got.FirstCallAt).Seconds()
	t.Logf("%d calls in %.2f s", n, took)
	if perSecond := (n - 1) / took; perSecond > rate*1.15 {
		t.Errorf("%.0f calls a second, want at most %d", perSecond, rate)
	}
}

// Two processes, one of which stops in order in the middle: nobody is told twice
// and nothing waits for a lease.
func TestG9StopInOrderLeavesNoDoubt(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(6000, good)
	_, _, stop := h.process(nil)
	h.process(nil)
	n := h.accept("stop")
	h.midRun(n.ID, 1000)
	stop()
	if got := one[int](h, `SELECT count(*) FROM attempt WHERE doubt`); got != 0 {
		t.Errorf("%d attempts are in doubt", got)
	}
	h.finished(n.ID, time.Minute)
	h.allOnce(n.ID, 6000)
}
