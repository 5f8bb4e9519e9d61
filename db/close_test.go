package db

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// An ending is why the rest of a notice is closed.
type ending struct {
	name   string
	end    func(s *scene)
	status string
	reason string
}

var endings = []ending{
	{"cancelled", func(s *scene) {
		s.Helper()
		_, _, err := s.db.CancelNotice(s.Context(), s.id, someone)
		ok(s, err)
	}, "skipped", "cancelled"},
	{"expired", (*scene).expire, "failed", "expired"},
}

// rest is counts in which n deliveries were closed.
func (e ending) rest(n int64, c Counts) Counts {
	if e.status == "failed" {
		c.Failed += n
	} else {
		c.Skipped += n
	}
	return c
}

// stages are how far a notice to 1200 devices may be when it ends. Each gives
// what of it is not the rest, and what of that is still being sent.
var stages = []struct {
	name string
	make func(t *testing.T) (s *scene, kept Counts)
}{
	{"before it was cut", func(t *testing.T) (*scene, Counts) {
		db := newDB(t)
		seed(t, db, 1200)
		n := accept(t, db, Draft{Title: "t", Body: "b"})
		term := must(db.Lead(t.Context(), "feeder", time.Minute))(t)
		return &scene{TB: t, db: db, id: n.ID, term: term}, Counts{}
	}},
	{"half cut", func(t *testing.T) (*scene, Counts) {
		db := newDB(t)
		seed(t, db, 1200)
		n := accept(t, db, Draft{Title: "t", Body: "b"})
		term := must(db.Lead(t.Context(), "feeder", time.Minute))(t)
		ok(t, db.StartNotice(t.Context(), term, n.ID))
		ok(t, db.CutRanges(t.Context(), term, n.ID, 100, 3))
		s := &scene{TB: t, db: db, id: n.ID, term: term, rings: must(db.Unrung(t.Context(), 100, 10))(t)}
		must(db.TakeRange(t.Context(), s.rings[0], 0))(t)
		s.record(OutcomeSent, s.claim(10)...)
		return s, Counts{Sent: 10}
	}},
	{"half filled", func(t *testing.T) (*scene, Counts) {
		db := newDB(t)
		seed(t, db, 1200)
		s := startScene(t, db, "t")
		must(db.TakeRange(t.Context(), s.rings[1], 0))(t)
		return s, Counts{}
	}},
	{"retries waiting, some sending", func(t *testing.T) (*scene, Counts) {
		s := newScene(t, 1200)
		c := s.claim(40)
		s.record(OutcomeSent, c[:10]...)
		s.record(OutcomeTransient, c[10:30]...)
		s.dueNow()
		s.due(5)
		s.record(OutcomeDead, s.claim(1)...)
		return s, Counts{Sent: 10, Sending: 15, Failed: 1}
	}},
}

func TestCloseRestAtEveryStage(t *testing.T) {
	for _, e := range endings {
		for _, stage := range stages {
			t.Run(fmt.Sprintf("%s %s", e.name, stage.name), func(t *testing.T) {
				s, kept := stage.make(t)
				e.end(s)
				s.closeAll()
				all := kept.Sent + kept.Sending + kept.Failed
				s.want("closed", e.rest(1200-all, kept))
				s.closeAll()
				s.want("closed again", e.rest(1200-all, kept))
				endUnderWay(s, e, kept, 1200-all)
			})
		}
	}
}

// endUnderWay has the calls that were under way when e came end in each way, and
// the notice settle.
func endUnderWay(s *scene, e ending, kept Counts, closed int64) {
	s.Helper()
	under := scan[Claim](s, `SELECT notice_id, device_id, fence FROM delivery WHERE status = 'sending' ORDER BY device_id`,
		func(c *Claim) []any { return []any{&c.NoticeID, &c.DeviceID, &c.Fence} })
	if len(under) > 0 {
		s.record(OutcomeSent, under[:5]...)
		s.record(OutcomeTransient, under[5:10]...)
		s.leasesEnd()
		s.free(false)
		s.closeAll()
	}
	kept.Sent, kept.Sending = kept.Sent+min(5, kept.Sending), 0
	s.want("settled", e.rest(closed+max(0, int64(len(under))-5), kept))
	for _, f := range must(s.db.Feeds(s.Context()))(s) {
		if f.NeedsClosing() || !f.Cut || f.Ranges != 0 || f.Open != 0 {
			s.Fatalf("something is left: %+v", f)
		}
	}
	ok(s, s.db.StartNotice(s.Context(), s.term, s.id)) // one that expired before it began
	s.finish()
	if n := ask[int](s, s.db, `SELECT count(*) FROM delivery WHERE status = $1 AND reason = $2 AND wake_at IS NULL`,
		e.status, e.reason); int64(n) != closed+max(0, int64(len(under))-5) {
		s.Fatalf("%d closed with the reason %s", n, e.reason)
	}
}

// scan reads rows into Ts whose fields at gives.
func scan[T any](s *scene, sql string, at func(*T) []any) (list []T) {
	s.Helper()
	rows, err := s.db.pool.Query(s.Context(), sql)
	ok(s, err)
	defer rows.Close()
	for rows.Next() {
		var v T
		ok(s, rows.Scan(at(&v)...))
		list = append(list, v)
	}
	ok(s, rows.Err())
	return list
}

func TestCloseRestGoesInPartsOfBoundedSize(t *testing.T) {
	db := newDB(t)
	seed(t, db, 2*closeBatch+100)
	s := startScene(t, db, "t")
	_, _, err := db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	for i, want := range []bool{true, true, false} {
		if more := must(db.CloseRest(t.Context(), s.term, s.id))(t); more != want {
			t.Fatalf("pass %d: more is %v", i, more)
		}
		n := int64(min((i+1)*closeBatch, 2*closeBatch+100))
		s.want("a pass", Counts{Skipped: n})
	}
	s.finish()
}

func TestCloseRestLeavesALiveNoticeAlone(t *testing.T) {
	s := newScene(t, 10)
	if _, err := s.db.CloseRest(t.Context(), s.term, s.id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a notice that is being sent: %v", err)
	}
	s.want("left alone", Counts{Pending: 10})
}

// A range that ends while a claim in it is about to commit would leave that
// claim to nobody's care: FreeLeases looks for first attempts in open ranges.
func TestCloseRestKeepsTheRangeOfAClaimThatIsBeingTaken(t *testing.T) {
	s := newScene(t, 10)
	tx, err := s.db.pool.Begin(t.Context())
	ok(t, err)
	defer tx.Rollback(context.Background())
	_, err = tx.Exec(t.Context(), `UPDATE delivery SET status = 'sending', fence = 1, attempts = 1, lease_until = now()
		WHERE device_id = 4`)
	ok(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE notice_counter SET pending = pending - 1, sending = sending + 1, attempts = attempts + 1
		WHERE notice_id = $1 AND shard = 9`, s.id)
	ok(t, err)
	_, _, err = s.db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	must(s.db.CloseRest(t.Context(), s.term, s.id))(t) // it waits for nobody
	ok(t, tx.Commit(t.Context()))
	s.want("one under way", Counts{Skipped: 9, Sending: 1})
	if got := s.free(false); got.Freed != 1 {
		t.Fatalf("its holder died and nobody takes it back: %+v", got)
	}
	s.closeAll()
	s.want("closed", Counts{Skipped: 10})
	s.finish()
}
