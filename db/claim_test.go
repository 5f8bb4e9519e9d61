package db

import (
	"testing"
	"time"
)

// Each verdict that a claim gives instead of the right to call.
var verdicts = []struct {
	reason, status, sql string
}{
	{"no_consent", "skipped", `UPDATE device SET consent = false WHERE id % 2 = 0`},
	{"device_disabled", "skipped", `UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE id % 2 = 0`},
	{"device_erased", "skipped", `UPDATE device SET erased_at = now(), token = NULL, token_hash = NULL WHERE id % 2 = 0`},
	{"expired", "failed", `UPDATE notice SET expires_at = now()`},
}

func TestClaimSettlesWhatMustNotBeCalled(t *testing.T) {
	for _, v := range verdicts {
		t.Run(v.reason, func(t *testing.T) {
			s := newScene(t, 40)
			exec(t, s.db, v.sql)
			b := must(s.db.ClaimRange(t.Context(), s.id, 0, 40, 100, testLease, 1))(t)
			checkVerdict(s, b, v.reason, v.status, Counts{Sending: 20, Skipped: 20})
		})
		t.Run(v.reason+", of a retry", func(t *testing.T) {
			s := newScene(t, 40)
			s.record(OutcomeTransient, s.claim(100)...)
			s.dueNow()
			exec(t, s.db, v.sql)
			b := must(s.db.ClaimDue(t.Context(), s.id, 100, testLease, 1))(t)
			checkVerdict(s, b, v.reason, v.status, Counts{Sending: 20, Skipped: 20})
		})
	}
}

func checkVerdict(s *scene, b Batch, reason, status string, c Counts) {
	s.Helper()
	if status == "failed" { // it concerns all
		c = Counts{Failed: 40}
	}
	if b.Seen != 40 || b.Last != 40 || int64(len(b.Claims)) != c.Sending {
		s.Fatalf("seen %d to %d, claimed %d", b.Seen, b.Last, len(b.Claims))
	}
	for _, claim := range b.Claims {
		if claim.DeviceID%2 == 0 {
			s.Fatalf("device %d may be called", claim.DeviceID)
		}
	}
	s.want("claimed", c)
	n := ask[int64](s, s.db, `SELECT count(*) FROM delivery WHERE reason = $1 AND status = $2 AND code IS NULL
		AND wake_at IS NULL AND attempts = fence`, reason, status)
	if n != c.Skipped+c.Failed {
		s.Fatalf("%d deliveries are %s as %s, want %d", n, status, reason, c.Skipped+c.Failed)
	}
}

func TestNoClaimWhileNoticeOrVendorRests(t *testing.T) {
	s := newScene(t, 10)
	s.record(OutcomeTransient, s.claim(5)...)
	s.dueNow()
	none := func(when string) {
		t.Helper()
		if first, retries := s.claim(10), s.due(10); len(first)+len(retries) > 0 {
			t.Fatalf("%s: %d first attempts and %d retries claimed", when, len(first), len(retries))
		}
		s.want(when, Counts{Pending: 5, Retrying: 5})
	}
	_, _, err := s.db.PauseNotice(t.Context(), s.id, someone)
	ok(t, err)
	none("paused")
	_, _, err = s.db.ResumeNotice(t.Context(), s.id, someone)
	ok(t, err)
	if !must(s.db.PauseVendor(t.Context(), "http", "backlog", "", ""))(t) {
		t.Fatal("the vendor is not paused")
	}
	none("vendor paused")
	exec(t, s.db, `UPDATE vendor SET state = 'probing', next_probe_at = now()`)
	none("vendor probed")
	exec(t, s.db, `UPDATE vendor SET state = 'paused', next_probe_at = NULL`)
	ok(t, s.db.ResumeVendor(t.Context(), "http", someone))
	if first, retries := s.claim(2), s.due(2); len(first) != 2 || len(retries) != 2 {
		t.Fatalf("resumed: %d and %d claimed", len(first), len(retries))
	}
	_, _, err = s.db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	if first, retries := s.claim(10), s.due(10); len(first)+len(retries) > 0 {
		t.Fatal("claimed although cancelled")
	}
	s.want("cancelled", Counts{Pending: 3, Retrying: 3, Sending: 4})
}

func TestRetriesAreClaimedWhenDueAndTheLongestWaitingFirst(t *testing.T) {
	s := newScene(t, 6)
	s.record(OutcomeTransient, s.claim(6)...)
	if early := s.due(10); len(early) != 0 {
		t.Fatalf("%d claimed early", len(early))
	}
	exec(t, s.db, `UPDATE delivery SET wake_at = now() - device_id * interval '1 minute' WHERE device_id <= 4`)
	if got := s.due(1); len(got) != 1 || got[0].DeviceID != 4 || got[0].Charged != 1 {
		t.Fatalf("first: %+v", got)
	}
	if got := s.due(10); len(got) != 3 {
		t.Fatalf("%d claimed, want the three others that are due", len(got))
	}
	s.want("claimed", Counts{Sending: 4, Retrying: 2})
}

func TestClaimHoldsForItsLease(t *testing.T) {
	s := newScene(t, 2)
	b := must(s.db.ClaimRange(t.Context(), s.id, 0, 1, 1, 7*time.Second, 0))(t)
	held := ask[time.Time](t, s.db, `SELECT lease_until FROM delivery WHERE device_id = 1`).Sub(b.Claims[0].ClaimedAt)
	if held != 7*time.Second {
		t.Fatalf("it holds for %v", held)
	}
	if ask[bool](t, s.db, `SELECT wake_at IS NOT NULL FROM delivery WHERE device_id = 1`) {
		t.Fatal("a first attempt has a wake time, which its index would pay for")
	}
	s.want("one claimed", Counts{Sending: 1, Pending: 1})
}
