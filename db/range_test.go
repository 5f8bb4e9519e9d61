package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestG3FanOutTwiceAddsNothing(t *testing.T) {
	db := newDB(t)
	seed(t, db, 1200)
	s := startScene(t, db, "t")
	for range 2 {
		for _, r := range s.rings {
			must(db.TakeRange(t.Context(), r, 0))(t)
			s.counts()
		}
	}
	s.want("taken twice", Counts{Pending: 1200})
}

func TestG3OverlappingRangesAtOnceMakeOneRowEach(t *testing.T) {
	db := newDB(t)
	seed(t, db, 900)
	s := startScene(t, db, "t")
	exec(t, db, `DELETE FROM notice_range`)
	exec(t, db, `INSERT INTO notice_range (notice_id, seq, first_id, last_id) VALUES
		($1, 1, 1, 600), ($1, 2, 300, 900), ($1, 3, 1, 900), ($1, 4, 599, 601)`, s.id)
	errs := make([]error, 8)
	together(8, func(i int) {
		_, errs[i] = db.TakeRange(t.Context(), Ring{s.id, i%4 + 1, 1}, i)
	})
	ok(t, errors.Join(errs...))
	s.want("overlapping", Counts{Pending: 900})
}

func TestOldRingOfARangeIsStale(t *testing.T) {
	s := newScene(t, 20)
	old := s.rings[0]
	ok(t, s.db.LeaveRange(t.Context(), old))
	if _, err := s.db.TakeRange(t.Context(), old, 0); !errors.Is(err, ErrStale) {
		t.Fatalf("the old ring: %v", err)
	}
	fresh := must(s.db.Unrung(t.Context(), 100, 10))(t)
	if len(fresh) != 1 || fresh[0].Ring != old.Ring+1 {
		t.Fatalf("unrung: %+v", fresh)
	}
	if n := must(s.db.RingStale(t.Context(), s.term, 0, true))(t); n != 0 {
		t.Fatalf("%d ranges rung again that were not rung", n)
	}
	ok(t, s.db.MarkRung(t.Context(), s.term, fresh))
	must(s.db.TakeRange(t.Context(), fresh[0], 0))(t)
	if n := must(s.db.RingStale(t.Context(), s.term, time.Minute, false))(t); n != 0 {
		t.Fatalf("%d ranges rung again that a worker is at", n)
	}
	if n := must(s.db.RingStale(t.Context(), s.term, time.Minute, true))(t); n != 1 {
		t.Fatalf("%d ranges rung again after the queue was lost, want 1", n)
	}
	s.want("after all that", Counts{Pending: 20})
}

func TestRangeEndsOnlyWhenNoFirstAttemptIsLeft(t *testing.T) {
	s := newScene(t, 3)
	ended := func() bool { t.Helper(); return must(s.db.EndRange(t.Context(), s.rings[0]))(t) }
	if ended() {
		t.Fatal("ended while three wait")
	}
	claims := s.claim(10)
	if ended() {
		t.Fatal("ended while three are under way")
	}
	s.record(OutcomeTransient, claims[0])
	s.record(OutcomeSent, claims[1])
	if ok(t, s.db.EndQuietRanges(t.Context(), s.term, -time.Minute)); ended() {
		t.Fatal("ended while one is under way")
	}
	s.record(OutcomeDead, claims[2])
	if !ended() || ended() {
		t.Fatal("a range ends once, when only retries are left")
	}
	if _, err := s.db.TakeRange(t.Context(), s.rings[0], 0); !errors.Is(err, ErrStale) {
		t.Fatalf("an ended range: %v", err)
	}
	s.want("ended", Counts{Retrying: 1, Sent: 1, Failed: 1})
}

func TestQuietRangeIsEndedForItsDeadWorker(t *testing.T) {
	s := newScene(t, 3)
	s.record(OutcomeSent, s.claim(10)...)
	ok(t, s.db.EndQuietRanges(t.Context(), s.term, time.Minute))
	if ask[bool](t, s.db, `SELECT bool_or(done_at IS NOT NULL) FROM notice_range`) {
		t.Fatal("ended while a worker was at it a moment ago")
	}
	ok(t, s.db.EndQuietRanges(t.Context(), s.term, -time.Minute))
	if !ask[bool](t, s.db, `SELECT bool_and(done_at IS NOT NULL) FROM notice_range`) {
		t.Fatal("not ended")
	}
	s.finish()
}

// claimed gathers what several claimers got.
type claimed struct {
	sync.Mutex
	ids []int64
}

