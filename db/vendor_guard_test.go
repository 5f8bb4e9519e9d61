package db

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func (s *scene) vendor(t *testing.T) VendorState { return must(s.db.Vendors(t.Context()))(t)[0] }

func TestBreakerOpensOnlyWhileManyWait(t *testing.T) {
	s := newScene(t, 30)
	db, ctx := s.db, t.Context()
	waiting := ask[int](t, db, `SELECT sum(pending + retrying) FROM notice_counter`)
	if waiting != 30 {
		t.Fatalf("%d wait", waiting)
	}
	if open := must(db.TripVendor(ctx, "http", 30, time.Second, "503"))(t); open || s.vendor(t).State != "ok" {
		t.Fatalf("30 wait, which is not more than 30: %+v", s.vendor(t))
	}
	wins := make([]bool, 6)
	errs := make([]error, 6)
	together(6, func(i int) { wins[i], errs[i] = db.TripVendor(ctx, "http", 29, time.Minute, "503 down") })
	ok(t, errors.Join(errs...))
	if slices.Contains(wins, false) {
		t.Fatalf("it is open, and not all say so: %v", wins)
	}
	v := s.vendor(t)
	if v.State != "probing" || *v.Reason != "backlog" || *v.Detail != "503 down" || v.NextProbeAt == nil {
		t.Fatalf("vendor: %+v", v)
	}
	if got := must(db.CloseVendor(ctx, "http"))(t); !got || s.vendor(t).State != "ok" || s.vendor(t).NextProbeAt != nil {
		t.Fatalf("not closed: %+v", s.vendor(t))
	}
	if got := must(db.CloseVendor(ctx, "http"))(t); got {
		t.Fatal("closed twice")
	}
	log := must(db.Audit(ctx, AuditFilter{Object: "vendor:http"}, "", 10))(t).Items
	if len(log) != 2 || log[0].Act != "vendor.resume" || log[1].Act != "vendor.pause" || log[1].Detail["waiting"] != float64(30) {
		t.Fatalf("audit: %+v", log)
	}
}

// What is not fanned out yet waits too, as far as the estimate goes.
func TestBreakerCountsWhatIsStillToCome(t *testing.T) {
	s := newScene(t, 30)
	exec(t, s.db, `UPDATE notice SET cut_at = NULL, estimate = 5000`)
	if open := must(s.db.TripVendor(t.Context(), "http", 4999, time.Second, ""))(t); !open {
		t.Fatal("4,970 are still to come, and it did not open")
	}
	ok(t, s.db.ResumeVendor(t.Context(), "http", someone)) // a probe at once, not a reset
	if v := s.vendor(t); v.State != "probing" || v.NextProbeAt.After(time.Now().Add(time.Second)) {
		t.Fatalf("Try now: %+v", v)
	}
	exec(t, s.db, `UPDATE vendor SET state = 'ok', next_probe_at = NULL; UPDATE notice SET state = 'paused'`)
	if open := must(s.db.TripVendor(t.Context(), "http", 0, time.Second, ""))(t); open {
		t.Fatal("it opened for a notice that is paused")
	}
}

// One probe in each turn over all processes, each to another device, and round.
func TestProbesTakeTurns(t *testing.T) {
	s := newScene(t, 5)
	dbs := []*DB{s.db, s.db, s.db}
	must(s.db.TripVendor(t.Context(), "http", 1, 0, "503"))(t)
	var probed []int64
	for range 7 {
		exec(t, s.db, `UPDATE vendor SET next_probe_at = now()`)
		probes := make([]Probe, len(dbs))
		errs := make([]error, len(dbs))
		together(len(dbs), func(i int) {
			probes[i], errs[i] = dbs[i].ClaimProbe(t.Context(), "http", time.Minute, time.Minute, i)
		})
		ok(t, errors.Join(errs...))
		var claims []Claim
		for _, p := range probes {
			claims = append(claims, p.Claims...)
		}
		if len(claims) != 1 {
			t.Fatalf("%d probes in one turn", len(claims))
		}
		c := claims[0]
		probed = append(probed, c.DeviceID)
		if c.Token == "" || c.Attempts != 1 && len(probed) <= 5 {
			t.Fatalf("claim: %+v", c)
		}
		stale, _, err := s.db.Exchange(t.Context(), []Result{{Claim: c, StartedAt: time.Now(), Outcome: OutcomeTransient,
			Move: Move{Status: "pending"}, HTTP: 503, Reason: "vendor_error"}}, nil, time.Minute, 0)
		if ok(t, err); len(stale) > 0 {
			t.Fatalf("stale: %v", stale)
		}
	}
	first := probed[:5]
	slices.Sort(first)
	if len(slices.Compact(first)) != 5 {
		t.Fatalf("probed %v, want each of the five before any again", probed)
	}
	// Nobody else may call while the breaker is open.
	_, batches, err := s.db.Exchange(t.Context(), nil, []Want{{Scope: "http", Notice: s.id, Due: true, Limit: 10}}, time.Minute, 0)
	if ok(t, err); batches[0].Seen != 0 {
		t.Fatalf("claimed beside the probes: %+v", batches)
	}
	if got := ask[int](t, s.db, `SELECT sum(charged) FROM delivery`); got != 0 {
		t.Fatalf("%d charged", got)
	}
}

