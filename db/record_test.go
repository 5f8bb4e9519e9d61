package db

import (
	"testing"
	"time"
)

func TestG5FenceStopsALateResult(t *testing.T) {
	s := newScene(t, 2)
	frozen := s.claim(2)
	s.leasesEnd()
	if got := s.free(false); got.Freed != 2 {
		t.Fatalf("freed: %+v", got)
	}
	newer := s.due(10)
	if len(newer) != 2 || newer[0].Fence != 2 {
		t.Fatalf("claimed anew: %+v", newer)
	}
	// Over a newer claim that is under way …
	if stale := s.record(OutcomeDead, frozen...); len(stale) != 2 || stale[0] != frozen[0] {
		t.Fatalf("stale: %+v", stale)
	}
	s.want("a late result over a newer claim", Counts{Sending: 2})
	// … and over one that has ended.
	s.record(OutcomeSent, newer...)
	if stale := s.record(OutcomeDead, frozen...); len(stale) != 2 {
		t.Fatalf("stale: %+v", stale)
	}
	s.want("a late result over a newer end", Counts{Sent: 2})
	if n := ask[int](t, s.db, `SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`); n != 0 {
		t.Fatal("a late 410 disabled a device")
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM attempt`); n != 4 {
		t.Fatalf("%d attempts, want two lost and two sent", n)
	}
}

func TestG5ResultOfAFreedClaimIsNotWritten(t *testing.T) {
	s := newScene(t, 1)
	c := s.claim(1)
	s.leasesEnd()
	s.free(false)
	if stale := s.record(OutcomeSent, c...); len(stale) != 1 {
		t.Fatal("written, although the delivery may be claimed by another at any moment")
	}
	s.want("freed", Counts{Pending: 1})
}

func TestG5ResultAfterTheLeaseIsWrittenWhileNobodyElseClaimed(t *testing.T) {
	s := newScene(t, 2)
	c := s.claim(2)
	s.leasesEnd()
	if stale := s.record(OutcomeSent, c...); stale != nil {
		t.Fatalf("stale: %+v", stale)
	}
	s.want("written", Counts{Sent: 2})
	if got := s.free(false); got != (Swept{}) {
		t.Fatalf("freed: %+v", got)
	}
}

func TestG5TheSameResultTwiceIsWrittenOnce(t *testing.T) {
	s := newScene(t, 3)
	c := s.claim(3)
	for i, outcome := range []string{OutcomeSent, OutcomeTransient, OutcomeDead} {
		if stale := s.record(outcome, c[i]); stale != nil {
			t.Fatalf("stale: %+v", stale)
		}
		if stale := s.record(outcome, c[i]); len(stale) != 1 {
			t.Fatalf("%s was written twice", outcome)
		}
		s.counts()
	}
	s.want("recorded", Counts{Sent: 1, Retrying: 1, Failed: 1})
}

func TestG6EveryEndHasAReasonAndEveryWaitADueTime(t *testing.T) {
	s := newScene(t, 70)
	for i, outcome := range []string{OutcomeSent, OutcomeTransient, OutcomePermanent, OutcomeDead, OutcomeWait, OutcomeSettings, OutcomeSuspect} {
		results := make([]Result, 0, 10)
		for _, c := range must(s.db.ClaimRange(t.Context(), s.id, int64(10*i), int64(10*i+10), 10, testLease, i))(t).Claims {
			r := resultOf(c, outcome)
			switch outcome {
			case OutcomeWait:
				r.HTTP, r.Reason, r.Delay = 429, "rate_limited", time.Minute
			case OutcomeSettings:
				r.HTTP, r.Reason, r.Delay = 401, "credentials_refused", time.Second
			case OutcomeSuspect:
				r.HTTP, r.Reason = 403, "rejected"
			}
			results = append(results, r)
		}
		s.write(results...)
		s.counts()
	}
	s.want("recorded", Counts{Sent: 10, Retrying: 10, Failed: 30, Pending: 20})
	bad := ask[int](t, s.db, `SELECT count(*) FROM delivery WHERE NOT CASE status
		WHEN 'sent' THEN sent_at IS NOT NULL AND reason IS NULL
		WHEN 'failed' THEN failed_at IS NOT NULL AND reason IS NOT NULL
		WHEN 'pending' THEN wake_at > now() AND reason IS NOT NULL ELSE false END`)
	if bad != 0 {
		t.Fatalf("%d deliveries have no reason or no due time", bad)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM attempt a JOIN delivery d USING (notice_id, device_id)
		WHERE a.fence = d.fence AND a.reason IS NOT DISTINCT FROM d.reason`); n != 70 {
		t.Fatalf("%d attempts agree with their delivery, want 70", n)
	}
	p := must(s.db.Progress(t.Context(), s.id))(t)
	if len(p.Reasons) != 2 || p.Reasons[0] != (ReasonCount{"failed", "rejected", 20}) || p.Reasons[1] != (ReasonCount{"failed", "token_expired", 10}) {
		t.Fatalf("reasons: %+v", p.Reasons)
	}
}

