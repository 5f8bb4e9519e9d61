package db

import (
	"errors"
	"testing"
	"time"
)

// A liveWorker fills ranges, claims and records as range and retry tasks do,
// until its notice has nothing open.
func liveWorker(s *scene, shard int) error {
	for round := 0; ; round++ {
		for _, r := range s.rings {
			if _, err := s.db.TakeRange(s.Context(), r, shard); err != nil && !errors.Is(err, ErrStale) {
				return err
			}
		}
		for _, w := range []Want{{Scope: "http", Notice: s.id, Last: 1 << 40, Limit: 20}, {Scope: "http", Notice: s.id, Due: true, Limit: 20}} {
			b, err := s.db.claimOne(s.Context(), w, testLease, shard)
			if err != nil {
				return err
			}
			var results []Result
			for i, c := range b.Claims {
				outcome := OutcomeSent
				if i%3 == 0 {
					outcome = OutcomeTransient
				}
				r := resultOf(c, outcome)
				r.Delay = time.Millisecond
				results = append(results, r)
			}
			if stale, err := s.db.Record(s.Context(), results, shard); err != nil || stale != nil {
				return errors.Join(err, errOf(stale))
			}
		}
		_, c, err := s.db.Notice(s.Context(), s.id)
		if err != nil || c.Open() == 0 && round > 0 && c.Total == 1500 {
			return err
		}
	}
}

func errOf(stale []Claim) error {
	if stale == nil {
		return nil
	}
	return errors.New("a live worker's result was refused")
}

func TestCloseRestBesideLiveClaimersEndsWithExactSums(t *testing.T) {
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			db := newDB(t)
			seed(t, db, 1500)
			s := startScene(t, db, "t")
			errs := make([]error, 5)
			together(5, func(i int) {
				if i > 0 {
					errs[i] = liveWorker(s, i)
					return
				}
				until(t, func() bool { return ask[int](t, db, `SELECT count(*) FROM delivery WHERE status = 'sent'`) > 40 })
				e.end(s)
				errs[i] = closeUntilNothingIsOpen(s)
			})
			ok(t, errors.Join(errs...))
			c := s.counts()
			if c.Open() != 0 || c.Total != 1500 || c.Sent < 40 || c.Skipped+c.Failed == 0 {
				t.Fatalf("ended with %+v", c)
			}
			s.finish()
		})
	}
}

func closeUntilNothingIsOpen(s *scene) error {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		feeds, err := s.db.Feeds(s.Context())
		if err != nil {
			return err
		}
		for _, f := range feeds {
			if f.NeedsClosing() {
				if _, err := s.db.CloseRest(s.Context(), s.term, f.ID); err != nil {
					return err
				}
			} else if f.Open == 0 && f.Cut && f.Ranges == 0 {
				return nil
			}
		}
	}
	return errors.New("it did not come to an end")
}
