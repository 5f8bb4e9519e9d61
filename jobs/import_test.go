package jobs

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// takes lets the processes of the house take imports.
func (h *house) takes(c *Config) { c.Imports = h.db }

// list uploads text and makes an import of it.
func (h *house) list(text string, o db.ImportOptions) int64 {
	h.t.Helper()
	ctx := h.t.Context()
	up, err := h.db.NewUpload(ctx, by)
	h.no(err)
	f := db.ImportFile{Name: "list.csv", Size: int64(len(text)), SHA256: sha256.Sum256([]byte(text))}
	for rest := text; rest != ""; f.Chunks++ {
		part := rest[:min(db.ChunkSize, len(rest))]
		rest = rest[len(part):]
		h.no(h.db.AddUploadChunk(ctx, up, f.Chunks, []byte(part)))
	}
	i, err := h.db.AcceptImport(ctx, up, f, o, by)
	h.no(err)
	return i.ID
}

// ended waits for the import and checks that its parts add up all the way.
func (h *house) ended(id int64) db.Import {
	h.t.Helper()
	return h.importWhen(id, func(i db.Import) bool { return i.Ended() })
}

func (h *house) importWhen(id int64, is func(db.Import) bool) db.Import {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		i, err := h.db.Import(h.t.Context(), id)
		h.no(err)
		if i.Processed() > i.Total {
			h.t.Fatalf("%d rows of %d are done: %+v", i.Processed(), i.Total, i)
		}
		if is(i) {
			return i
		}
		if time.Now().After(end) {
			h.t.Fatalf("it never came: %+v", i)
		}
	}
}

// sum is what an import came to, in short.
func sum(i db.Import) string {
	return fmt.Sprintf("%s total %d created %d updated %d unchanged %d rejected %d doubled %d",
		i.State, i.Total, i.Created, i.Updated, i.Unchanged, i.Rejected, i.Doubled)
}

func (h *house) sums(id int64, want string) db.Import {
	h.t.Helper()
	i := h.ended(id)
	if got := sum(i); got != want {
		h.t.Errorf("import %d: %s\nwant %s (%v)", id, got, want, i.ErrorMessage)
	}
	if i.State == "done" && i.Processed() != i.Total {
		h.t.Errorf("import %d is done with %d of %d rows", id, i.Processed(), i.Total)
	}
	return i
}

// look gives the one text that a query answers.
func (h *house) look(sql string, args ...any) (s string) {
	h.t.Helper()
	h.no(h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&s))
	return s
}

func TestImport(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.process(h.takes)
	id := h.list("token,platform,user,tags,consent,installation,shoe size\n"+
		"a,ios,kim,vip|gold,true,i1,42\n"+ // 2
		"b,android,lee,,no,,\n"+ // 3
		"c,palm,kim,,,,\n"+ // 4: no such platform
		",ios,kim,,,,\n"+ // 5: no token
		"d,web,kim,,maybe,,\n"+ // 6: no consent that is known
		"a,web,kim,vip,,,\n", db.ImportOptions{}) // 7: overtakes 2
	i := h.sums(id, "done total 6 created 2 updated 0 unchanged 0 rejected 3 doubled 1")
	if strings.Join(i.Ignored, ",") != "shoe size" || !i.TotalKnown || i.StartedAt == nil || i.FinishedAt == nil || i.BytesRead != i.FileSize {
		t.Errorf("%+v", i)
	}
	if got := h.look(`SELECT string_agg(concat_ws('/', token, platform, person, tags, consent, installation), ' ' ORDER BY token) FROM device`); got != "a/web/kim/{vip}/t b/android/lee/{}/f" {
		t.Errorf("devices %s", got)
	}
	rejects, err := h.db.ImportRejects(t.Context(), id, 0, 10)
	h.no(err)
	var got []string
	for _, r := range rejects {
		got = append(got, fmt.Sprintf("%d:%s:%s:%s:%s", r.Row, r.Column, r.Value, r.Reason, strings.Join(r.Cells, ",")))
	}
	want := []string{"4:platform:palm:bad_platform:c,palm,kim,,,,", "5:token::bad_token:,ios,kim,,,,", "6:consent:maybe:bad_consent:d,web,kim,,maybe,,"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rejected\n%q, want\n%q", got, want)
	}
	reasons, err := h.db.ImportReasons(t.Context(), id)
	h.no(err)
	if len(reasons) != 3 || reasons[0].N != 1 {
		t.Errorf("reasons %+v", reasons)
	}
	h.cleaned()
}

