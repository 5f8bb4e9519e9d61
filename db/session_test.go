package db

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// ctxStore is what a session manager asks of a store that takes contexts.
type ctxStore interface {
	Find(token string) ([]byte, bool, error)
	Commit(token string, b []byte, expiry time.Time) error
	Delete(token string) error
	FindCtx(ctx context.Context, token string) ([]byte, bool, error)
	CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error
	DeleteCtx(ctx context.Context, token string) error
}

func nobody([]byte) SessionOwner { return SessionOwner{} }

func TestSession(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	var s ctxStore = db.Sessions(nobody)
	find := func(want string) {
		t.Helper()
		data, found, err := s.FindCtx(ctx, "cookie")
		if err != nil || string(data) != want || found != (want != "") {
			t.Errorf("found %q, %v, %v; want %q", data, found, err, want)
		}
	}
	commit := func(data string, expiry time.Time) {
		t.Helper()
		if err := s.CommitCtx(ctx, "cookie", []byte(data), expiry); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Hour)

	find("")
	commit("one", later)
	find("one")
	commit("two", later)
	find("two")
	if got := ask[int](t, db, "SELECT count(*) FROM web_session WHERE position('cookie' IN encode(token_hash, 'escape')) > 0"); got != 0 {
		t.Error("the cookie's token is stored")
	}
	commit("two", time.Now().Add(-time.Second))
	find("")
	commit("three", later)
	if err := s.DeleteCtx(ctx, "cookie"); err != nil {
		t.Fatal(err)
	}
	find("")
	commit("back from the dead", later)
	find("")
	if n := ask[int](t, db, "SELECT count(*) FROM web_session WHERE ended_at IS NOT NULL AND data = ''"); n != 1 {
		t.Errorf("%d tombstones without data, want 1", n)
	}
	if err := s.DeleteCtx(ctx, "never was"); err != nil {
		t.Errorf("delete of none: %v", err)
	}
}

func TestSessionWithoutContext(t *testing.T) {
	s := newDB(t).Sessions(nobody)
	if err := s.Commit("cookie", []byte("x"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if data, found, err := s.Find("cookie"); string(data) != "x" || !found || err != nil {
		t.Errorf("found %q, %v, %v", data, found, err)
	}
	if err := s.Delete("cookie"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Find("cookie"); found || err != nil {
		t.Errorf("after delete: %v, %v", found, err)
	}
}

// A poll that is under way while somebody signs out commits its session before,
// after or during the end of it. The session stays ended.
func TestSessionRevivalRace(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	s := db.Sessions(nobody)
	later := time.Now().Add(time.Hour)
	for i := range 50 {
		token := string(rune('a' + i))
		if err := s.CommitCtx(ctx, token, []byte("in"), later); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := s.CommitCtx(ctx, token, []byte("poll"), later); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := s.DeleteCtx(ctx, token); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if _, found, err := s.FindCtx(ctx, token); found || err != nil {
			t.Fatalf("round %d: found %v, %v", i, found, err)
		}
	}
}

func TestSessionsOfAUserEnd(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	var ids []int64
	for _, email := range []string{"kim@example.com", "lee@example.com"} {
		u, err := db.AddUser(ctx, email, Operator, "hash", someone)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, u.ID)
	}
	s := db.Sessions(func(data []byte) SessionOwner { return SessionOwner{User: ids[data[0]-'0']} })
	for token, data := range map[string]string{"a": "0", "b": "0", "c": "1"} {
		if err := s.CommitCtx(ctx, token, []byte(data), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := db.EndUserSessions(ctx, ids[0], someone); n != 2 || err != nil {
		t.Errorf("ended %d, %v; want 2", n, err)
	}
	for token, want := range map[string]bool{"a": false, "b": false, "c": true} {
		if _, found, err := s.FindCtx(ctx, token); found != want || err != nil {
			t.Errorf("session %s: found %v, %v; want %v", token, found, err, want)
		}
	}
}

func TestSessionSweep(t *testing.T) {
	db := newDB(t)
	exec(t, db, `INSERT INTO web_session (token_hash, data, expires_at)
		SELECT sha256(i::text::bytea), '', now() - interval '2 hours' FROM generate_series(1, 2500) i`)
	exec(t, db, `INSERT INTO web_session (token_hash, data, expires_at, ended_at)
		VALUES ('recent', '', now() - interval '30 minutes', now()), ('live', '', now() + interval '1 hour', NULL)`)
	if n, err := db.SweepSessions(t.Context()); n != 2500 || err != nil {
		t.Errorf("swept %d, %v; want 2500", n, err)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM web_session"); n != 2 {
		t.Errorf("%d left, want the recent tombstone and the live one", n)
	}
}

// A database that takes connections and never answers is an error in time, also
// for the questions without a context.
func TestSessionDeadline(t *testing.T) {
	hole, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	db, err := Open(t.Context(), "postgres://x@"+hole.Addr().String()+"/x?sslmode=disable",
		Limits{MaxConns: 2, Wait: 100 * time.Millisecond, Transaction: 100 * time.Millisecond, Lock: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	start := time.Now()
	if _, found, err := db.Sessions(nobody).Find("cookie"); found || err == nil {
		t.Errorf("found %v, %v; want an error", found, err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
