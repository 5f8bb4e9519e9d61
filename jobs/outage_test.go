package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// guarded switches the guards on, as they are by default.
func guarded(c *Config) { c.Backlog, c.RefusalShare = 500, 0.5 }

func (h *house) vendorRow() db.VendorState {
	h.t.Helper()
	list, err := h.db.Vendors(h.t.Context())
	h.no(err)
	return list[0]
}

func (h *house) outage(on bool) {
	h.t.Helper()
	h.no(h.sim.Update(func(s *pushsim.Switches) { s.Outage = on }))
}

// The vendor is down in the middle of a large notice, with two workers: calls stop
// but for a probe every 2 s, each to another device; nothing dies; it goes on at
// full rate by itself.
func TestVendorDownInTheMiddle(t *testing.T) {
	h := newHouse(t, pushsim.Config{KeepCalls: true, Switches: slow.Switches})
	h.devices(10_000, good)
	h.process(guarded)
	h.process(guarded)
	n := h.accept("outage")
	h.midRun(n.ID, 2000)
	h.outage(true)
	went := time.Now()
	h.eventually(5*time.Second, "probing", func() bool { return h.vendorRow().State == "probing" })
	time.Sleep(time.Until(went.Add(2 * time.Second)))
	early := h.sim.Counts().Calls
	time.Sleep(8 * time.Second)
	if calls := h.sim.Counts().Calls - early; calls < 2 || calls > 6 {
		t.Errorf("%d calls within 8 s, want a probe every 2 s", calls)
	}
	h.probesRotate(n.ID)
	if v := h.vendorRow(); v.Reason == nil || *v.Reason != "backlog" || v.Detail == nil || !strings.Contains(*v.Detail, "503") {
		t.Errorf("the vendor's row: %+v", v)
	}
	before := h.sim.Counts().Calls
	h.outage(false)
	back := time.Now()
	h.eventually(3*time.Second, "at full rate", func() bool { return h.sim.Counts().Calls-before > 1000 })
	t.Logf("1,000 calls %v after it was back", time.Since(back))
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 10_000 || c.Failed != 0 {
		t.Errorf("counts: %+v", c)
	}
	if got := one[int](h, `SELECT max(charged) FROM delivery`); got > 1 {
		t.Errorf("a delivery was charged %d times", got)
	}
	if got := one[int](h, `SELECT count(*) FROM delivery WHERE charged > 0`); got > 600 {
		t.Errorf("%d deliveries were charged, want those that were under way", got)
	}
	if got := h.sim.Counts(); got.Unique != 10_000 || got.Duplicates != 0 {
		t.Errorf("stand-in: %+v", got)
	}
	acts := one[[]string](h, `SELECT array_agg(act ORDER BY id) FROM audit WHERE object = 'vendor:http'`)
	if len(acts) != 2 || acts[0] != "vendor.pause" || acts[1] != "vendor.resume" {
		t.Errorf("the log: %v", acts)
	}
}

// probesRotate checks that no device was probed twice while others waited.
func (h *house) probesRotate(notice int64) {
	h.t.Helper()
	twice := one[int](h, `SELECT count(*) FROM (SELECT device_id FROM attempt
		WHERE notice_id = $1 AND NOT charged AND outcome = 'transient' AND started_at > (SELECT since + interval '400 ms' FROM vendor)
		GROUP BY device_id HAVING count(*) > 1) x`, notice)
	if twice > 0 {
		h.t.Errorf("%d devices were probed twice", twice)
	}
}

// Try now has the next probe at once.
func TestTryNow(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(3000, good)
	h.process(guarded)
	n := h.accept("try now")
	h.midRun(n.ID, 500)
	h.outage(true)
	h.eventually(5*time.Second, "probing", func() bool { return h.vendorRow().State == "probing" })
	exec(h, `UPDATE vendor SET next_probe_at = now() + interval '1 hour'`)
	h.outage(false)
	h.no(h.db.ResumeVendor(t.Context(), "http", by))
	h.eventually(2*time.Second, "called again", func() bool { return h.vendorRow().State == "ok" })
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 3000 {
		t.Errorf("counts: %+v", c)
	}
}

