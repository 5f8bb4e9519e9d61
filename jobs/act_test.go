package jobs

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

func TestPauseStopsCallsAndResumeTellsNobodyTwice(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(6000, good)
	h.process(nil)
	n := h.accept("paused")
	h.midRun(n.ID, 1000)
	paused := time.Now()
	_, _, err := h.db.PauseNotice(t.Context(), n.ID, by)
	h.no(err)
	h.until(n.ID, 10*time.Second, "quiet", func(_ db.Notice, c db.Counts) bool { return c.Sending == 0 })
	quiet := h.sim.Counts()
	if late := quiet.LastCallAt.Sub(paused); late > time.Second {
		t.Errorf("a call was begun %v after the pause", late)
	}
	h.still(2*time.Second, "paused", func() bool { return h.sim.Counts().Calls == quiet.Calls })
	_, _, err = h.db.ResumeNotice(t.Context(), n.ID, by)
	h.no(err)
	h.finished(n.ID, time.Minute)
	h.allOnce(n.ID, 6000)
}

// still checks that ok holds for a while.
func (h *house) still(d time.Duration, what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !ok() {
			h.t.Fatalf("not %s any more", what)
		}
	}
}

// Cancelling settles the whole audience, also those that were not fanned out,
// and the parts add up whenever one looks.
func TestG7CancelLeavesTheRestSkipped(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(20_000, good)
	h.process(nil)
	n := h.accept("cancelled")
	ctx, stop := context.WithCancel(t.Context())
	var polls sync.WaitGroup
	polls.Go(func() {
		for ctx.Err() == nil {
			h.counts(n.ID)
		}
	})
	h.midRun(n.ID, 1000)
	_, _, err := h.db.CancelNotice(t.Context(), n.ID, by)
	h.no(err)
	h.eventually(30*time.Second, "settled", func() bool {
		return one[bool](h, `SELECT settled_at IS NOT NULL FROM notice WHERE id = $1`, n.ID)
	})
	stop()
	polls.Wait()
	got, c := h.counts(n.ID)
	if got.State != db.Cancelled || c.Total != 20_000 || c.Sent+c.Skipped != 20_000 || c.Skipped == 0 {
		t.Errorf("%s %+v", got.State, c)
	}
	if odd := one[int](h, `SELECT count(*) FROM delivery WHERE status = 'skipped' AND reason <> 'cancelled'`); odd != 0 {
		t.Errorf("%d skipped for another reason", odd)
	}
	if sim := h.sim.Counts(); sim.Calls != c.Sent || sim.Duplicates != 0 {
		t.Errorf("stand-in: %+v, sent %d", sim, c.Sent)
	}
}

func TestExpiryEndsWhatStillWaits(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(6000, good)
	h.process(func(c *Config) { c.Rate = 500 })
	soon := time.Now().Add(4 * time.Second)
	a, err := h.db.AcceptNotice(t.Context(), db.Draft{Title: "expires", Body: "b", ExpiresAt: &soon}, by, nil, time.Hour)
	h.no(err)
	_, c := h.finished(a.Notice.ID, time.Minute)
	if c.Total != 6000 || c.Sent == 0 || c.Failed == 0 || c.Sent+c.Failed != 6000 {
		t.Errorf("counts: %+v", c)
	}
	if odd := one[int](h, `SELECT count(*) FROM delivery WHERE status = 'failed' AND reason <> 'expired'`); odd != 0 {
		t.Errorf("%d failed for another reason", odd)
	}
	if last := h.sim.Counts().LastCallAt; last.After(soon.Add(time.Second)) {
		t.Errorf("the last call came %v after the expiry", last.Sub(soon))
	}
}