// cleaned waits until nothing of ended imports is left but what they came to.
func (h *house) cleaned() {
	h.t.Helper()
	const left = `SELECT (SELECT count(*) FROM upload_chunk) || ' ' || (SELECT count(*) FROM import_row) || ' ' || (SELECT count(*) FROM import_missing)`
	for end := time.Now().Add(20 * time.Second); h.look(left) != "0 0 0"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("left behind: %s", h.look(left))
		}
	}
}

// What a list leaves out stays, opt-outs and disabled devices stay, a token that
// comes with another person moves, and a new token of an installation is the same
// device.
func TestImportOverWhatIsStored(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.process(h.takes)
	no, tags, i1, i2, kim := false, []string{"vip"}, "i1", "i2", "kim"
	_, err := h.db.PutDevices(t.Context(), []db.DeviceInput{
		{Token: "out", Platform: "ios", User: &kim, Consent: &no, Tags: &tags},
		{Token: "gone", Platform: "ios", User: &kim},
		{Token: "old", Platform: "ios", User: &kim, Installation: &i1},
		{Token: "two", Platform: "web", Installation: &i2},
		{Token: "same", Platform: "web", User: &kim},
	}, by)
	h.no(err)
	h.sql("UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired' WHERE token = 'gone'")
	const devices = `SELECT string_agg(concat_ws('/', token, platform, person, tags, consent, installation, disabled_reason), ' ' ORDER BY id) FROM device`
	before := h.look(devices)

	h.sums(h.list("token,platform\nout,ios\ngone,ios\nold,ios\ntwo,web\nsame,web\n", db.ImportOptions{}),
		"done total 5 created 0 updated 0 unchanged 5 rejected 0 doubled 0")
	if got := h.look(devices); got != before {
		t.Errorf("a list that says nothing new changed\n%s to\n%s", before, got)
	}
	h.sums(h.list("token,platform,user,installation\nout,ios,lee,\ngone,ios,lee,\nnew,ios,kim,i1\ntwo,web,,\nsame,web,kim,\n", db.ImportOptions{}),
		"done total 5 created 0 updated 3 unchanged 2 rejected 0 doubled 0")
	if got, want := h.look(devices), "out/ios/lee/{vip}/f gone/ios/lee/{}/t/token_expired new/ios/kim/{}/t/i1 two/web/{}/t/i2 same/web/kim/{}/t"; got != want {
		t.Errorf("devices\n%s, want\n%s", got, want)
	}
	// Two installations change their tokens: both are the same devices still.
	h.sums(h.list("token,platform,installation\ntwo,ios,i1\nnew,web,i2\n", db.ImportOptions{}),
		"done total 2 created 0 updated 2 unchanged 0 rejected 0 doubled 0")
	if got, want := h.look(devices), "out/ios/lee/{vip}/f gone/ios/lee/{}/t/token_expired two/ios/kim/{}/t/i1 new/web/{}/t/i2 same/web/kim/{}/t"; got != want {
		t.Errorf("devices\n%s, want\n%s", got, want)
	}
	h.sums(h.list("token,platform\ngone,ios\n", db.ImportOptions{DryRun: true, Enable: true}), "done total 1 created 0 updated 1 unchanged 0 rejected 0 doubled 0")
	if h.look("SELECT count(*)::text FROM device WHERE disabled_at IS NOT NULL") != "1" {
		t.Error("a dry run enabled a device")
	}
	h.sums(h.list("token,platform\ngone,ios\n", db.ImportOptions{Enable: true}), "done total 1 created 0 updated 1 unchanged 0 rejected 0 doubled 0")
	if h.look("SELECT count(*)::text FROM device WHERE disabled_at IS NOT NULL") != "0" {
		t.Error("an import that enables left the device disabled")
	}
	h.sums(h.list("token,platform\nnever,ios\nsame,ios\nsame,web\n", db.ImportOptions{DryRun: true}), "done total 3 created 1 updated 0 unchanged 1 rejected 0 doubled 1")
	if h.look("SELECT count(*)::text FROM device") != "5" {
		t.Error("a dry run made a device")
	}
}