// Where few wait the schedule just runs, wherever in the audience those lie that
// always fail; and the breaker of a large one that meets a block of them does not
// keep it from its end.
func TestBreakerLeavesTheScheduleAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		fails func(i int) bool
	}{
		{"300 that always fail", 300, func(int) bool { return true }},
		{"the last 100 of 10,000", 10_000, func(i int) bool { return i >= 9900 }},
		{"100 in the middle", 10_000, func(i int) bool { return i >= 4000 && i < 4100 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, pushsim.Config{Switches: pushsim.Switches{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond}})
			h.devices(c.n, func(i int) string {
				if c.fails(i) {
					return fmt.Sprintf("down-%d", i)
				}
				return good(i)
			})
			h.process(func(c *Config) {
				guarded(c)
				c.Schedule = push.Schedule{500 * time.Millisecond, time.Second, 2 * time.Second}
			})
			n := h.accept(c.name)
			start := time.Now()
			_, got := h.finished(n.ID, time.Minute)
			took := time.Since(start)
			t.Logf("ended after %v", took)
			if want := int64(min(c.n, 300) - 200*min(1, c.n/10_000)); got.Failed != want || got.Sent != int64(c.n)-want {
				t.Errorf("counts: %+v", got)
			}
			if took < 3500*time.Millisecond || took > 12*time.Second {
				t.Errorf("ended after %v, want the schedule of 3.5 s and a little", took)
			}
			if v := h.vendorRow(); v.State != "ok" {
				t.Errorf("vendor: %+v", v)
			}
		})
	}
}

// A notice that is cancelled leaves nothing to probe with: the breaker closes.
func TestBreakerClosesWhereNothingWaits(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(3000, good)
	h.process(guarded)
	n := h.accept("cancelled")
	h.midRun(n.ID, 500)
	h.outage(true)
	h.eventually(5*time.Second, "probing", func() bool { return h.vendorRow().State == "probing" })
	_, _, err := h.db.CancelNotice(t.Context(), n.ID, by)
	h.no(err)
	h.eventually(15*time.Second, "closed", func() bool { return h.vendorRow().State == "ok" })
}

// One wrong setting neither burns a notice nor disables the audience: 410 to all
// keeps the devices after 200, pauses after 500, and an admin decides.
func TestMassRefusals(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(6000, func(i int) string { return fmt.Sprintf("expired-%d", i) })
	h.process(guarded)
	n := h.accept("wrong project")
	h.eventually(20*time.Second, "paused", h.vendorPaused)
	_, c := h.until(n.ID, 10*time.Second, "quiet", func(_ db.Notice, c db.Counts) bool { return c.Sending == 0 })
	disabled := one[int64](h, `SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`)
	t.Logf("%d failed, %d devices disabled", c.Failed, disabled)
	if most := int64(500 + 2*h.cfg.MaxInFlight); c.Failed > most || c.Failed <= 500 {
		t.Errorf("%d failed, want at most %d", c.Failed, most)
	}
	if most := int64(200 + 2*h.cfg.MaxInFlight); disabled > most {
		t.Errorf("%d devices were disabled, want at most %d", disabled, most)
	}
	if v := h.vendorRow(); *v.Reason != "refusals" || !v.KeepDevices || !strings.Contains(*v.Detail, "refused for good") {
		t.Errorf("vendor: %+v", v)
	}
	// Try now, with the setting still wrong: paused again, and no device more is disabled.
	h.no(h.db.ResumeVendor(t.Context(), "http", by))
	h.eventually(20*time.Second, "paused again", h.vendorPaused)
	h.until(n.ID, 10*time.Second, "quiet", func(_ db.Notice, c db.Counts) bool { return c.Sending == 0 })
	if again := one[int64](h, `SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`); again != disabled {
		t.Errorf("%d devices are disabled, it was %d", again, disabled)
	}
	// An admin agrees: all of this notice is through, and its devices are disabled.
	h.no(h.db.AgreeRefusals(t.Context(), "http", by))
	agreed := one[time.Time](h, `SELECT now()`)
	_, c = h.finished(n.ID, time.Minute)
	if c.Failed != 6000 {
		t.Errorf("counts: %+v", c)
	}
	if v := h.vendorRow(); v.State != "ok" || v.KeepDevices {
		t.Errorf("vendor: %+v", v)
	}
	const since = `SELECT count(*) FROM device v JOIN attempt a ON a.device_id = v.id WHERE a.started_at > $1`
	called, enabled := one[int64](h, since, agreed), one[int64](h, since+` AND v.disabled_at IS NULL`, agreed)
	if called == 0 || enabled != 0 {
		t.Errorf("called after the agreement: %d, of them %d still enabled", called, enabled)
	}
}

// What the vendor did last is known to all.
func TestVendorIsHeard(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(20, func(i int) string {
		if i == 3 {
			return "busy-3"
		}
		return good(i)
	})
	h.process(nil)
	start := time.Now()
	h.accept("heard")
	h.eventually(10*time.Second, "heard", func() bool {
		v := h.vendorRow()
		return v.OKAt != nil && v.OKAt.After(start.Add(-time.Second)) && v.WaitUntil != nil && v.WaitUntil.After(start)
	})
}
