package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// stalledNow gives the numbers of the notices that Status calls stalled.
func (s *scene) stalledNow() map[int64]time.Duration {
	s.Helper()
	st := must(s.db.Status(s.Context()))(s)
	found := map[int64]time.Duration{}
	for _, x := range st.Stalled {
		found[x.ID] = st.Now.Sub(x.Since).Round(time.Second)
	}
	return found
}

func (s *scene) wantStalled(when string, since time.Duration) {
	s.Helper()
	got, is := s.stalledNow()[s.id]
	if is != (since > 0) || got != since {
		s.Errorf("%s: stalled %t for %s, want %s", when, is, got, since)
	}
}

func TestNoticeThatNobodyBeginsIsStalled(t *testing.T) {
	db := newDB(t)
	s := &scene{TB: t, db: db, id: accept(t, db, Draft{Title: "t", Body: "b"}).ID}
	s.wantStalled("at once", 0)
	exec(t, db, `UPDATE notice SET accepted_at = now() - interval '59 s'`)
	s.wantStalled("after 59 s", 0)
	exec(t, db, `UPDATE notice SET accepted_at = now() - interval '61 s'`)
	s.wantStalled("after 61 s", 61*time.Second)
	exec(t, db, `UPDATE notice SET state = 'paused'`)
	s.wantStalled("paused", 0)
}

func TestFirstWaveThatNobodyTouchesIsStalled(t *testing.T) {
	s := newScene(t, 1200)
	exec(t, s.db, `UPDATE notice SET started_at = now() - interval '1 h', state_at = now() - interval '1 h'`)
	exec(t, s.db, `UPDATE notice_range SET touched_at = now() - interval '90 s'`)
	s.wantStalled("no range was touched", 90*time.Second)
	exec(t, s.db, `UPDATE notice_range SET touched_at = now() - interval '5 s' WHERE seq = 2`)
	s.wantStalled("one range was touched", 0)
	exec(t, s.db, `UPDATE notice_range SET touched_at = now() - interval '90 s'`)
	exec(t, s.db, `UPDATE notice SET state_at = now() - interval '10 s'`)
	s.wantStalled("it was resumed a moment ago", 0)
	exec(t, s.db, `UPDATE notice SET state_at = now() - interval '1 h', expires_at = now() - interval '1 s'`)
	s.wantStalled("it has expired, and is closed by another way", 0)
}

func TestRangesThatAreNotCutAreStalled(t *testing.T) {
	s := newScene(t, 600)
	exec(t, s.db, `UPDATE notice SET started_at = now() - interval '1 h', state_at = now() - interval '1 h', cut_at = NULL`)
	exec(t, s.db, `UPDATE notice_range SET touched_at = now() - interval '100 s', done_at = now() - interval '20 s'`)
	s.wantStalled("its last range ended 20 s ago", 0)
	exec(t, s.db, `UPDATE notice_range SET done_at = now() - interval '70 s'`)
	s.wantStalled("its last range ended 70 s ago", 70*time.Second)
}

func TestRetriesThatNobodyMakesAreStalled(t *testing.T) {
	s := newScene(t, 3)
	claims := s.claim(3)
	s.record(OutcomeTransient, claims...)
	exec(t, s.db, `UPDATE notice SET started_at = now() - interval '1 h', state_at = now() - interval '1 h', cut_at = now() - interval '1 h'`)
	exec(t, s.db, `UPDATE notice_range SET done_at = now() - interval '1 h', touched_at = now() - interval '1 h'`)
	s.wantStalled("its retries are not due", 0)
	exec(t, s.db, `UPDATE delivery SET wake_at = now() - interval '80 s' WHERE device_id = 1`)
	s.wantStalled("one has been due for long", 80*time.Second)
	exec(t, s.db, `UPDATE notice_counter SET sending = sending + 1, retrying = retrying - 1 WHERE notice_id = $1 AND shard = (
		SELECT shard FROM notice_counter WHERE notice_id = $1 AND retrying > 0 LIMIT 1)`, s.id)
	s.wantStalled("another is under way", 0)
}