// sql sets a scene.
func (h *house) sql(sql string, args ...any) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), sql, args...)
	h.no(err)
}

func TestFullList(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(10, good)
	var text strings.Builder
	text.WriteString("token,platform\n")
	for i := range 9 {
		fmt.Fprintf(&text, "%s,%s\n", good(i), map[bool]string{true: "palm", false: "android"}[i == 0])
	}
	asks := func(i db.Import) bool { return i.Phase == "confirm" }

	id := h.list(text.String(), db.ImportOptions{FullList: true})
	h.devicesPut("early") // registered since it was accepted: not missing
	h.process(h.takes)
	i := h.importWhen(id, asks)
	if i.Missing != 1 || i.Enabled != 11 || i.ManyMissing() {
		t.Fatalf("it asks %+v", i)
	}
	h.devicesPut("late") // registered after the count: not missing
	if _, err := h.db.ConfirmImport(t.Context(), id, 3, true, by); err == nil {
		t.Error("another number was confirmed")
	}
	_, err := h.db.ConfirmImport(t.Context(), id, 1, false, by)
	h.no(err)
	i = h.sums(id, "done total 9 created 0 updated 0 unchanged 8 rejected 1 doubled 0")
	if i.Disabled != 1 || h.look("SELECT string_agg(token || disabled_reason, ' ') FROM device WHERE disabled_at IS NOT NULL") != good(9)+"not_in_list" {
		t.Errorf("disabled %d", i.Disabled)
	}

	// More than a fifth wants a second word.
	id = h.list("token,platform\n"+good(0)+",android\n", db.ImportOptions{FullList: true})
	i = h.importWhen(id, asks)
	if i.Missing != 10 || !i.ManyMissing() {
		t.Fatalf("it asks %+v", i)
	}
	if _, err := h.db.ConfirmImport(t.Context(), id, 10, false, by); err == nil {
		t.Error("ten of eleven were disabled at one word")
	}
	_, err = h.db.DeclineImport(t.Context(), id, by)
	h.no(err)
	if i = h.ended(id); i.State != "done" || i.Disabled != 0 || h.look("SELECT count(*)::text FROM device WHERE disabled_at IS NOT NULL") != "1" {
		t.Errorf("declined: %+v", i)
	}
	// A dry run asks nothing.
	if i = h.ended(h.list("token,platform\n"+good(1)+",android\n", db.ImportOptions{FullList: true, DryRun: true})); i.Missing != 10 || i.State != "done" {
		t.Errorf("dry run: %+v", i)
	}
	h.cleaned()
}

func (h *house) devicesPut(token string) {
	h.t.Helper()
	_, err := h.db.PutDevices(h.t.Context(), []db.DeviceInput{{Token: token, Platform: "web"}}, by)
	h.no(err)
}

func TestListThatCannotBeRead(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.process(h.takes)
	i := h.ended(h.list("token,platform\na,ios\nb,\"web\n", db.ImportOptions{}))
	if i.State != "failed" || *i.ErrorCode != "quote_not_closed" || !strings.Contains(*i.ErrorMessage, "Row 3") {
		t.Errorf("%+v", i)
	}
	if h.look("SELECT count(*)::text FROM device") != "0" {
		t.Error("a part of a list that cannot be read went in")
	}
}

// A row that the database refuses for a cause that no check knows is taken out, and
// the others go in.
func TestRowThatTheDatabaseRefuses(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.sql("ALTER TABLE device ADD CONSTRAINT poison CHECK (token <> 'poison')")
	h.process(h.takes)
	id := h.list("token,platform\na,ios\npoison,ios\nb,ios\n", db.ImportOptions{})
	h.sums(id, "done total 3 created 2 updated 0 unchanged 0 rejected 1 doubled 0")
	rejects, err := h.db.ImportRejects(t.Context(), id, 0, 10)
	h.no(err)
	if len(rejects) != 1 || rejects[0].Row != 3 || rejects[0].Reason != db.ReasonRefused {
		t.Errorf("rejected %+v", rejects)
	}
}

