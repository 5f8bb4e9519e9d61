package db

import (
	"slices"
	"testing"
	"time"
)

// A scene is one notice over devices 1 to n, fanned out, for tests of what
// happens to its deliveries.
type scene struct {
	testing.TB
	db    *DB
	id    int64
	term  Term
	rings []Ring
}

// newScene makes devices 1 to n and a notice for them whose rows all exist, in
// ranges of 500.
func newScene(t testing.TB, n int) *scene {
	t.Helper()
	db := newDB(t)
	seed(t, db, n)
	s := startScene(t, db, "t")
	for _, r := range s.rings {
		must(db.TakeRange(t.Context(), r, r.Seq))(t)
	}
	s.counts()
	return s
}

// startScene accepts a notice and cuts it into ranges of 500, still empty.
func startScene(t testing.TB, db *DB, title string) *scene {
	t.Helper()
	n := accept(t, db, Draft{Title: title, Body: "b"})
	term, rings := feed(t, db, n.ID, 500)
	rings = slices.DeleteFunc(rings, func(r Ring) bool { return r.NoticeID != n.ID })
	return &scene{TB: t, db: db, id: n.ID, term: term, rings: rings}
}

func (s *scene) counts() Counts {
	s.Helper()
	return sums(s, s.db, s.id)
}

// want fails unless the parts are these, and agree with the rows.
func (s *scene) want(when string, c Counts) {
	s.Helper()
	got := s.counts()
	c.Total = c.Pending + c.Retrying + c.Sending + c.Sent + c.Failed + c.Skipped + c.Unknown
	c.Twice, c.Attempts = got.Twice, got.Attempts
	if got != c {
		s.Fatalf("%s: counts %+v, want %+v", when, got, c)
	}
}

// claim takes up to n first attempts.
func (s *scene) claim(n int) []Claim {
	s.Helper()
	return must(s.db.ClaimRange(s.Context(), s.id, 0, 1<<40, n, testLease, 1))(s).Claims
}

// due takes up to n retries that are due.
func (s *scene) due(n int) []Claim {
	s.Helper()
	return must(s.db.ClaimDue(s.Context(), s.id, n, testLease, 2))(s).Claims
}

// record writes the same outcome for all claims and gives the stale ones.
func (s *scene) record(outcome string, claims ...Claim) []Claim {
	s.Helper()
	results := make([]Result, len(claims))
	for i, c := range claims {
		results[i] = resultOf(c, outcome)
	}
	return s.write(results...)
}

func (s *scene) write(results ...Result) []Claim {
	s.Helper()
	return must(s.db.Record(s.Context(), results, 3))(s)
}

// dueNow makes the time of every waiting retry come.
func (s *scene) dueNow() {
	s.Helper()
	exec(s, s.db, `UPDATE delivery SET wake_at = now() WHERE status = 'pending' AND wake_at IS NOT NULL`)
}

// leasesEnd lets the time of all claims run out, as if their holders had died.
func (s *scene) leasesEnd() {
	s.Helper()
	exec(s, s.db, `UPDATE delivery SET lease_until = now(), wake_at = CASE WHEN wake_at IS NOT NULL THEN now() END
		WHERE status = 'sending'`)
}

// free takes back all claims that have run out.
func (s *scene) free(hold bool) Swept {
	s.Helper()
	return must(s.db.FreeLeases(s.Context(), s.term, time.Millisecond, hold, 1000))(s)
}

// closeAll closes the rest until nothing is left to do.
func (s *scene) closeAll() {
	s.Helper()
	for i := 0; must(s.db.CloseRest(s.Context(), s.term, s.id))(s); i++ {
		s.counts()
		if i > 100 {
			s.Fatal("closing does not come to an end")
		}
	}
	s.counts()
}

// expire lets the notice's time run out.
func (s *scene) expire() {
	s.Helper()
	exec(s, s.db, `UPDATE notice SET expires_at = now() WHERE id = $1`, s.id)
}

// finish settles the notice, and fails unless it can be.
func (s *scene) finish() {
	s.Helper()
	for _, r := range s.rings {
		must(s.db.EndRange(s.Context(), r))(s)
	}
	n, _, err := s.db.Notice(s.Context(), s.id)
	ok(s, err)
	if !must(s.db.FinishNotice(s.Context(), s.term, s.id, n.Version))(s) {
		s.Fatalf("notice %d is not finished: %+v", s.id, s.counts())
	}
}

// failAll claims every first attempt and has the vendor refuse it for good.
func (s *scene) failAll() {
	s.Helper()
	for claims := s.claim(1000); len(claims) > 0; claims = s.claim(1000) {
		s.record(OutcomePermanent, claims...)
	}
	s.counts()
}

// together runs f in n goroutines that start at once, and waits for them.
func together(n int, f func(i int)) {
	start, done := make(chan struct{}), make(chan struct{}, n)
	for i := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			<-start
			f(i)
		}()
	}
	close(start)
	for range n {
		<-done
	}
}