// A device that must not be told any more is settled and the next one is probed.
func TestProbeSettlesWhoIsNotToBeTold(t *testing.T) {
	s := newScene(t, 3)
	exec(t, s.db, `UPDATE device SET consent = false WHERE id <> (SELECT max(id) FROM device)`)
	must(s.db.TripVendor(t.Context(), "http", 1, 0, "503"))(t)
	p := must(s.db.ClaimProbe(t.Context(), "http", time.Minute, time.Minute, 0))(t)
	if len(p.Claims) != 1 || p.Claims[0].DeviceID != ask[int64](t, s.db, `SELECT max(id) FROM device`) {
		t.Fatalf("probe: %+v", p)
	}
	if got := ask[int](t, s.db, `SELECT count(*) FROM delivery WHERE reason = 'no_consent'`); got != 2 {
		t.Fatalf("%d skipped", got)
	}
}

func TestBreakerClosesWhereNothingWaits(t *testing.T) {
	s := newScene(t, 3)
	must(s.db.TripVendor(t.Context(), "http", 1, 0, "503"))(t)
	exec(t, s.db, `UPDATE notice SET state = 'paused'`)
	p := must(s.db.ClaimProbe(t.Context(), "http", time.Minute, time.Minute, 0))(t)
	if !p.Closed || len(p.Claims) != 0 || s.vendor(t).State != "ok" {
		t.Fatalf("probe: %+v, vendor: %+v", p, s.vendor(t))
	}
}

// A refusal of our credentials while the breaker is open pauses all the same.
func TestPauseWhileProbing(t *testing.T) {
	s := newScene(t, 3)
	must(s.db.TripVendor(t.Context(), "http", 1, 0, "503"))(t)
	if !must(s.db.PauseVendor(t.Context(), "http", "credentials_refused", "401", ""))(t) {
		t.Fatal("not paused")
	}
	if v := s.vendor(t); v.State != "paused" || v.NextProbeAt != nil || *v.Reason != "credentials_refused" {
		t.Fatalf("vendor: %+v", v)
	}
	if must(s.db.CloseVendor(t.Context(), "http"))(t) {
		t.Fatal("a probe's answer ended a pause")
	}
	if p := must(s.db.ClaimProbe(t.Context(), "http", time.Minute, time.Minute, 0))(t); len(p.Claims) != 0 {
		t.Fatalf("probed while paused: %+v", p)
	}
}

func TestKeepDevicesUntilAnAdminAgrees(t *testing.T) {
	s := newScene(t, 4)
	db, ctx := s.db, t.Context()
	wantConflict(t, db.AgreeRefusals(ctx, "http", someone), "wrong_state", 0)
	if !must(db.KeepDevices(ctx, "http", "201 of 1000"))(t) || must(db.KeepDevices(ctx, "http", "again"))(t) {
		t.Fatal("kept twice, or not at all")
	}
	gone := func() {
		_, batches, err := db.Exchange(ctx, nil, []Want{{Scope: "http", Notice: s.id, Last: 1 << 60, Limit: 1}}, time.Minute, 0)
		ok(t, err)
		_, _, err = db.Exchange(ctx, []Result{{Claim: batches[0].Claims[0], StartedAt: time.Now(), Outcome: OutcomeDead,
			Move: Move{Status: "failed"}, HTTP: 410, Reason: "token_expired", Disable: true}}, nil, time.Minute, 0)
		ok(t, err)
	}
	disabled := func() int { return ask[int](t, db, `SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`) }
	if gone(); disabled() != 0 {
		t.Fatal("a device was disabled")
	}
	must(db.PauseVendor(ctx, "http", "refusals", "501 of 1000", ""))(t)
	ok(t, db.AgreeRefusals(ctx, "http", someone))
	v := s.vendor(t)
	if v.State != "ok" || v.KeepDevices || v.KeptSince != nil || v.Agreed != s.id {
		t.Fatalf("vendor: %+v", v)
	}
	if gone(); disabled() != 1 {
		t.Fatalf("%d disabled after the agreement, want 1", disabled())
	}
	log := must(db.Audit(ctx, AuditFilter{Object: "vendor:http"}, "", 10))(t).Items
	if len(log) != 3 || log[0].Act != "vendor.agree" || log[0].ActorName != someone.Name || log[2].Act != "vendor.keep_devices" {
		t.Fatalf("audit: %+v", log)
	}
}

// An agreement about devices does not end a pause for another reason.
func TestAgreementLeavesOtherPausesAlone(t *testing.T) {
	s := newScene(t, 3)
	must(s.db.KeepDevices(t.Context(), "http", ""))(t)
	must(s.db.PauseVendor(t.Context(), "http", "credentials_refused", "401", ""))(t)
	ok(t, s.db.AgreeRefusals(t.Context(), "http", someone))
	if v := s.vendor(t); v.State != "paused" || v.KeepDevices {
		t.Fatalf("vendor: %+v", v)
	}
}

func TestHeardVendorKeepsTheLatest(t *testing.T) {
	db := newDB(t)
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	ok(t, db.HeardVendor(t.Context(), "http", at, time.Time{}))
	ok(t, db.HeardVendor(t.Context(), "http", at.Add(-time.Hour), at.Add(time.Minute)))
	v := must(db.Vendors(t.Context()))(t)[0]
	if !v.OKAt.Equal(at) || !v.WaitUntil.Equal(at.Add(time.Minute)) {
		t.Fatalf("vendor: %+v", v)
	}
}