func (c *claimed) add(claims []Claim) {
	c.Lock()
	defer c.Unlock()
	for _, claim := range claims {
		c.ids = append(c.ids, claim.DeviceID)
	}
}

// wantEachOnce fails unless n deliveries were claimed, each by one.
func (c *claimed) wantEachOnce(t *testing.T, n int) {
	t.Helper()
	slices.Sort(c.ids)
	if got := len(slices.Compact(slices.Clone(c.ids))); got != len(c.ids) || got != n {
		t.Fatalf("%d claims of %d deliveries, want %d of %d", len(c.ids), got, n, n)
	}
}

// race has eight claimers take all that waits, until nothing is left.
func race(s *scene, want Want) *claimed {
	var got claimed
	together(8, func(i int) {
		for {
			b, err := s.db.claimOne(s.Context(), want, testLease, i)
			if err != nil {
				s.Error(err)
				return
			}
			got.add(b.Claims)
			var left bool
			err = s.db.pool.QueryRow(s.Context(), `SELECT EXISTS (SELECT FROM delivery WHERE status = 'pending')`).Scan(&left)
			if err != nil || !left {
				return
			}
		}
	})
	return &got
}

func TestG4TwoClaimersNeverShareADelivery(t *testing.T) {
	s := newScene(t, 2000)
	race(s, Want{Scope: "http", Notice: s.id, Last: 2000, Limit: 37}).wantEachOnce(t, 2000)
	s.want("all claimed", Counts{Sending: 2000})
	if c := s.counts(); c.Attempts != 2000 {
		t.Fatalf("%d attempts counted before the calls, want 2000", c.Attempts)
	}
}

func TestG4TwoClaimersOfRetriesNeverShareADelivery(t *testing.T) {
	s := newScene(t, 600)
	s.record(OutcomeTransient, s.claim(600)...)
	s.dueNow()
	race(s, Want{Scope: "http", Notice: s.id, Due: true, Limit: 23}).wantEachOnce(t, 600)
	s.want("all claimed", Counts{Sending: 600})
}

// A claimer that is slow between picking and taking meets a delivery that another
// one claimed and recorded meanwhile: it waits for its retry now.
func TestSlowClaimerTakesNoRetryBeforeItsTime(t *testing.T) {
	s := newScene(t, 10)
	tx, err := s.db.pool.Begin(t.Context())
	ok(t, err)
	defer tx.Rollback(context.Background())
	_, err = tx.Exec(t.Context(), `SELECT FROM delivery WHERE device_id = 1 FOR UPDATE`)
	ok(t, err)
	slow := make(chan Batch, 1)
	go func() {
		b, err := s.db.ClaimRange(t.Context(), s.id, 0, 10, 10, testLease, 4)
		if err != nil {
			t.Error(err)
		}
		slow <- b
	}()
	until(t, func() bool { return len(slow) > 0 || waitsForLock(t, s.db) })
	quick := must(s.db.ClaimRange(t.Context(), s.id, 4, 5, 1, testLease, 5))(t).Claims
	s.record(OutcomeTransient, quick...)
	ok(t, tx.Rollback(t.Context()))
	for _, c := range (<-slow).Claims {
		if len(quick) == 1 && c.DeviceID == quick[0].DeviceID {
			t.Fatalf("claimed before its retry is due: %+v", c)
		}
	}
	s.counts()
}

func waitsForLock(t *testing.T, db *DB) bool {
	t.Helper()
	return ask[bool](t, db, `SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock')`)
}

func TestReleasedClaimIsDueAgainAndNotCounted(t *testing.T) {
	s := newScene(t, 3)
	claims := s.claim(3)
	stale := claims[2]
	stale.Fence--
	ok(t, s.db.Release(t.Context(), []Claim{claims[0], claims[1], stale}, 5))
	s.want("released", Counts{Pending: 2, Sending: 1})
	if c := s.counts(); c.Attempts != 1 {
		t.Fatalf("%d attempts, want 1", c.Attempts)
	}
	ok(t, s.db.Release(t.Context(), claims[:2], 5))
	s.want("released twice", Counts{Pending: 2, Sending: 1})
	again := s.due(10)
	if len(again) != 2 || again[0].Fence != 2 || again[0].Attempts != 1 || again[0].VendorKey() != claims[0].VendorKey() {
		t.Fatalf("claimed again: %+v", again)
	}
	if stale := s.record(OutcomeSent, claims[0]); len(stale) != 1 {
		t.Fatal("a result for a released claim was written")
	}
}