// With the policy hold, a call that was written and got no answer is left to an
// operator; the notice does not wait for it.
func TestHoldLeavesDoubtToAPerson(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(300, func(i int) string {
		if i < 10 {
			return fmt.Sprintf("drop-%d", i)
		}
		return good(i)
	})
	h.process(func(c *Config) { c.Hold = true })
	n := h.accept("hold")
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 290 || c.Unknown != 10 || c.Twice != 0 {
		t.Fatalf("counts: %+v", c)
	}
	marked, err := h.db.ResolveUnknown(t.Context(), n.ID, db.MarkSent, firstUnknown(h, n.ID, 4), by)
	h.no(err)
	resent, err := h.db.ResolveUnknown(t.Context(), n.ID, db.Resend, nil, by)
	h.no(err)
	if marked != 4 || resent != 6 {
		t.Fatalf("marked %d, resent %d", marked, resent)
	}
	_, c = h.finished(n.ID, time.Minute)
	if c.Sent != 300 || c.Unknown != 0 || c.Twice != 6 {
		t.Errorf("counts: %+v", c)
	}
}

func firstUnknown(h *house, notice int64, n int) []int64 {
	h.t.Helper()
	p, err := h.db.Deliveries(h.t.Context(), notice, "unknown", "", n)
	h.no(err)
	var ids []int64
	for _, d := range p.Items {
		ids = append(ids, d.DeviceID)
	}
	return ids
}

// A small notice does not wait behind a big one.
func TestFairness(t *testing.T) {
	h := newHouse(t, slow)
	h.devices(40_000, good)
	exec(h, `UPDATE device SET tags = '{few}' WHERE id <= 100`)
	h.process(nil)
	big := h.accept("big")
	h.midRun(big.ID, 1000)
	start := time.Now()
	a, err := h.db.AcceptNotice(t.Context(), db.Draft{Title: "small", Body: "b", Audience: db.Audience{Tags: []string{"few"}}}, by, nil, time.Hour)
	h.no(err)
	h.finished(a.Notice.ID, 20*time.Second)
	took := time.Since(start)
	if _, c := h.counts(big.ID); c.Sent > 35_000 {
		t.Fatalf("the big one was nearly through: %+v", c)
	}
	t.Logf("the small notice took %v", took)
	if took > 3*time.Second {
		t.Errorf("the small notice took %v, want at most 3 s", took)
	}
	_, _, err = h.db.CancelNotice(t.Context(), big.ID, by)
	h.no(err)
}

func exec(h *house, sql string, args ...any) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), sql, args...)
	h.no(err)
}

// All failures are in the archive, however many there are.
func TestG6ArchiveShowsAllFailures(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(12_000, func(i int) string { return fmt.Sprintf("bad-%d", i) })
	h.process(nil)
	n := h.accept("bad")
	_, c := h.finished(n.ID, 2*time.Minute)
	if c.Failed != 12_000 {
		t.Fatalf("counts: %+v", c)
	}
	seen := make(map[int64]bool)
	for cursor := ""; ; {
		p, err := h.db.Archive(t.Context(), db.ArchiveFilter{Notice: &n.ID}, cursor, 1000)
		h.no(err)
		for _, d := range p.Items {
			seen[d.DeviceID] = true
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 12_000 {
		t.Errorf("the archive lists %d", len(seen))
	}
}

// Where in the audience tokens that always fail lie does not change when the
// notice ends: on the schedule after their first attempt.
func TestScheduleOfTokensThatAlwaysFail(t *testing.T) {
	block := func(i int) bool { return i >= 2900 }
	scattered := func(i int) bool { return i%30 == 0 }
	for name, down := range map[string]func(int) bool{"block": block, "scattered": scattered} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, pushsim.Config{})
			h.devices(3000, func(i int) string {
				if down(i) {
					return fmt.Sprintf("down-%d", i)
				}
				return good(i)
			})
			h.process(func(c *Config) {
				c.Schedule = push.Schedule{500 * time.Millisecond, time.Second, 2 * time.Second}
			})
			n := h.accept(name)
			start := time.Now()
			_, c := h.finished(n.ID, time.Minute)
			took := time.Since(start)
			t.Logf("ended after %v", took)
			if c.Failed != 100 || c.Sent != 2900 {
				t.Errorf("counts: %+v", c)
			}
			if took < 3500*time.Millisecond || took > 12*time.Second {
				t.Errorf("ended after %v, want the schedule of 3.5 s and a little", took)
			}
		})
	}
}
