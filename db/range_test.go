package db

import (
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
	fresh := must(s.db.Unrung(t.Context(), 10))(t)
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

func TestG4TwoClaimersNeverShareADelivery(t *testing.T) {
	s := newScene(t, 2000)
	var mu sync.Mutex
	seen := map[int64]int{}
	together(8, func(i int) {
		for {
			b, err := s.db.ClaimRange(t.Context(), s.id, 0, 2000, 37, testLease, i)
			if err != nil {
				t.Error(err)
				return
			}
			if b.Seen == 0 {
				return
			}
			mu.Lock()
			for _, c := range b.Claims {
				seen[c.DeviceID]++
				if c.Fence != 1 || c.Attempts != 1 || c.Token == "" {
					t.Errorf("claim %+v", c)
				}
			}
			mu.Unlock()
		}
	})
	for len(s.claim(100)) > 0 { // what each saw locked by another
		t.Fatal("some were left although no claimer gave up early")
	}
	if len(seen) != 2000 {
		t.Fatalf("%d claimed", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Fatalf("device %d claimed %d times", id, n)
		}
	}
	s.want("all claimed", Counts{Sending: 2000})
	if c := s.counts(); c.Attempts != 2000 {
		t.Fatalf("%d attempts counted before the calls, want 2000", c.Attempts)
	}
}

func TestG4TwoClaimersOfRetriesNeverShareADelivery(t *testing.T) {
	s := newScene(t, 600)
	s.record(OutcomeTransient, s.claim(600)...)
	s.dueNow()
	var mu sync.Mutex
	var ids []int64
	together(6, func(i int) {
		for {
			b, err := s.db.ClaimDue(t.Context(), s.id, 23, testLease, i)
			if err != nil {
				t.Error(err)
				return
			}
			if b.Seen == 0 {
				return
			}
			mu.Lock()
			for _, c := range b.Claims {
				ids = append(ids, c.DeviceID)
			}
			mu.Unlock()
		}
	})
	slices.Sort(ids)
	if n := len(slices.Compact(slices.Clone(ids))); n != len(ids) || n != 600 {
		t.Fatalf("%d claims of %d deliveries, want 600 of 600", len(ids), n)
	}
	s.want("all claimed", Counts{Sending: 600})
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
