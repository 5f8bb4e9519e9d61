package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

// upload stores text in parts of n bytes and gives what is known of it.
func upload(t testing.TB, db *DB, text string, n int) (int64, ImportFile) {
	t.Helper()
	ctx := t.Context()
	id := must(db.NewUpload(ctx, someone))(t)
	f := ImportFile{Name: "list.csv", Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
	for rest := text; rest != ""; f.Chunks++ {
		part := rest[:min(n, len(rest))]
		rest = rest[len(part):]
		for range 2 { // given twice, kept once
			if err := db.AddUploadChunk(ctx, id, f.Chunks, []byte(part)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return id, f
}

// take accepts text as an import.
func take(t testing.TB, db *DB, text string, o ImportOptions, by Actor) AcceptedImport {
	t.Helper()
	id, f := upload(t, db, text, ChunkSize)
	return must(db.AcceptImport(t.Context(), id, f, o, by))(t)
}

const shortList = "token,platform\na,ios\n"

func TestSameFileIsOneImport(t *testing.T) {
	db := newDB(t)
	other := UserActor(9, "lee@example.com", Operator, "")
	first := take(t, db, shortList, ImportOptions{}, someone)
	if first.Original || first.State != ImportPending || first.FileName != "list.csv" || first.FileSize != int64(len(shortList)) {
		t.Errorf("accepted %+v", first)
	}
	same := func(what string, o ImportOptions, by Actor, want bool) {
		t.Helper()
		if got := take(t, db, shortList, o, by); got.Original != want || (got.ID == first.ID) != want {
			t.Errorf("%s: import %d, original %v; want %v", what, got.ID, got.Original, want)
		}
	}
	same("at once", ImportOptions{}, someone, true)
	exec(t, db, "UPDATE import SET accepted_at = accepted_at - interval '2 minutes'")
	same("two minutes later", ImportOptions{}, someone, true)
	exec(t, db, "UPDATE import SET accepted_at = accepted_at - interval '3 hours'")
	same("hours later and not ended", ImportOptions{}, someone, true)
	exec(t, db, "UPDATE import SET accepted_at = now() - interval '59 minutes', state = 'done' WHERE id = $1", first.ID)
	same("59 minutes later and done", ImportOptions{}, someone, true)
	same("with another option", ImportOptions{Enable: true}, someone, false)
	same("by another", ImportOptions{}, other, false)
	same("on purpose", ImportOptions{AgainOf: first.ID}, someone, false)
	if n := ask[int](t, db, "SELECT count(*) FROM upload"); n != 4 {
		t.Errorf("%d uploads are kept, want those of the four imports", n)
	}
	exec(t, db, "UPDATE import SET accepted_at = now() - interval '61 minutes' WHERE id = $1", first.ID)
	same("61 minutes later", ImportOptions{}, someone, false)
	for _, state := range []string{"cancelled", "failed"} {
		again := take(t, db, shortList, ImportOptions{}, someone)
		exec(t, db, `UPDATE import SET state = $1, error_code = CASE $1 WHEN 'failed' THEN 'x' END WHERE id = $2`, state, again.ID)
		if next := take(t, db, shortList, ImportOptions{}, someone); next.ID == again.ID || next.Original {
			t.Errorf("after one that %s: %d, original %v", state, next.ID, next.Original)
		}
	}
	if again := take(t, db, shortList, ImportOptions{AgainOf: first.ID}, someone); !again.Original || *again.AgainOf != first.ID {
		t.Errorf("on purpose, twice: %+v", again)
	}
}

func TestSameFileAtOnce(t *testing.T) {
	db := newDB(t)
	second, err := Open(t.Context(), db.pool.Config().ConnString(), testLimits)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	var wg sync.WaitGroup
	var mu sync.Mutex
	ids, fresh := map[int64]bool{}, 0
	for i := range 20 {
		wg.Go(func() {
			d := []*DB{db, second}[i%2]
			id, f := upload(t, d, shortList, 5)
			got, err := d.AcceptImport(t.Context(), id, f, ImportOptions{}, someone)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[got.ID] = true
			if !got.Original {
				fresh++
			}
		})
	}
	wg.Wait()
	if len(ids) != 1 || fresh != 1 {
		t.Errorf("%d imports, %d of them new", len(ids), fresh)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM import") + 10*ask[int](t, db, "SELECT count(*) FROM upload"); n != 11 {
		t.Errorf("imports and ten times uploads are %d, want 11", n)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM audit WHERE act = 'import.accept'"); n != 1 {
		t.Errorf("%d lines in the audit log", n)
	}
}

// An acceptance whose audit line cannot be written is none; a client that leaves
// changes nothing.
func TestAcceptImportIsWhole(t *testing.T) {
	db := newDB(t)
	id, f := upload(t, db, shortList, ChunkSize)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := db.AcceptImport(gone, id, f, ImportOptions{}, someone); err != nil || got.Original {
		t.Errorf("a client that left: %+v, %v", got, err)
	}
	refuseAudit(t, db)
	id, f = upload(t, db, "token,platform\nb,ios\n", ChunkSize)
	if _, err := db.AcceptImport(t.Context(), id, f, ImportOptions{}, someone); err == nil {
		t.Error("it was accepted without an audit line")
	}
	if n := ask[int](t, db, "SELECT count(*) FROM import"); n != 1 {
		t.Errorf("%d imports", n)
	}
	if _, err := db.AcceptImport(t.Context(), id, f, ImportOptions{AgainOf: 77}, someone); fieldsOf(err) != "again_of" {
		t.Errorf("again of nothing: %v", err)
	}
}

func TestUploadsThatBecameNothing(t *testing.T) {
	db := newDB(t)
	feeder := must(db.Lead(t.Context(), "one", time.Minute))(t)
	kept := take(t, db, shortList, ImportOptions{}, someone)
	dropped, _ := upload(t, db, "x", 1)
	old, _ := upload(t, db, "y", 1)
	for _, id := range []int64{dropped, ask[int64](t, db, "SELECT upload_id FROM import WHERE id = $1", kept.ID)} {
		if err := db.DropUpload(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask[int](t, db, "SELECT count(*) FROM upload_chunk"); n != 2 {
		t.Errorf("%d parts, want that of the import and the old one", n)
	}
	exec(t, db, "UPDATE upload SET begun_at = now() - interval '61 minutes' WHERE id = $1", old)
	if err := db.CleanImports(t.Context(), feeder); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM upload_chunk"); n != 1 {
		t.Errorf("%d parts after the sweep, want the import's", n)
	}
	if _, err := db.UploadChunk(t.Context(), old, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("a part that is gone: %v", err)
	}
}

func TestActsOnImports(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	i := take(t, db, shortList, ImportOptions{}, someone)
	code := func(err error) string {
		var c *ConflictError
		if errors.As(err, &c) {
			return c.Code
		}
		return ""
	}
	if _, err := db.ConfirmImport(ctx, i.ID, 0, true, someone); code(err) != "wrong_state" {
		t.Errorf("confirmed unasked: %v", err)
	}
	if _, err := db.DeclineImport(ctx, i.ID, someone); code(err) != "wrong_state" {
		t.Errorf("declined unasked: %v", err)
	}
	got := must(db.CancelImport(ctx, i.ID, someone))(t)
	if got.State != ImportCancelled || got.FinishedAt == nil || *got.EndedByName != someone.Name {
		t.Errorf("cancelled: %+v", got)
	}
	if _, err := db.CancelImport(ctx, i.ID, someone); code(err) != "wrong_state" {
		t.Errorf("cancelled twice: %v", err)
	}
	if _, err := db.CancelImport(ctx, 99, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("cancelled nothing: %v", err)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM audit WHERE act LIKE 'import.%'"); n != 2 {
		t.Errorf("%d lines in the audit log, want the acceptance and the cancellation", n)
	}
}

func TestImportsAreListed(t *testing.T) {
	db := newDB(t)
	other := TokenActor(3, "shop", Operator, "")
	take(t, db, shortList, ImportOptions{}, someone)
	take(t, db, shortList, ImportOptions{}, other)
	exec(t, db, "UPDATE import SET state = 'done' WHERE accepted_by = $1", other.ID)
	for f, want := range map[ImportFilter]int{{}: 2, {By: other.ID}: 1, {State: "done"}: 1, {State: "pending"}: 1, {By: someone.ID, State: "done"}: 0} {
		if p := must(db.Imports(t.Context(), f, "", 10))(t); len(p.Items) != want {
			t.Errorf("%+v: %d, want %d", f, len(p.Items), want)
		}
	}
	p := must(db.Imports(t.Context(), ImportFilter{}, "", 1))(t)
	if q := must(db.Imports(t.Context(), ImportFilter{}, p.Next, 1))(t); len(q.Items) != 1 || q.Items[0].ID >= p.Items[0].ID || q.Next != "" {
		t.Errorf("pages %+v, %+v", p, q)
	}
}

// An import is rung once, and again when its worker's lease has ended, under a new
// number; not while somebody works on it.
func TestImportsAreRung(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	term := must(db.Lead(ctx, "one", time.Minute))(t)
	i := take(t, db, shortList, ImportOptions{}, someone)
	open := func(want ...int64) {
		t.Helper()
		var got []int64
		for _, r := range must(db.OpenImports(ctx, term, time.Minute))(t) {
			got = append(got, r.Ring)
			ok(t, db.MarkImportRung(ctx, term, r))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rung %v, want %v", got, want)
		}
	}
	open(1)
	open()
	w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
	open()
	exec(t, db, "UPDATE import SET lease_until = now() - interval '1 second'")
	open(2)
	if _, err := db.BeginImport(ctx, i.ID, 1, time.Minute); !errors.Is(err, ErrStale) {
		t.Errorf("the old ring begins: %v", err)
	}
	if err := db.HoldImport(ctx, w, time.Minute); err != nil {
		t.Errorf("a worker that is late and that nobody has overtaken: %v", err)
	}
	ok(t, db.YieldImport(ctx, w))
	open(3)
	exec(t, db, "UPDATE import SET rung_at = now() - interval '2 minutes'")
	open(4)
}