func TestStatusTellsLostWorkersFromLiveOnes(t *testing.T) {
	db := newDB(t)
	exec(t, db, `INSERT INTO worker (id, slots, seen_at) VALUES ('a', 1, now()), ('b', 1, now() - interval '14 s'),
		('c', 1, now() - interval '16 s'), ('d', 1, now() - interval '25 h')`)
	st := must(db.Status(t.Context()))(t)
	if len(st.Workers) != 2 || len(st.Lost) != 1 || st.Lost[0].ID != "c" {
		t.Errorf("alive %v, lost %v", st.Workers, st.Lost)
	}
}

func TestStatusSaysThatTheDatabaseTakesNoWrites(t *testing.T) {
	db := newDB(t)
	if st := must(db.Status(t.Context()))(t); st.ReadOnly {
		t.Error("it says so of one that does")
	}
	exec(t, db, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	db.pool.Reset()
	if st := must(db.Status(t.Context()))(t); !st.ReadOnly {
		t.Error("it does not say so")
	}
	if err := db.EndWorker(t.Context(), "x"); CauseOf(err) != ReadOnly || !Unavailable(err) {
		t.Errorf("a write ended with %v, cause %q", err, CauseOf(err))
	}
}

func TestConditionOfTheDatabase(t *testing.T) {
	db := newDB(t)
	c := must(db.Condition(t.Context()))(t)
	if c.Bytes < 1<<20 || c.Conns < 1 || c.MaxConns < c.Conns {
		t.Errorf("%+v", c)
	}
}

func TestCauses(t *testing.T) {
	sql := func(code string) error { return fmt.Errorf("x: %w", &pgconn.PgError{Code: code}) }
	for err, want := range map[error]Cause{
		sql("25006"): ReadOnly, sql("53100"): DiskFull, sql("53300"): Crowded, sql("57P01"): Away, sql("08006"): Away,
		sql("23505"): NoCause, sql("40P01"): NoCause, sql("55P03"): NoCause, ErrNotFound: NoCause, errors.New("bug"): NoCause,
		io.ErrUnexpectedEOF: Away, context.DeadlineExceeded: Away, context.Canceled: NoCause, nil: NoCause,
	} {
		if got := CauseOf(err); got != want {
			t.Errorf("%v: cause %q, want %q", err, got, want)
		}
	}
}

// A server that lets nobody in is away, whatever it says: to be wrong about a
// password, too, is no fault of the request's.
func TestRefusedConnectionsAreAnOutage(t *testing.T) {
	db := newDB(t)
	name := ask[string](t, db, `SELECT current_database()`)
	cfg := db.pool.Config().ConnConfig.Copy()
	cfg.Database = "postgres"
	admin := must(pgx.ConnectConfig(t.Context(), cfg))(t)
	defer admin.Close(context.WithoutCancel(t.Context()))
	must(admin.Exec(t.Context(), `ALTER DATABASE `+pgx.Identifier{name}.Sanitize()+` WITH ALLOW_CONNECTIONS false`))(t)
	db.pool.Reset()
	if err := db.Ping(t.Context()); pgCode(err) != "55000" || !Unavailable(err) || CauseOf(err) != Away {
		t.Errorf("%v: unavailable %t, cause %q", err, Unavailable(err), CauseOf(err))
	}
}

// While nothing is rung, what is accepted has no deliveries that could be counted.
func TestStatusCountsWhatIsNotGoneThrough(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	seed(t, db, 1200)
	want := func(when string, notices, devices int64) {
		t.Helper()
		if st := must(db.Status(ctx))(t); st.AheadNotices != notices || st.AheadDevices != devices {
			t.Errorf("%s: %d notices and %d devices, want %d and %d", when, st.AheadNotices, st.AheadDevices, notices, devices)
		}
	}
	want("without a notice", 0, 0)
	first := accept(t, db, Draft{Title: "first", Body: "b"})
	want("accepted, not begun", 1, 0)
	term, rings := feed(t, db, first.ID, 500)
	ok(t, db.EstimateAudience(ctx, term))
	want("cut, and no range taken", 1, 1200)
	must(db.TakeRange(ctx, rings[0], rings[0].Seq))(t)
	want("one range of three taken", 1, 700)
	accept(t, db, Draft{Title: "second", Body: "b"})
	want("with a second one", 2, 700)
	for _, r := range rings[1:] {
		must(db.TakeRange(ctx, r, r.Seq))(t)
	}
	want("the first gone through", 1, 0)
	exec(t, db, "UPDATE notice SET state = 'cancelled'")
	want("cancelled", 0, 0)
}
