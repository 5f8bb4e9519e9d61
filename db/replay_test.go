package db

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
)

// failedScene gives a finished notice of which n deliveries failed for good.
func failedScene(t *testing.T, n int) *scene {
	t.Helper()
	s := newScene(t, n)
	s.failAll()
	s.finish()
	return s
}

// replayAll runs a replay to its end, in batches.
func (s *scene) replayAll(id int64, batch int) Replay {
	s.Helper()
	for i := 0; !must(s.db.StepReplay(s.Context(), s.term, id, batch))(s); i++ {
		s.counts()
		if i > 1000 {
			s.Fatal("the replay does not come to an end")
		}
	}
	s.counts()
	return must(s.db.Replay(s.Context(), id))(s)
}

func (s *scene) startReplay() Replay {
	s.Helper()
	return must(s.db.StartReplayFilter(s.Context(), ArchiveFilter{Notice: &s.id}, someone))(s)
}

// replayListed starts a replay of devices 1 to n by name: another selection of the same
// deliveries.
func (s *scene) replayListed(n int64) Replay {
	s.Helper()
	var pairs []Pair
	for d := int64(1); d <= n; d++ {
		pairs = append(pairs, Pair{s.id, d})
	}
	return must(s.db.StartReplayItems(s.Context(), pairs, someone))(s)
}

func TestG11TwoReplaysAtOnceMoveEachOnce(t *testing.T) {
	s := failedScene(t, 60)
	ids := []int64{s.startReplay().ID, s.replayListed(60).ID}
	errs := make([]error, 4)
	together(4, func(i int) { // two feeders would be one too many; even so
		for done := false; !done && errs[i] == nil; {
			done, errs[i] = s.db.StepReplay(t.Context(), s.term, ids[i%2], 7)
			if errors.Is(errs[i], ErrNotFound) { // the other one ended it
				errs[i] = nil
				return
			}
		}
	})
	ok(t, errors.Join(errs...))
	s.want("replayed", Counts{Pending: 60})
	a, b := must(s.db.Replay(t.Context(), ids[0]))(t), must(s.db.Replay(t.Context(), ids[1]))(t)
	if a.Replayed+b.Replayed != 60 || a.State != "done" || b.State != "done" || a.Matched != 60 || b.Matched != 60 {
		t.Fatalf("replays: %+v %+v", a, b)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM delivery WHERE generation <> 2`); n != 0 {
		t.Fatalf("%d deliveries of another generation", n)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM audit WHERE act = 'archive.replay'`); n != 2 {
		t.Fatalf("%d audit rows", n)
	}
}

