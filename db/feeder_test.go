package db

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestOneFeederLeadsAtATime(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	a := must(db.Lead(ctx, "a", time.Minute))(t)
	if again := must(db.Lead(ctx, "a", time.Minute))(t); again != a {
		t.Fatalf("the holder's term went from %d to %d", a, again)
	}
	if _, err := db.Lead(ctx, "b", time.Minute); !errors.Is(err, ErrStale) {
		t.Fatalf("b leads beside a: %v", err)
	}
	ok(t, db.StepDown(ctx, "b"))
	if _, err := db.Lead(ctx, "b", time.Minute); !errors.Is(err, ErrStale) {
		t.Fatal("b made a step down")
	}
	exec(t, db, `UPDATE feeder SET lease_until = now()`)
	b := must(db.Lead(ctx, "b", time.Minute))(t)
	if b <= a {
		t.Fatalf("term %d after %d", b, a)
	}
	ok(t, db.StepDown(ctx, "b"))
	if c := must(db.Lead(ctx, "a", time.Minute))(t); c <= b {
		t.Fatalf("a came back with the term %d after %d", c, b)
	}
}

// state gives all that a feeder could write, as one text.
func state(t *testing.T, db *DB) string {
	t.Helper()
	return ask[string](t, db, `SELECT
		(SELECT coalesce(string_agg(n::text, E'\\n' ORDER BY id), '') FROM notice n) ||
		(SELECT coalesce(string_agg(r::text, E'\\n' ORDER BY notice_id, seq), '') FROM notice_range r) ||
		(SELECT coalesce(string_agg(d::text, E'\\n' ORDER BY notice_id, device_id), '') FROM delivery d) ||
		(SELECT coalesce(string_agg(c::text, E'\\n' ORDER BY notice_id, shard), '') FROM notice_counter c) ||
		(SELECT coalesce(string_agg(r::text, E'\\n' ORDER BY id), '') FROM replay r) ||
		(SELECT coalesce(string_agg(p::text, E'\\n' ORDER BY notice_id, at), '') FROM notice_pace p) ||
		(SELECT coalesce(string_agg(a::text, E'\\n' ORDER BY notice_id, device_id, fence), '') FROM attempt a) ||
		(SELECT f::text FROM feeder f) || (SELECT count(*) FROM test_send_device WHERE status = 'sending')::text`)
}

func TestFrozenFeederWritesNothing(t *testing.T) {
	s := newScene(t, 40)
	ctx, db := t.Context(), s.db
	// Something to do for each method: a failed delivery and a replay of it, ends
	// of leases, a quiet range, an expired and a fresh notice, one that is settled.
	s.record(OutcomePermanent, s.claim(1)...)
	replay := must(db.StartReplayFilter(ctx, ArchiveFilter{Notice: &s.id}, someone))(t)
	s.claim(5)
	s.leasesEnd()
	fresh := accept(t, db, Draft{Title: "fresh", Body: "b"})
	cut := startScene(t, db, "cut")
	quiet := startScene(t, db, "quiet")
	must(db.TakeRange(ctx, quiet.rings[0], 0))(t)
	quiet.record(OutcomeSent, quiet.claim(100)...)
	over := startScene(t, db, "over")
	over.expire()
	done := startScene(t, db, "done")
	must(db.TakeRange(ctx, done.rings[0], 0))(t)
	done.record(OutcomeSent, done.claim(100)...)
	must(db.EndRange(ctx, done.rings[0]))(t)

	ok(t, db.LeaveRange(ctx, cut.rings[0]))
	unrung := must(db.Unrung(ctx, 100, 10))(t)

	old := s.term
	exec(t, db, `UPDATE feeder SET lease_until = now()`)
	now := must(db.Lead(ctx, "the next", time.Minute))(t)
	writes := []struct {
		name string
		do   func(ctx context.Context, t Term) error
	}{
		{"SawQueue", func(ctx context.Context, t Term) error { return db.SawQueue(ctx, t, "down") }},
		{"StartNotice", func(ctx context.Context, t Term) error { return db.StartNotice(ctx, t, fresh.ID) }},
		{"EstimateAudience", db.EstimateAudience},
		{"KeepPace", db.KeepPace},
		{"CutRanges", func(ctx context.Context, t Term) error { return db.CutRanges(ctx, t, fresh.ID, 10, 2) }},
		{"MarkRung", func(ctx context.Context, t Term) error { return db.MarkRung(ctx, t, unrung) }},
		{"RingStale", func(ctx context.Context, t Term) error { _, err := db.RingStale(ctx, t, 0, true); return err }},
		{"RingRetries", func(ctx context.Context, t Term) error { _, err := db.RingRetries(ctx, t, s.id, 2); return err }},
		{"FreeLeases", func(ctx context.Context, t Term) error {
			_, err := db.FreeLeases(ctx, t, time.Millisecond, false, 100)
			return err
		}},
		{"EndQuietRanges", func(ctx context.Context, t Term) error { return db.EndQuietRanges(ctx, t, -time.Minute) }},
		{"CloseRest", func(ctx context.Context, t Term) error { _, err := db.CloseRest(ctx, t, over.id); return err }},
		{"StepReplay", func(ctx context.Context, t Term) error { _, err := db.StepReplay(ctx, t, replay.ID, 10); return err }},
		{"FinishNotice", func(ctx context.Context, t Term) error { _, err := db.FinishNotice(ctx, t, done.id, 1); return err }},
	}
	for _, w := range writes {
		before := state(t, db)
		if err := w.do(ctx, old); err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of a frozen feeder: %v", w.name, err)
		}
		if after := state(t, db); after != before {
			t.Errorf("%s of a frozen feeder wrote something", w.name)
		}
		if err := w.do(ctx, now); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		if state(t, db) == before {
			t.Errorf("%s of the one that leads wrote nothing, so the test says nothing", w.name)
		}
		for _, n := range []int64{s.id, fresh.ID, cut.id, quiet.id, over.id, done.id} {
			sums(t, db, n)
		}
	}
}
