package db

import (
	"errors"
	"testing"
)

// A plan in which nobody would be told makes no run, by whatever way it is started.
func TestPlanOfNobodyMakesNoRun(t *testing.T) {
	s := failedScene(t, 4)
	exec(t, s.db, `UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired'`)
	p := must(s.db.PlanReplayFilter(t.Context(), ArchiveFilter{Notice: &s.id}, someone))(t)
	_, _, err := s.db.StartPlan(t.Context(), p.ID, someone)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Code != "nothing_to_replay" {
		t.Fatalf("started: %v", err)
	}
	if n := ask[int](t, s.db, `SELECT (SELECT count(*) FROM replay) + (SELECT count(*) FROM audit WHERE act = 'archive.replay')`); n != 0 {
		t.Errorf("%d rows of a run that there is not", n)
	}
	exec(t, s.db, `UPDATE device SET disabled_at = NULL, disabled_reason = NULL WHERE id = 2`)
	p = must(s.db.PlanReplayFilter(t.Context(), ArchiveFilter{Notice: &s.id}, someone))(t)
	if r := s.startPlan(p.ID); r.Matched != 4 {
		t.Errorf("a new plan: %+v", r)
	}
}