func TestReplayStepIsAllOrNothing(t *testing.T) {
	s := failedScene(t, 30)
	r := s.startReplay()
	must(s.db.StepReplay(t.Context(), s.term, r.ID, 10))(t)
	before := must(s.db.Replay(t.Context(), r.ID))(t)
	// The feeder dies in the middle of a step: its last statement fails.
	exec(t, s.db, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'dead'; END $$;
		CREATE TRIGGER die BEFORE UPDATE OF version ON notice FOR EACH ROW EXECUTE FUNCTION die()`)
	if _, err := s.db.StepReplay(t.Context(), s.term, r.ID, 10); err == nil {
		t.Fatal("the step did not die")
	}
	s.want("one step in", Counts{Pending: 10, Failed: 20})
	if after := must(s.db.Replay(t.Context(), r.ID))(t); after.Replayed != before.Replayed || after.Replayed != 10 {
		t.Fatalf("%d counted as replayed, want 10", after.Replayed)
	}
	exec(t, s.db, `DROP TRIGGER die ON notice`)
	if got := s.replayAll(r.ID, 10); got.Replayed != 30 {
		t.Fatalf("replayed: %+v", got)
	}
	s.want("all", Counts{Pending: 30})
}

func TestReplayAndItsAuditRowAreOneTransaction(t *testing.T) {
	s := failedScene(t, 3)
	exec(t, s.db, `ALTER TABLE audit ADD CONSTRAINT no CHECK (act <> 'archive.replay') NOT VALID`)
	_, err := s.db.StartReplayFilter(t.Context(), ArchiveFilter{Notice: &s.id}, someone)
	_, err2 := s.db.StartReplayItems(t.Context(), []Pair{{s.id, 1}}, someone)
	if err == nil || err2 == nil {
		t.Fatal("no error")
	}
	if n := ask[int](t, s.db, `SELECT count(*) + (SELECT count(*) FROM replay_item) FROM replay`); n != 0 {
		t.Fatalf("%d rows of an act without its audit row", n)
	}
}

func TestReplayRefusesWithReasons(t *testing.T) {
	s := failedScene(t, 5)
	exec(t, s.db, `UPDATE device SET consent = false WHERE id = 1`)
	exec(t, s.db, `UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE id = 2`)
	exec(t, s.db, `UPDATE device SET erased_at = now(), token = NULL, token_hash = NULL WHERE id = 3`)
	r := s.replayAll(s.startReplay().ID, 2)
	if r.Matched != 5 || r.Replayed != 2 || len(r.Skipped) != 3 || r.Skipped["no_consent"] != 1 ||
		r.Skipped["device_disabled"] != 1 || r.Skipped["device_erased"] != 1 {
		t.Fatalf("replay: %+v", r)
	}
	s.want("replayed", Counts{Pending: 2, Failed: 3})
	s.record(OutcomePermanent, s.due(10)...)
	s.expire()
	if r := s.replayAll(s.startReplay().ID, 100); r.Skipped["expired"] != 2 || r.Replayed != 0 {
		t.Fatalf("of an expired notice: %+v", r)
	}
	_, _, err := s.db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	if r := s.replayAll(s.startReplay().ID, 100); r.Skipped["cancelled"] != 2 || r.Replayed != 0 {
		t.Fatalf("of a cancelled notice: %+v", r)
	}
	s.want("refused", Counts{Failed: 5})
}

func TestReplayTakesWhatItsFilterOrListNames(t *testing.T) {
	s := newScene(t, 30)
	c := s.claim(30)
	s.record(OutcomePermanent, c[:10]...)
	s.record(OutcomeDead, c[10:20]...)
	other := resultOf(c[20], OutcomePermanent)
	other.Code = "too_big"
	s.write(other)
	s.record(OutcomeSent, c[21:]...)
	s.finish()
	exec(t, s.db, `UPDATE device SET disabled_at = NULL, disabled_reason = NULL`)
	ctx := t.Context()
	elsewhere := s.id + 1
	for _, x := range []struct {
		f    ArchiveFilter
		want int64
	}{
		{ArchiveFilter{Notice: &elsewhere}, 0},
		{ArchiveFilter{Reason: "timeout"}, 0},
		{ArchiveFilter{Reason: "rejected", Code: "too_big"}, 1},
		{ArchiveFilter{Reason: "token_expired"}, 10},
	} {
		r := must(s.db.StartReplayFilter(ctx, x.f, someone))(t)
		if got := s.replayAll(r.ID, 4); got.Replayed != x.want || got.Matched != x.want || *got.Filter != x.f && x.f.Notice == nil {
			t.Errorf("%+v: %+v", x.f, got)
		}
	}
	list := must(s.db.StartReplayItems(ctx, []Pair{{s.id, 3}, {s.id, 3}, {s.id, 5}, {s.id, 30}, {s.id, 15}, {99, 1}}, someone))(t)
	if got := s.replayAll(list.ID, 1); got.Matched != 2 || got.Replayed != 2 || got.Filter != nil {
		t.Fatalf("by name: %+v", got)
	}
	s.want("replayed", Counts{Pending: 13, Failed: 8, Sent: 9})
	var invalid *InvalidError
	_, empty := s.db.StartReplayFilter(ctx, ArchiveFilter{}, someone)
	_, none := s.db.StartReplayItems(ctx, nil, someone)
	_, many := s.db.StartReplayItems(ctx, make([]Pair, MaxReplayItems+1), someone)
	for _, err := range []error{empty, none, many} {
		if !errors.As(err, &invalid) {
			t.Errorf("got %v, want what is wrong", err)
		}
	}
}

func TestFailedAgainIsNotTakenByTheOlderReplay(t *testing.T) {
	s := failedScene(t, 4)
	older := s.startReplay()
	newer := s.replayListed(4)
	s.replayAll(newer.ID, 10)
	s.record(OutcomePermanent, s.due(10)...)
	if got := s.replayAll(older.ID, 10); got.Replayed != 0 || got.Matched != 4 {
		t.Fatalf("the older replay: %+v", got)
	}
	s.want("failed again", Counts{Failed: 4})
}

func TestKeyGoesUpOnlyAfterADefiniteAnswer(t *testing.T) {
	s := newScene(t, 3)
	c := s.claim(3)
	doubt := resultOf(c[1], OutcomeTransient)
	doubt.HTTP, doubt.Reason, doubt.Doubt, doubt.Move.Status = 0, "timeout", true, "failed"
	away := resultOf(c[2], OutcomeTransient)
	away.HTTP, away.Reason, away.Move.Status = 0, "unreachable", "failed"
	s.write(resultOf(c[0], OutcomePermanent), doubt, away)
	for round, want := range [][3]int{{2, 1, 1}, {3, 2, 2}} {
		s.replayAll(s.startReplay().ID, 10)
		for _, c := range s.due(10) {
			if c.KeyNo != want[c.DeviceID-1] || c.Generation != round+2 || c.Charged != 0 {
				t.Fatalf("round %d: %+v, want the keys %v", round, c, want)
			}
			s.record(OutcomePermanent, c)
		}
	}
}

func TestFinishAndReplayAtOnceNeverLoseADelivery(t *testing.T) {
	s := newScene(t, 6)
	s.failAll()
	must(s.db.EndRange(t.Context(), s.rings[0]))(t)
	version := must(s.db.Feeds(t.Context()))(t)[0].Version
	r := s.startReplay()
	// The replay has moved them and not committed yet; the feeder would finish.
	finished := make(chan bool, 1)
	err := s.db.tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := lockNotice(ctx, tx, s.id); err != nil {
			return err
		}
		args := replayArgs(r.Filter, pgx.StrictNamedArgs{"replay": r.ID, "notice": s.id, "after": 0, "batch": 10})
		var n int
		if err := tx.QueryRow(ctx, stepReplaySQL, args).Scan(&n); err != nil {
			return err
		}
		go func() {
			done, err := s.db.FinishNotice(t.Context(), s.term, s.id, version)
			if err != nil {
				t.Error(err)
			}
			finished <- done
		}()
		until(t, func() bool { return waitsForLock(t, s.db) })
		return reopen(ctx, tx, s.id)
	})
	ok(t, err)
	if <-finished {
		t.Fatal("finished, although six deliveries wait")
	}
	if s.state() != Sending {
		t.Fatalf("the notice is %s", s.state())
	}
	s.want("replayed", Counts{Pending: 6})
	if must(s.db.FinishNotice(t.Context(), s.term, s.id, version))(t) {
		t.Fatal("finished by the version of before")
	}
	s.record(OutcomeSent, s.due(10)...)
	if must(s.db.FinishNotice(t.Context(), s.term, s.id, version))(t) {
		t.Fatal("finished although a person acted since that version")
	}
	s.finish()
}
