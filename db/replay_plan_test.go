package db

import (
	"errors"
	"testing"
	"time"
)

func (s *scene) startPlan(id int64) Replay {
	s.Helper()
	r, _, err := s.db.StartPlan(s.Context(), id, someone)
	ok(s, err)
	return r
}

// Forty presses at once, of plans and of the act itself, are one run with one
// row in the log.
func TestG11OneRunForTheSameSelection(t *testing.T) {
	s := failedScene(t, 20)
	ctx := t.Context()
	f := ArchiveFilter{Notice: &s.id}
	ids, errs := make([]int64, 40), make([]error, 40)
	plans := []ReplayPlan{must(s.db.PlanReplayFilter(ctx, f, someone))(t), must(s.db.PlanReplayFilter(ctx, f, someone))(t)}
	together(40, func(i int) {
		var r Replay
		if i%2 == 0 {
			r, _, errs[i] = s.db.StartPlan(ctx, plans[i/2%2].ID, someone)
		} else {
			r, errs[i] = s.db.StartReplayFilter(ctx, f, someone)
		}
		ids[i] = r.ID
	})
	ok(t, errors.Join(errs...))
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("runs %v", ids)
		}
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM audit WHERE act = 'archive.replay'`); n != 1 {
		t.Errorf("%d rows in the log", n)
	}
	if got := s.replayAll(ids[0], 7); got.Replayed != 20 || got.Matched != 20 {
		t.Errorf("the run: %+v", got)
	}
	if again := s.startPlan(plans[0].ID); again.ID != ids[0] || again.State != "done" {
		t.Errorf("a plan that was begun gives %+v", again)
	}
	s.record(OutcomePermanent, s.due(20)...)
	if again := s.startReplay(); again.ID == ids[0] || again.Matched != 20 {
		t.Errorf("after its end the same selection gives %+v", again)
	}
}

func TestReplayPlanSaysWhoIsSkippedAndFreezesTheSet(t *testing.T) {
	s := newScene(t, 12)
	ctx := t.Context()
	c := s.claim(12)
	s.record(OutcomePermanent, c[:10]...)
	exec(t, s.db, `UPDATE device SET consent = false WHERE id IN (1, 2)`)
	exec(t, s.db, `UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE id = 3`)
	p := must(s.db.PlanReplayFilter(ctx, ArchiveFilter{Reason: "rejected"}, someone))(t)
	if p.Matched != 10 || len(p.Refused) != 2 || p.Refused["no_consent"] != 2 || p.Refused["device_disabled"] != 1 || p.AskedByName != someone.Name {
		t.Fatalf("the plan: %+v", p)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM replay`); n != 0 {
		t.Fatalf("a plan began %d runs", n)
	}
	s.record(OutcomePermanent, c[10:]...) // too late for the plan
	exec(t, s.db, `UPDATE device SET consent = true WHERE id = 1`)
	r := s.startPlan(p.ID)
	if r.Matched != 10 || !r.AskedAt.Equal(p.AskedAt) {
		t.Errorf("the run: %+v", r)
	}
	if got := s.replayAll(r.ID, 3); got.Replayed != 8 || got.Skipped["no_consent"] != 1 || got.Skipped["device_disabled"] != 1 {
		t.Errorf("at its end: %+v", got)
	}
	s.want("replayed", Counts{Pending: 8, Failed: 4})

	list := must(s.db.PlanReplayItems(ctx, []Pair{{s.id, 11}, {s.id, 12}, {s.id, 12}, {s.id, 5}, {99, 1}}, someone))(t)
	if list.Matched != 2 || list.Filter != nil || len(list.Notices) != 4 {
		t.Fatalf("a plan of a list: %+v", list)
	}
	if got := s.replayAll(s.startPlan(list.ID).ID, 10); got.Replayed != 2 || got.Matched != 2 {
		t.Errorf("its run: %+v", got)
	}
	if _, _, err := s.db.StartPlan(ctx, 99, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("a plan that is none: %v", err)
	}
}

