package db

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"
)

func TestTriesRunOutAndComeBack(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	pair, account := TryBudget{"pair", 3, 10 * time.Second}, TryBudget{"account", 5, 2 * time.Second}
	near := func(when string, got, want time.Duration) {
		t.Helper()
		if got > want || got < want-2*time.Second {
			t.Errorf("%s: wait %s, want up to %s", when, got, want)
		}
	}
	for i := range 3 {
		if wait := must(db.TakeTries(ctx, pair, account))(t); wait != 0 {
			t.Errorf("try %d waits %s", i+1, wait)
		}
	}
	for range 3 { // a try that is refused is not spent
		near("after three", must(db.TakeTries(ctx, pair, account))(t), 10*time.Second)
	}
	for i := range 2 { // nor did the refused ones spend anything of the other
		if wait := must(db.TakeTries(ctx, account))(t); wait != 0 {
			t.Errorf("try %d of the account waits %s", i+4, wait)
		}
	}
	near("the account", must(db.TakeTries(ctx, account))(t), 2*time.Second)

	exec(t, db, "UPDATE sign_in_budget SET full_at = full_at - interval '10 seconds'")
	if wait := must(db.TakeTries(ctx, pair))(t); wait != 0 {
		t.Errorf("after its time it waits %s", wait)
	}
	near("and is used up", must(db.TakeTries(ctx, pair))(t), 10*time.Second)
	ok(t, db.GiveTriesBack(ctx, pair))
	if wait := must(db.TakeTries(ctx, pair))(t); wait != 0 {
		t.Errorf("what was given back is not there: %s", wait)
	}
	if wait := must(db.TakeTries(ctx, TryBudget{"other", 3, time.Hour}))(t); wait != 0 {
		t.Errorf("another key waits %s", wait)
	}
	for range 5 {
		ok(t, db.GiveTriesBack(ctx, TryBudget{"given", 1, time.Hour})) // saves nothing up
	}
	must(db.TakeTries(ctx, TryBudget{"given", 1, time.Hour}))(t)
	if wait := must(db.TakeTries(ctx, TryBudget{"given", 1, time.Hour}))(t); wait == 0 {
		t.Error("tries that were given back too often were saved up")
	}
	if bytes.Contains(ask[[]byte](t, db, "SELECT string_agg(key, '') FROM sign_in_budget"), []byte("account")) {
		t.Error("the table holds what is counted")
	}
}

// Two stores, as of two processes, share a budget, and many at once do not slip through.
func TestTriesHoldOverProcesses(t *testing.T) {
	one := newDB(t)
	two := must(Open(context.Background(), one.pool.Config().ConnString(), testLimits))(t)
	defer two.Close()
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for i := range 40 {
		db, keys := one, []TryBudget{{"a", 5, time.Hour}, {"b", 30, time.Hour}}
		if i%2 == 1 {
			db, keys[0], keys[1] = two, keys[1], keys[0]
		}
		all.Go(func() {
			wait, err := db.TakeTries(t.Context(), keys...)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if wait == 0 {
				taken++
			}
		})
	}
	all.Wait()
	if taken != 5 {
		t.Errorf("%d tries of 5", taken)
	}
}

func TestTriesAreSwept(t *testing.T) {
	db := newDB(t)
	must(db.TakeTries(t.Context(), TryBudget{"a", 5, time.Hour}, TryBudget{"b", 5, time.Hour}, TryBudget{"c", 5, time.Hour}))(t)
	exec(t, db, "UPDATE sign_in_budget SET full_at = now() - interval '1 second' WHERE key IN (sha256('a'), sha256('b'))")
	if n := must(db.SweepTries(t.Context()))(t); n != 2 {
		t.Errorf("swept %d, want 2", n)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM sign_in_budget"); n != 1 {
		t.Errorf("%d left", n)
	}
}
