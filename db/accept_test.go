package db

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"bongsu/db/dbtest"
)

// twoPools gives two stores over one database, as two processes have.
func twoPools(t *testing.T) [2]*DB {
	t.Helper()
	url := dbtest.URL(t)
	var dbs [2]*DB
	for i := range dbs {
		db, err := Open(t.Context(), url, testLimits)
		ok(t, err)
		t.Cleanup(db.Close)
		dbs[i] = db
	}
	return dbs
}

func TestG1HundredAtOnceAreOneNotice(t *testing.T) {
	keys := map[string]*ClientKey{"by content": nil, "by the client's key": {TokenID: 7, Key: "k-1"}}
	for name, key := range keys {
		t.Run(name, func(t *testing.T) {
			dbs := twoPools(t)
			ids, fresh, errs := make([]int64, 100), make([]bool, 100), make([]error, 100)
			together(100, func(i int) {
				a, err := dbs[i%2].AcceptNotice(t.Context(), Draft{Title: "t", Body: "b"}, someone, key, time.Hour)
				ids[i], fresh[i], errs[i] = a.Notice.ID, !a.Replayed, err
			})
			first := 0
			for i := range ids {
				ok(t, errs[i])
				if ids[i] != ids[0] {
					t.Fatalf("two notices: %d and %d", ids[0], ids[i])
				}
				if fresh[i] {
					first++
				}
			}
			if n := ask[int](t, dbs[0], `SELECT count(*) FROM notice`); n != 1 || first != 1 {
				t.Fatalf("%d notices, %d answers say that theirs is the first", n, first)
			}
			if n := ask[int](t, dbs[0], `SELECT count(*) FROM notice_counter`); n != shards {
				t.Fatalf("%d counter rows", n)
			}
			if n := ask[int](t, dbs[0], `SELECT count(*) FROM audit WHERE act = 'notice.accept'`); n != 1 {
				t.Fatalf("%d audit rows", n)
			}
			sums(t, dbs[0], ids[0])
		})
	}
}

func TestG1SameTextInAnotherFormIsTheSameNotice(t *testing.T) {
	db := newDB(t)
	of := func(title, body string) Draft {
		return Draft{Title: title, Body: body, Audience: Audience{Tags: []string{"b", "a"}}}
	}
	first := accept(t, db, of("봉수", "한 줄\n두 줄"))
	same := map[string]Draft{
		"CR LF":          of("봉수", "한 줄\r\n두 줄"),
		"CR":             of("봉수", "한 줄\r두 줄"),
		"NFD":            of(norm.NFD.String("봉수"), norm.NFD.String("한 줄\n두 줄")),
		"ends":           of("  봉수\t", "\n한 줄\n두 줄 \r\n"),
		"order of tags":  {Title: "봉수", Body: "한 줄\n두 줄", Audience: Audience{Tags: []string{"a", "b", "a"}}},
		"category named": {Title: "봉수", Body: "한 줄\n두 줄", Category: "info", Audience: Audience{Tags: []string{"a", "b"}}},
	}
	for name, d := range same {
		if got := accept(t, db, d); got.ID != first.ID {
			t.Errorf("%s: another notice", name)
		}
	}
	other := map[string]Draft{
		"two lines in one": of("봉수", "한 줄 두 줄"),
		"NFKC":             of("봉수", "한 줄\n두 줄①"),
		"a link":           {Title: "봉수", Body: "한 줄\n두 줄", Link: "https://example.com", Audience: Audience{Tags: []string{"a", "b"}}},
		"category":         {Title: "봉수", Body: "한 줄\n두 줄", Category: "ad", Audience: Audience{Tags: []string{"a", "b"}}},
		"audience":         {Title: "봉수", Body: "한 줄\n두 줄"},
		"moved border":     of("봉수한", "줄\n두 줄"),
	}
	seen := []int64{first.ID}
	for name, d := range other {
		got := accept(t, db, d)
		if slices.Contains(seen, got.ID) {
			t.Errorf("%s: not a notice of its own", name)
		}
		seen = append(seen, got.ID)
	}
}

func wantConflict(t *testing.T, err error, code string, id int64) {
	t.Helper()
	var c *ConflictError
	if !errors.As(err, &c) || c.Code != code || c.ID != id {
		t.Fatalf("got %v, want the conflict %s with notice %d", err, code, id)
	}
}

func TestG1KeyNamesOneContent(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	d := Draft{Title: "t", Body: "b"}
	put := func(d Draft, token int64, key string) (Acceptance, error) {
		return db.AcceptNotice(ctx, d, someone, &ClientKey{token, key}, time.Hour)
	}
	first := must(put(d, 7, "k"))(t)
	_, err := put(Draft{Title: "t", Body: "other"}, 7, "k")
	wantConflict(t, err, "key_reused", first.Notice.ID)
	if again := must(put(d, 7, "k"))(t); !again.Replayed || again.Notice.ID != first.Notice.ID {
		t.Fatalf("again: %+v", again)
	}
	if other := must(put(d, 8, "k"))(t); other.Replayed || other.Notice.ID == first.Notice.ID {
		t.Fatal("another token's key names the same notice")
	}
	if n := ask[int](t, db, `SELECT count(*) FROM notice`); n != 2 {
		t.Fatalf("%d notices", n)
	}
	for _, bad := range []string{"", "a\nb", "é", string(make([]byte, 256))} {
		var invalid *InvalidError
		if _, err := put(d, 7, bad); !errors.As(err, &invalid) {
			t.Errorf("key %q: %v", bad, err)
		}
	}
}