// many is a list of n devices.
func many(n int) string {
	var b strings.Builder
	b.WriteString("token,platform,user\n")
	for i := range n {
		fmt.Fprintf(&b, "token-%07d,android,user-%d\n", i, i%1000)
	}
	return b.String()
}

// Cancelled, an import writes nothing more; what it wrote stays and is counted.
func TestCancelImport(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.process(h.takes)
	id := h.list(many(60_000), db.ImportOptions{})
	h.importWhen(id, func(i db.Import) bool { return i.Created > 0 })
	_, err := h.db.CancelImport(t.Context(), id, by)
	h.no(err)
	i := h.ended(id)
	h.cleaned()
	if n := h.look("SELECT count(*)::text FROM device"); i.State != "cancelled" || n != fmt.Sprint(i.Created) || i.Created == 60_000 {
		t.Errorf("%d created, %s devices: %+v", i.Created, n, i)
	}
}

// The task run again, at the same time or later, changes nothing.
func TestImportTaskRunsAgain(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	w, _, _ := h.process(h.takes)
	id := h.list(many(20_000), db.ImportOptions{})
	h.importWhen(id, func(i db.Import) bool { return i.StartedAt != nil })
	for ring := range int64(4) {
		_, _ = w.importTask(t.Context(), importPayload{ID: id, Ring: ring})
	}
	h.sums(id, "done total 20000 created 20000 updated 0 unchanged 0 rejected 0 doubled 0")
	_, _ = w.importTask(t.Context(), importPayload{ID: id, Ring: 1})
	h.sums(id, "done total 20000 created 20000 updated 0 unchanged 0 rejected 0 doubled 0")
}

// A worker that is frozen in the middle and comes back over another's work writes
// nothing more.
func TestImportFence(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	id := h.list(many(12_000), db.ImportOptions{})
	w, err := h.db.BeginImport(t.Context(), id, 1, time.Millisecond)
	h.no(err)
	h.no(h.db.StageImport(t.Context(), &w, []db.ImportRow{{Number: 2, Input: db.DeviceInput{Token: "frozen", Platform: "ios"}}}, 2, 10))
	h.sql("UPDATE import SET rung_at = now()") // its task is lost with it: the ended lease alone tells
	h.process(h.takes)
	h.importWhen(id, func(i db.Import) bool { return i.Created > 0 })
	if _, err := h.db.WriteImport(t.Context(), &w, 5000); err == nil {
		t.Error("the frozen worker wrote")
	}
	if err := h.db.HoldImport(t.Context(), w, time.Minute); err == nil {
		t.Error("the frozen worker prolonged its lease")
	}
	// Row 2 was staged by the first: it stands for itself, the rest came after it.
	h.sums(id, "done total 12000 created 12000 updated 0 unchanged 0 rejected 0 doubled 0")
}

// Staged rows do not outlive a crash of the server: they are read again, and no
// row counts twice.
func TestStagedRowsAreLost(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	_, _, stop := h.process(h.takes)
	text := many(40_000) + "bad,palm,x\n"
	id := h.list(text, db.ImportOptions{})
	h.importWhen(id, func(i db.Import) bool { return i.Created >= 10_000 })
	stop()
	h.sql("TRUNCATE import_row")
	h.process(h.takes)
	h.sums(id, "done total 40001 created 40000 updated 0 unchanged 0 rejected 1 doubled 0")
}

// Two workers that come and go, and a Redis that is emptied, lose nothing.
func TestImportGoesOn(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	id := h.list(many(50_000), db.ImportOptions{})
	for range 3 {
		_, _, stop := h.process(h.takes)
		before, err := h.db.Import(t.Context(), id)
		h.no(err)
		h.importWhen(id, func(i db.Import) bool { return i.Ended() || i.Version > before.Version+3 })
		stop()
	}
	h.process(h.takes)
	h.redis.StartEmpty()
	h.sums(id, "done total 50000 created 50000 updated 0 unchanged 0 rejected 0 doubled 0")
}
