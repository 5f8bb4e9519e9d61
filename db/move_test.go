package db

import (
	"testing"
	"time"
)

// What waits for a device that has gone to another scope is not called where it was; it
// follows, with the counts, and is due where the device is now.
func TestWhatWaitsFollowsAMove(t *testing.T) {
	s := newScene(t, 20)
	exec(t, s.db, `UPDATE device SET kind = 'fcm' WHERE id IN (3, 7)`)
	if claims := s.claim(100); len(claims) != 18 {
		t.Fatalf("%d are claimed where they were, want 18", len(claims))
	}
	if n := must(s.db.FollowMoves(t.Context(), s.term, 10))(t); n != 2 {
		t.Fatalf("%d follow, want 2", n)
	}
	s.counts()
	for scope, want := range map[string]int{"http": 18, "fcm:android": 2} {
		if got := ask[int](t, s.db, `SELECT coalesce(sum(total), 0) FROM notice_counter WHERE scope = $1`, scope); got != want {
			t.Errorf("%s counts %d, want %d", scope, got, want)
		}
	}
	if got := ask[int](t, s.db, `SELECT count(*) FROM notice_counter WHERE scope = 'fcm:android'`); got != shards {
		t.Errorf("the new scope has %d rows of counts, want %d", got, shards)
	}
	b := must(s.db.claimOne(t.Context(), Want{Scope: "fcm:android", Notice: s.id, Due: true, Limit: 10}, time.Minute, 5))(t)
	if len(b.Claims) != 2 || b.Claims[0].Kind != "fcm" || b.Claims[0].Scope != "fcm:android" {
		t.Errorf("claimed where they are now: %+v", b)
	}
	s.counts()
	exec(t, s.db, `UPDATE device_move SET look_at = now()`)
	if n := must(s.db.FollowMoves(t.Context(), s.term, 10))(t); n != 0 {
		t.Errorf("the second time %d follow", n)
	}
}

// A move is remembered while a notice is open that may have seen the device before.
func TestMovesAreForgotten(t *testing.T) {
	s := newScene(t, 5)
	exec(t, s.db, `UPDATE device SET kind = 'fcm' WHERE id = 3`)
	old := `UPDATE device_move SET look_at = now(), moved_at = now() - interval '1 hour'`
	exec(t, s.db, old)
	exec(t, s.db, `UPDATE notice SET accepted_at = now() - interval '2 hours'`)
	must(s.db.FollowMoves(t.Context(), s.term, 10))(t)
	if got := ask[int](t, s.db, `SELECT count(*) FROM device_move`); got != 1 {
		t.Fatal("forgotten while a notice from before is open")
	}
	exec(t, s.db, old)
	exec(t, s.db, `UPDATE notice SET settled_at = now()`)
	must(s.db.FollowMoves(t.Context(), s.term, 10))(t)
	if got := ask[int](t, s.db, `SELECT count(*) FROM device_move`); got != 0 {
		t.Error("remembered for nobody")
	}
}