func TestG1AnotherExpiryIsAConflict(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	at := time.Now().Add(time.Hour)
	later := at.Add(time.Minute)
	put := func(title string, at *time.Time) (Acceptance, error) {
		return db.AcceptNotice(ctx, Draft{Title: title, Body: "b", ExpiresAt: at}, someone, nil, time.Hour)
	}
	given, without := must(put("given", &at))(t), must(put("without", nil))(t)
	_, err := put("given", &later)
	wantConflict(t, err, "expires_at_differs", given.Notice.ID)
	_, err = put("without", &at)
	wantConflict(t, err, "expires_at_differs", without.Notice.ID)
	for _, same := range []*time.Time{&at, nil} {
		if a := must(put("given", same))(t); a.Notice.ID != given.Notice.ID || !a.Replayed {
			t.Fatalf("with %v: %+v", same, a)
		}
	}
	past := time.Now().Add(-time.Second)
	var invalid *InvalidError
	if _, err := put("past", &past); !errors.As(err, &invalid) || invalid.Fields[0].Field != "expires_at" {
		t.Fatalf("an expiry in the past: %v", err)
	}
	if n := ask[int](t, db, `SELECT count(*) FROM notice`); n != 2 {
		t.Fatalf("%d notices", n)
	}
}

func TestRepeatsFormOneChainThatNamesItsNewest(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	put := func(of *int64) Acceptance {
		t.Helper()
		return must(db.AcceptNotice(ctx, Draft{Title: "t", Body: "b", RepeatOf: of}, someone, nil, time.Hour))(t)
	}
	a := put(nil).Notice.ID
	b := put(&a).Notice.ID
	if again := put(&a); again.Notice.ID != b || !again.Replayed {
		t.Fatalf("the same repeat pressed twice: %+v", again)
	}
	c := put(&b).Notice.ID
	_, _, err := db.PauseNotice(ctx, c, someone)
	ok(t, err)
	if a == b || b == c {
		t.Fatal("a repeat is not a notice of its own")
	}
	if got := put(nil); got.Notice.ID != a || got.Newest != c || got.NewestState != Paused {
		t.Fatalf("the original: %+v", got)
	}
	for _, id := range []int64{a, b, c} {
		newest, state, err := db.NewestRepeat(ctx, id)
		if ok(t, err); newest != c || state != Paused {
			t.Fatalf("newest of %d: %d %s", id, newest, state)
		}
	}
	unknown := int64(999)
	var invalid *InvalidError
	_, err = db.AcceptNotice(ctx, Draft{Title: "t", Body: "b", RepeatOf: &unknown}, someone, nil, time.Hour)
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != "repeat_of" {
		t.Fatalf("an unknown repeat_of: %v", err)
	}
	if _, _, err := db.NewestRepeat(ctx, unknown); !errors.Is(err, ErrNotFound) {
		t.Fatalf("newest of none: %v", err)
	}
	if n := ask[int](t, db, `SELECT count(*) FROM notice`); n != 3 {
		t.Fatalf("%d notices", n)
	}
}

func TestG10AcceptanceOutlivesItsClient(t *testing.T) {
	db := newDB(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	before := must(db.AcceptNotice(gone, Draft{Title: "before", Body: "b"}, someone, nil, time.Hour))(t)

	// The client goes away while the statement waits for a lock.
	tx, err := db.pool.Begin(t.Context())
	ok(t, err)
	defer tx.Rollback(context.Background())
	_, err = tx.Exec(t.Context(), `LOCK TABLE notice IN EXCLUSIVE MODE`)
	ok(t, err)
	ctx, leave := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	var during Acceptance
	go func() {
		var err error
		during, err = db.AcceptNotice(ctx, Draft{Title: "during", Body: "b"}, someone, nil, time.Hour)
		answer <- err
	}()
	until(t, func() bool { return waitsForLock(t, db) })
	leave()
	ok(t, tx.Rollback(t.Context()))
	ok(t, <-answer)
	for _, id := range []int64{before.Notice.ID, during.Notice.ID} {
		if _, _, err := db.Notice(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		sums(t, db, id)
	}
}

// until waits for cond, and fails after ten seconds.
func until(t testing.TB, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass")
		}
	}
}

// A notice keeps the trace in which it was stored, whoever submits it again; the
// trace is no part of what makes it one and the same.
func TestNoticeKeepsItsFirstTrace(t *testing.T) {
	db := twoPools(t)[0]
	const first, later = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-11111111111111111111111111111111-2222222222222222-01"
	for _, given := range []string{first, later, ""} {
		a, err := db.AcceptNotice(t.Context(), Draft{Title: "t", Body: "b", Traceparent: given}, someone, nil, time.Hour)
		ok(t, err)
		if a.Notice.Traceparent == nil || *a.Notice.Traceparent != first || a.Replayed != (given != first) {
			t.Errorf("submitted in %q it has %v, replayed %t", given, a.Notice.Traceparent, a.Replayed)
		}
		if again := a.Notice.Draft(); again.Traceparent != "" {
			t.Errorf("what is sent once more would carry the trace %q", again.Traceparent)
		}
	}
	a, err := db.AcceptNotice(t.Context(), Draft{Title: "untraced", Body: "b"}, someone, nil, time.Hour)
	ok(t, err)
	if a.Notice.Traceparent != nil {
		t.Errorf("a notice without a trace has %q", *a.Notice.Traceparent)
	}
}