func TestRecordOfSeveralNoticesCountsEachItsOwn(t *testing.T) {
	a := newScene(t, 10)
	b := startScene(t, a.db, "second")
	must(a.db.TakeRange(t.Context(), b.rings[0], 0))(t)
	a.record(OutcomeSent, append(a.claim(4), b.claim(7)...)...)
	a.want("first", Counts{Sent: 4, Pending: 6})
	b.want("second", Counts{Sent: 7, Pending: 3})
}

func TestGoneDisablesUnlessRegisteredAgain(t *testing.T) {
	s := newScene(t, 4)
	c := s.claim(4)
	_, err := s.db.PutDevices(t.Context(), []DeviceInput{{Token: c[1].Token, Platform: "android"}}, someone)
	ok(t, err)
	exec(t, s.db, `UPDATE device SET erased_at = now(), token = NULL, token_hash = NULL WHERE id = $1`, c[2].DeviceID)
	s.record(OutcomeDead, c[:3]...)
	disabled := func(id int64) bool {
		return ask[bool](t, s.db, `SELECT disabled_at IS NOT NULL FROM device WHERE id = $1`, id)
	}
	if !disabled(c[0].DeviceID) || disabled(c[1].DeviceID) || disabled(c[2].DeviceID) {
		t.Fatalf("disabled: %v, registered again: %v, erased: %v",
			disabled(c[0].DeviceID), disabled(c[1].DeviceID), disabled(c[2].DeviceID))
	}
	exec(t, s.db, `UPDATE vendor SET keep_devices = true, kept_since = now()`)
	s.record(OutcomeDead, c[3])
	if disabled(c[3].DeviceID) {
		t.Fatal("disabled although devices are to be kept")
	}
	s.want("gone", Counts{Failed: 4})
}

func TestTwiceIsCountedOnceForEachDelivery(t *testing.T) {
	s := newScene(t, 4)
	doubtful := func(c Claim) Result {
		r := resultOf(c, OutcomeTransient)
		r.HTTP, r.Reason, r.Doubt, r.Delay = 0, "timeout", true, 0
		return r
	}
	twice := func(when string, want int64) {
		t.Helper()
		if c := s.counts(); c.Twice != want {
			t.Fatalf("%s: %d possibly told twice, want %d", when, c.Twice, want)
		}
	}
	c := s.claim(4)
	s.write(doubtful(c[0]), doubtful(c[1]), doubtful(c[2]), resultOf(c[3], OutcomeSent))
	twice("one call in doubt each", 0)
	s.dueNow()
	c = s.due(10)
	s.write(resultOf(c[0], OutcomeSent), doubtful(c[1]), resultOf(c[2], OutcomeTransient))
	twice("sent, in doubt again, refused", 2)
	s.dueNow()
	c = s.due(10)
	s.write(resultOf(c[0], OutcomeSent), resultOf(c[1], OutcomeSent))
	twice("all sent", 3)
	s.want("all sent", Counts{Sent: 4})
}
