package db

import (
	"slices"
	"testing"
	"time"
)

func TestLostHolderIsFreedDueNowAndNotCharged(t *testing.T) {
	s := newScene(t, 10)
	s.record(OutcomeTransient, s.claim(4)...)
	s.dueNow()
	if len(s.due(10)) != 4 || len(s.claim(10)) != 6 {
		t.Fatal("not all claimed")
	}
	if got := s.free(false); got != (Swept{}) {
		t.Fatalf("freed before the lease was over: %+v", got)
	}
	s.leasesEnd()
	if got := s.free(false); got != (Swept{Freed: 10}) {
		t.Fatalf("freed: %+v", got)
	}
	s.want("freed", Counts{Pending: 6, Retrying: 4})
	if n := ask[int](t, s.db, `SELECT count(*) FROM delivery WHERE wake_at <= now() AND reason = 'holder_lost' AND doubts = 1
		AND lost = 1 AND NOT definite AND charged = CASE WHEN device_id <= 4 THEN 1 ELSE 0 END`); n != 10 {
		t.Fatalf("%d are due now, in doubt and not charged; want 10", n)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM attempt WHERE outcome = 'lost' AND doubt AND NOT charged`); n != 10 {
		t.Fatalf("%d lost attempts", n)
	}
	if got := s.free(false); got != (Swept{}) {
		t.Fatalf("freed twice: %+v", got)
	}
	if c := s.due(100); len(c) != 10 || c[0].KeyNo != 1 {
		t.Fatalf("claimed anew: %+v", c)
	}
}

func TestG9PossiblyToldTwiceIsCountedOnce(t *testing.T) {
	s := newScene(t, 2)
	twice := func(when string, want int64) {
		t.Helper()
		if c := s.counts(); c.Twice != want {
			t.Fatalf("%s: %d possibly told twice, want %d", when, c.Twice, want)
		}
	}
	s.claim(2)
	s.leasesEnd()
	s.free(false)
	twice("a lost holder each: told once or never", 0)
	s.record(OutcomeSent, s.due(1)...)
	twice("one of them sent afterwards", 1)
	for range 2 {
		s.due(1)
		s.leasesEnd()
		if got := s.free(false); got.Freed != 1 {
			t.Fatalf("freed: %+v", got)
		}
		twice("the other's holder lost again", 2)
	}
	s.record(OutcomeSent, s.due(1)...)
	twice("both sent", 2)
	s.want("both sent", Counts{Sent: 2})
}

func TestFifthLostHolderFailsTheDelivery(t *testing.T) {
	s := newScene(t, 2)
	s.record(OutcomeSent, s.claim(1)...)
	s.claim(1)
	for i := 1; i <= 5; i++ {
		s.leasesEnd()
		got := s.free(false)
		if want := (Swept{Freed: 1}); i < 5 && got != want {
			t.Fatalf("holder %d: %+v", i, got)
		}
		if want := (Swept{Failed: 1}); i == 5 && got != want {
			t.Fatalf("holder %d: %+v", i, got)
		}
		s.counts()
		if n := len(s.due(10)); (n == 1) != (i < 5) {
			t.Fatalf("after holder %d: %d claimed", i, n)
		}
	}
	s.want("failed", Counts{Sent: 1, Failed: 1})
	if r := ask[string](t, s.db, `SELECT reason FROM delivery WHERE status = 'failed'`); r != "outcome_unknown" {
		t.Fatalf("reason %s", r)
	}
	s.finish()
}

func TestLostHolderUnderHoldWaitsForAPerson(t *testing.T) {
	s := newScene(t, 4)
	s.record(OutcomeTransient, s.claim(2)...)
	s.dueNow()
	s.due(2)
	s.claim(2)
	s.leasesEnd()
	if got := s.free(true); got != (Swept{Unknown: 4}) {
		t.Fatalf("freed: %+v", got)
	}
	s.want("held", Counts{Unknown: 4})
	if n := ask[int](t, s.db, `SELECT count(*) FROM delivery WHERE reason = 'holder_lost' AND wake_at IS NULL`); n != 4 {
		t.Fatalf("%d with the reason", n)
	}
	s.finish() // unknown ones do not hold it open
}

func TestFreeLeasesTakesAtMostItsLimit(t *testing.T) {
	s := newScene(t, 25)
	s.claim(25)
	s.leasesEnd()
	for _, want := range []int{10, 10, 5, 0} {
		if got := must(s.db.FreeLeases(t.Context(), s.term, time.Millisecond, false, 10))(t); got.Freed != want {
			t.Fatalf("freed %+v, want %d", got, want)
		}
		s.counts()
	}
}

func TestFreeLeasesWaitsALeaseAfterPostgresStarted(t *testing.T) {
	s := newScene(t, 1)
	s.claim(1)
	s.leasesEnd()
	age := time.Duration(ask[float64](t, s.db, `SELECT extract(epoch FROM now() - pg_postmaster_start_time())::float8`) * float64(time.Second))
	if got := must(s.db.FreeLeases(t.Context(), s.term, age+time.Hour, false, 10))(t); got != (Swept{}) {
		t.Fatalf("freed %+v, before live workers could record what they know", got)
	}
	if got := must(s.db.FreeLeases(t.Context(), s.term, age/2, false, 10))(t); got.Freed != 1 {
		t.Fatalf("freed %+v", got)
	}
}

func TestFreeLeasesLooksAtPausedAndCancelledNotices(t *testing.T) {
	s := newScene(t, 4)
	s.claim(4)
	_, _, err := s.db.PauseNotice(t.Context(), s.id, someone)
	ok(t, err)
	exec(t, s.db, `UPDATE delivery SET lease_until = now() WHERE device_id <= 2`)
	if got := s.free(false); got.Freed != 2 {
		t.Fatalf("paused: %+v", got)
	}
	_, _, err = s.db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	s.leasesEnd()
	if got := s.free(false); got.Freed != 2 {
		t.Fatalf("cancelled: %+v", got)
	}
	s.closeAll()
	s.want("closed", Counts{Skipped: 4})
	s.finish()
}

func TestLiveClaimsAndFreeLeasesTogetherKeepTheSums(t *testing.T) {
	s := newScene(t, 400)
	together(5, func(i int) {
		for range 40 {
			if i == 0 {
				if _, err := s.db.FreeLeases(t.Context(), s.term, time.Millisecond, false, 30); err != nil {
					t.Error(err)
				}
				continue
			}
			lease := time.Duration(i) * time.Millisecond // most end before their result
			b, err := s.db.ClaimRange(t.Context(), s.id, 0, 400, 5, lease, i)
			due, errDue := s.db.ClaimDue(t.Context(), s.id, 5, lease, i)
			if err != nil || errDue != nil {
				t.Error(err, errDue)
				return
			}
			var results []Result
			for _, c := range slices.Concat(b.Claims, due.Claims) {
				results = append(results, resultOf(c, OutcomeSent))
			}
			if _, err := s.db.Record(t.Context(), results, i); err != nil {
				t.Error(err)
			}
		}
	})
	c := s.counts()
	if n := ask[int64](t, s.db, `SELECT count(*) FROM attempt WHERE outcome = 'sent'`); n != c.Sent {
		t.Fatalf("%d sent attempts for %d sent deliveries", n, c.Sent)
	}
}