func TestPlansThatNobodyBeganGo(t *testing.T) {
	s := failedScene(t, 2)
	ctx := t.Context()
	f := ArchiveFilter{Notice: &s.id}
	begun, left := must(s.db.PlanReplayFilter(ctx, f, someone))(t), must(s.db.PlanReplayFilter(ctx, f, someone))(t)
	s.startPlan(begun.ID)
	exec(t, s.db, `UPDATE replay_plan SET asked_at = asked_at - interval '25 hours'`)
	if _, _, err := s.db.StartPlan(ctx, left.ID, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("an old plan is begun: %v", err)
	}
	must(s.db.PlanReplayFilter(ctx, f, someone))(t)
	if _, err := s.db.ReplayPlan(ctx, left.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("an old plan: %v", err)
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM replay_plan`); n != 2 {
		t.Errorf("%d plans are kept", n)
	}
	must(s.db.ReplayPlan(ctx, begun.ID))(t)
}

func TestReplayPausedAndCancelled(t *testing.T) {
	s := failedScene(t, 30)
	ctx := t.Context()
	r := s.startReplay()
	must(s.db.StepReplay(ctx, s.term, r.ID, 10))(t)
	if got := must(s.db.PauseReplay(ctx, r.ID, someone))(t); got.State != "paused" || got.Replayed != 10 {
		t.Fatalf("paused: %+v", got)
	}
	if open := must(s.db.OpenReplays(ctx))(t); len(open) != 0 {
		t.Errorf("the feeder has %v", open)
	}
	if _, err := s.db.StepReplay(ctx, s.term, r.ID, 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("a step of a paused run: %v", err)
	}
	if same := s.startReplay(); same.ID != r.ID {
		t.Errorf("pressing again while it is paused began %d", same.ID)
	}
	later := must(s.db.PlanReplayFilter(ctx, ArchiveFilter{Notice: &s.id}, someone))(t)
	if same, other, err := s.db.StartPlan(ctx, later.ID, someone); err != nil || same.ID != r.ID || !other {
		t.Errorf("a plan made while it is paused: %+v, %v, %v", same, other, err)
	}
	must(s.db.ResumeReplay(ctx, r.ID, someone))(t)
	must(s.db.StepReplay(ctx, s.term, r.ID, 5))(t)
	got := must(s.db.CancelReplay(ctx, r.ID, someone))(t)
	if got.State != "cancelled" || got.Replayed != 15 || got.FinishedAt == nil {
		t.Errorf("cancelled: %+v", got)
	}
	s.want("cancelled", Counts{Pending: 15, Failed: 15})
	var conflict *ConflictError
	for name, act := range map[string]func() error{
		"pause":  func() error { _, err := s.db.PauseReplay(ctx, r.ID, someone); return err },
		"resume": func() error { _, err := s.db.ResumeReplay(ctx, r.ID, someone); return err },
		"cancel": func() error { _, err := s.db.CancelReplay(ctx, r.ID, someone); return err },
	} {
		if err := act(); !errors.As(err, &conflict) || conflict.Code != "wrong_state" {
			t.Errorf("%s of a cancelled run: %v", name, err)
		}
	}
	if _, err := s.db.PauseReplay(ctx, 99, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run that is none: %v", err)
	}
	if n := ask[string](t, s.db, `SELECT string_agg(act, ' ' ORDER BY id) FROM audit WHERE object = 'replay:' || $1::bigint`, r.ID); n != "archive.replay replay.pause replay.resume replay.cancel" {
		t.Errorf("the log: %s", n)
	}
	s.record(OutcomePermanent, s.due(15)...)
	if got := must(s.db.Replay(ctx, r.ID))(t); got.FailedAgain != 15 {
		t.Errorf("failed again: %+v", got)
	}
	if got := s.replayAll(s.startReplay().ID, 100); got.Replayed != 30 {
		t.Errorf("the next run: %+v", got)
	}
	if list := must(s.db.Replays(ctx, 5))(t); len(list) != 2 || list[0].ID < list[1].ID || list[1].FailedAgain != 0 {
		t.Errorf("the runs: %+v", list)
	}
}

func TestArchiveFilters(t *testing.T) {
	s := failedScene(t, 9)
	ctx := t.Context()
	exec(t, s.db, `UPDATE device SET platform = 'ios' WHERE id <= 4`)
	exec(t, s.db, `UPDATE delivery SET failed_at = '2026-11-30T10:00:00Z'::timestamptz + device_id * interval '1 hour'`)
	at := func(text string) *time.Time { return new(must(time.Parse(time.RFC3339, text))(t)) }
	for name, c := range map[string]struct {
		f    ArchiveFilter
		want int64
	}{
		"platform":           {ArchiveFilter{Platform: "ios"}, 4},
		"other platform":     {ArchiveFilter{Platform: "web"}, 0},
		"since":              {ArchiveFilter{Since: at("2026-11-30T13:00:00Z")}, 7},
		"until is not in it": {ArchiveFilter{Until: at("2026-11-30T13:00:00Z")}, 2},
		"a zone of its own":  {ArchiveFilter{Since: at("2026-11-30T22:00:00+09:00"), Until: at("2026-11-30T15:00:00Z")}, 2},
		"all of it":          {ArchiveFilter{Notice: &s.id, Reason: "rejected", Platform: "ios", Since: at("2026-11-30T14:00:00Z")}, 1},
	} {
		list := allArchived(t, s.db, c.f, 2)
		n, plan := must(s.db.ArchiveCount(ctx, c.f))(t), must(s.db.PlanReplayFilter(ctx, c.f, someone))(t)
		if int64(len(list)) != c.want || n != c.want || plan.Matched != c.want {
			t.Errorf("%s: %d listed, %d counted, %d planned, want %d", name, len(list), n, plan.Matched, c.want)
		}
	}
	run := must(s.db.StartReplayFilter(ctx, ArchiveFilter{Platform: "ios", Until: at("2026-11-30T13:00:00Z")}, someone))(t)
	if got := s.replayAll(run.ID, 1); got.Replayed != 2 {
		t.Errorf("the run: %+v", got)
	}
	a, b := ArchiveFilter{Since: at("2026-11-30T22:00:00+09:00")}, ArchiveFilter{Since: at("2026-11-30T13:00:00Z")}
	if (selected{filter: &a}).digest() != (selected{filter: &b}).digest() {
		t.Error("the same moment in another zone is another selection")
	}
	var invalid *InvalidError
	for field, f := range map[string]ArchiveFilter{
		"platform": {Platform: "fax"}, "until": {Since: at("2026-11-30T13:00:00Z"), Until: at("2026-11-30T13:00:00Z")}, "code": {Code: "a\x00"}, "reason": {Reason: "\n"},
	} {
		_, err := s.db.Archive(ctx, f, "", 10)
		_, err2 := s.db.PlanReplayFilter(ctx, f, someone)
		for _, err := range []error{err, err2} {
			if !errors.As(err, &invalid) || invalid.Fields[0].Field != field {
				t.Errorf("%+v: %v", f, err)
			}
		}
	}
}
