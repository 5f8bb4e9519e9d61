package db

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestVendorIsPausedAndResumedOnce(t *testing.T) {
	s := newScene(t, 3)
	db, ctx := s.db, t.Context()
	wins := make([]bool, 8)
	errs := make([]error, 8)
	together(8, func(i int) {
		wins[i], errs[i] = db.PauseVendor(ctx, "http", "credentials_refused", "401 bad token", "")
	})
	ok(t, errors.Join(errs...))
	if n := len(slices.DeleteFunc(wins, func(w bool) bool { return !w })); n != 1 {
		t.Fatalf("%d say that they paused it", n)
	}
	v := must(db.Vendors(ctx))(t)[0]
	if v.State != "paused" || *v.Reason != "credentials_refused" || *v.Detail != "401 bad token" || v.Version != 2 {
		t.Fatalf("vendor: %+v", v)
	}
	if rings := must(db.Unrung(ctx, 100, 10))(t); len(rings) != 0 {
		t.Fatalf("unrung: %+v", rings)
	}
	ok(t, db.ResumeVendor(ctx, "http", someone))
	wantConflict(t, db.ResumeVendor(ctx, "http", someone), "wrong_state", 0)
	if err := db.ResumeVendor(ctx, "pigeon", someone); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a vendor that there is not: %v", err)
	}
	v = must(db.Vendors(ctx))(t)[0]
	if v.State != "ok" || v.Reason != nil || v.Detail != nil || v.Version != 3 {
		t.Fatalf("vendor: %+v", v)
	}
	if rings := must(db.Unrung(ctx, 100, 10))(t); len(rings) != 1 || rings[0].Ring != s.rings[0].Ring+1 {
		t.Fatalf("the open range is not rung anew: %+v", rings)
	}
	log := must(db.Audit(ctx, AuditFilter{Object: "vendor:http"}, "", 10))(t).Items
	if len(log) != 2 || log[0].Act != "vendor.resume" || log[0].ActorName != someone.Name ||
		log[1].Act != "vendor.pause" || log[1].Detail["reason"] != "credentials_refused" {
		t.Fatalf("audit: %+v", log)
	}
}

func TestVendorStaysPausedWithoutItsAuditRow(t *testing.T) {
	db := newDB(t)
	exec(t, db, `ALTER TABLE audit ADD CONSTRAINT no CHECK (act NOT LIKE 'vendor.%') NOT VALID`)
	if paused, err := db.PauseVendor(t.Context(), "http", "backlog", "", ""); err == nil {
		t.Fatalf("paused: %v, no error", paused)
	}
	if v := must(db.Vendors(t.Context()))(t)[0]; v.State != "ok" {
		t.Fatalf("paused without an audit row: %+v", v)
	}
	exec(t, db, `UPDATE vendor SET state = 'paused', reason = 'backlog'`)
	if err := db.ResumeVendor(t.Context(), "http", someone); err == nil {
		t.Fatal("no error")
	}
	if v := must(db.Vendors(t.Context()))(t)[0]; v.State != "paused" {
		t.Fatalf("resumed without an audit row: %+v", v)
	}
}

// Reservations of two processes, laid on one axis of time, never overlap: so no
// second holds more calls than the rate.
func TestRateOfTwoTakersTogetherIsNeverExceeded(t *testing.T) {
	dbs := twoPools(t)
	const rate, slice = 500.0, 20
	var mu sync.Mutex
	var starts []time.Duration
	began := time.Now()
	together(2, func(i int) {
		for range 12 {
			before := time.Since(began)
			wait, err := dbs[i].TakeRate(t.Context(), "http", slice, rate)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			starts = append(starts, before+wait) // not later than when its first call may begin
			mu.Unlock()
		}
	})
	slices.Sort(starts)
	last := time.Since(began) + 24*slice*time.Second/rate
	if len(starts) != 24 || starts[23] > last {
		t.Fatalf("%d reservations, the last begins after %v, want it within %v", len(starts), starts[len(starts)-1], last)
	}
	free := ask[time.Time](t, dbs[0], `SELECT free_at FROM vendor_rate WHERE name = 'http'`)
	if got, want := free.Sub(began), 24*slice*time.Second/rate; got < want-time.Millisecond {
		t.Fatalf("%d calls are reserved within %v, at %v a second they take %v", 24*slice, got, rate, want)
	}
}

func TestRateReservationsFollowOneAnother(t *testing.T) {
	db := newDB(t)
	exec(t, db, `INSERT INTO vendor_rate (name, free_at) VALUES ('http', clock_timestamp() - interval '1 hour')`)
	// An idle hour is lost: it gives the first taker no more than its own slice.
	if wait := must(db.TakeRate(t.Context(), "http", 100, 10))(t); wait > 50*time.Millisecond {
		t.Fatalf("the first waits %v", wait)
	}
	var before time.Duration
	for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} {
		wait := must(db.TakeRate(t.Context(), "http", 100, 10))(t)
		if wait > want || wait < want-5*time.Second || wait <= before {
			t.Fatalf("taker %d waits %v, want about %v", i, wait, want)
		}
		before = wait
	}
}
