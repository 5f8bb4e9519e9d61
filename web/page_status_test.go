package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"bongsu/db"
	"bongsu/views"
)

// well sets a scene in which every part is well.
const well = `
	UPDATE feeder SET holder = 'host-1', lease_until = now() + interval '1 h', redis_ok_at = now(), redis_down_at = NULL, redis_error = NULL;
	DELETE FROM worker; INSERT INTO worker (id, slots, in_flight) VALUES ('host-1', 256, 3);
	UPDATE vendor SET state = 'ok', reason = NULL, detail = NULL, next_probe_at = NULL, keep_devices = false, kept_since = NULL, wait_until = NULL;
	UPDATE notice SET state = 'finished', settled_at = now(), finished_at = now()`

// scenes are states of the ledger, and what Status says about them to an admin.
var scenes = []struct {
	sql                       string
	part, state, message      string
	badge, facts, firstOfRole string
}{
	{``, "database", "ok", "", "✓ all well", "answered in", "Notices are accepted and every result is recorded."},
	{`UPDATE feeder SET redis_down_at = now() - interval '3 min', redis_error = 'dial tcp: connection refused'`,
		"redis", "down", "redis-down", "✕ sending waits: queue away", "connection refused; 0 deliveries wait in the database, none is lost", "Notices are accepted, sending waits"},
	{`WITH n AS (UPDATE notice SET state = 'sending', settled_at = NULL, finished_at = NULL, started_at = now(), estimate = 1200)
		UPDATE feeder SET redis_down_at = now(), redis_error = 'refused'`,
		"redis", "down", "redis-down", "✕ sending waits: queue away",
		"refused; 0 deliveries wait in the database, none is lost; 1 notice is not gone through yet (about 1,200 devices to come)", "Notices are accepted, sending waits"},
	{`UPDATE feeder SET redis_down_at = now(), redis_error = 'OOM command not allowed when used memory > ''maxmemory''.'`,
		"redis", "down", "redis-full", "✕ sending waits: queue full", "OOM command", "Redis refuses tasks at its maxmemory"},
	{`UPDATE vendor SET state = 'paused', reason = 'credentials_refused', detail = '401 <b>no</b>', since = now()`,
		"vendor", "down", "vendor-credentials", "✕ sending waits: vendor refuses us", "401 <b>no</b>", "Put the right token or key into its file"},
	{`UPDATE vendor SET state = 'paused', reason = 'refusals', detail = '612 of 1,000', since = now()`,
		"vendor", "down", "vendor-refusals", "✕ sending waits: vendor refuses most", "612 of 1,000", "Calls are paused, and you are asked"},
	{`UPDATE vendor SET state = 'probing', reason = 'backlog', detail = '503', since = now(), next_probe_at = now() + interval '2 s'`,
		"vendor", "down", "vendor-outage", "✕ sending waits: vendor out of order", "probing: 503", "Calls are stopped but for one"},
	{`UPDATE vendor SET wait_until = now() + interval '40 s'`, "vendor", "warn", "vendor-waits", "▲ 1 warning", "http", "Nothing to do as a rule"},
	{`UPDATE vendor SET keep_devices = true, kept_since = now()`, "vendor", "warn", "devices-kept", "▲ 1 warning", "http", "Decide whether the devices"},
	{`UPDATE worker SET seen_at = now() - interval '16 s'`,
		"workers", "down", "no-worker", "✕ sending waits: no worker", "", "Notices are accepted and wait. Start a worker"},
	{`WITH w AS (DELETE FROM worker) UPDATE feeder SET lease_until = now() - interval '1 min'`,
		"feeder", "down", "no-worker", "✕ sending waits: no worker", "", "Start a worker"},
	{`UPDATE feeder SET lease_until = now() - interval '1 min'`,
		"feeder", "down", "no-feeder", "✕ sending waits: no feeder", "", "Another process takes over within seconds"},
	{`UPDATE notice SET state = 'accepted', settled_at = NULL, finished_at = NULL, accepted_at = now() - interval '70 s'`,
		"backlog", "warn", "backlog-old", "▲ 2 warnings", "the oldest has been due for 1 min 10 s", "Deliveries have been due"},
	{`UPDATE notice SET state = 'accepted', settled_at = NULL, finished_at = NULL, accepted_at = now() - interval '70 s'`,
		"notices", "warn", "notice-stalled", "▲ 2 warnings", "1 notice does not move", "There is work that nobody does"},
}

func TestStatusSaysWhatIsTheCase(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(1)
	x.post("/notices", "title", "Weekly <i>", "body", "Text", "category", "info")
	for _, c := range scenes {
		for _, q := range strings.Split(well, ";") {
			x.sql(q)
		}
		if c.sql != "" {
			x.sql(c.sql)
		}
		v := x.get("/status")
		row := "#part-" + c.part
		if got := v.text(row + " .badge"); v.status != 200 || !strings.HasSuffix(got, " "+c.state) {
			t.Errorf("%s: %d, the row says %q", c.message, v.status, got)
		}
		text := v.text(row)
		if !strings.Contains(text, c.facts) || !strings.Contains(text, c.firstOfRole) {
			t.Errorf("%s: the row says %q", c.message, text)
		}
		if got := v.text("#badge"); got != c.badge {
			t.Errorf("%s: the badge is %q, want %q", c.message, got, c.badge)
		}
		href, _ := v.Find(row + " a[href^='/runbook/']").Attr("href")
		if c.message == "" && href != "" || c.message != "" && href != "/runbook/"+c.message {
			t.Errorf("%s: it leads to %q", c.message, href)
		}
		if c.state != "ok" && c.message != "devices-kept" && c.part != "vendor" && v.Find(row+" small time").Length() == 0 {
			t.Errorf("%s: it does not say since when", c.message)
		}
		if c.message == "" {
			continue
		}
		if page := x.get(href); page.status != 200 || page.Find("dl.runbook ol li").Length() < 1 {
			t.Errorf("%s has no page: %d", c.message, page.status)
		}
	}
	v := x.get("/status")
	if href, _ := v.Find("#part-notices li a").Attr("href"); href != "/notices/1" || !strings.Contains(v.text("#part-notices li"), "#1 Weekly <i> Since 20") {
		t.Errorf("the stalled notice leads to %q: %s", href, v.text("#part-notices"))
	}
}

func TestEachMessageHasASceneOrIsTested(t *testing.T) {
	elsewhere := map[string]string{
		"database-down": "TestStatusWhileTheDatabaseIsAway", "database-read-only": "TestReadOnlyDatabaseCanBeRead",
		"disk-full": "TestFullDiskIsSaid", "database-connections": "TestConnectionsThatRunOutAreSaid",
		"answer-unsure": "TestErrorPageSaysSinceWhenAndWhatToDo", "not-our-answer": "said by the script of the pages",
		"vendor-waits": "said by the vendor's guards",
	}
	for _, c := range scenes {
		elsewhere[c.message] = "a scene"
	}
	for _, m := range views.Messages() {
		if elsewhere[m.Key] == "" {
			t.Errorf("nothing tests when %s is said", m.Key)
		}
	}
	if v := newRig(t).send("GET", "/runbook/nonsense", ""); v.status != http.StatusNotFound {
		t.Errorf("a message that is none: %d", v.status)
	}
}

// What a state means depends on who reads it.
func TestStatusSpeaksToTheReader(t *testing.T) {
	for role, want := range map[db.Role]string{
		db.Operator: "Notices are accepted and wait until a worker is started. Nothing is lost.",
		db.Support:  "Devices hear later: nothing is sent until a worker is started.",
		db.Admin:    "Start a worker: bongsu serve --role worker.",
	} {
		x := newSite(t, role, nil)
		if got := x.get("/status").text("#part-workers"); !strings.Contains(got, want) {
			t.Errorf("%s reads %q", role, got)
		}
	}
}

func TestStatusListsWorkersWithTheirHeartbeat(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.sql(`INSERT INTO worker (id, slots, seen_at) VALUES ('one', 256, now()), ('two', 256, now() - interval '1 h')`)
	v := x.get("/status")
	if got := v.text("#status-workers tbody"); !strings.Contains(got, "one ✓ alive") || !strings.Contains(got, "two ✕ gone") {
		t.Errorf("the workers: %q", got)
	}
	x.sql(`DELETE FROM worker WHERE id = 'one'`)
	if v = x.get("/status"); !strings.Contains(v.text("#status .empty"), "No worker is running.") || v.Find("#status-workers tbody tr").Length() != 1 {
		t.Errorf("without a live one: %s", v.text("#status"))
	}
}

func TestStatusWhileTheDatabaseIsAway(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.sql(`INSERT INTO worker (id, slots) VALUES ('host-of-ours', 256)`)
	x.get("/notices")
	x.server.memory = func(context.Context) (Memory, error) { return Memory{Used: 2_500_000}, nil }
	x.db.Close()
	v := x.get("/status")
	if v.status != http.StatusServiceUnavailable || v.header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", v.status, v.header.Get("Retry-After"))
	}
	if got := v.text("#part-database"); !strings.Contains(got, "✕ downSince 20") || !strings.Contains(got, "What was accepted is safe") {
		t.Errorf("the database's row: %q", got)
	}
	if got := v.text("#part-redis"); !strings.Contains(got, "it answers; 2.5 MB of memory in use, without a limit") {
		t.Errorf("the queue's row: %q", got)
	}
	if got := v.text("#part-workers"); !strings.Contains(got, "● unknown") {
		t.Errorf("the workers' row: %q", got)
	}
	for _, secret := range []string{"host-of-ours", "ada@example.com"} { // nobody knows who asks
		if strings.Contains(v.text("html"), secret) {
			t.Errorf("it shows %s to somebody unknown", secret)
		}
	}
	if href, _ := v.Find("#part-database a").Attr("href"); href != "/runbook/database-down" || x.get(href).status != 200 {
		t.Errorf("it leads to %q", href)
	}
	if v = x.htmx("GET", "/status/live"); v.status != 200 || !strings.Contains(v.text("#part-database"), "down") || v.Find("[hx-get='/status/live']").Length() != 1 {
		t.Errorf("the live part: %d %s", v.status, v.text("body"))
	}
}

// With a database that takes connections and never says a word, Status answers
// within two looks.
func TestStatusWhileTheDatabaseHangs(t *testing.T) {
	away, err := db.Open(t.Context(), "postgres://u@"+blackHole(t)+"/x?sslmode=disable", testLimits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	const look = 300 * time.Millisecond
	x := newRig(t, func(d *Deps) { d.Pages, d.Limits.Look = away, look })
	token, _ := NewToken()
	for _, path := range []string{"/status", "/status/live"} {
		start := time.Now()
		a := x.send("GET", path, "", withCookie(&http.Cookie{Name: "bongsu", Value: token}))
		if took := time.Since(start); took > 2*look+2*time.Second || !strings.Contains(string(a.body), "/runbook/database-down") {
			t.Errorf("%s, after %s: %d %.300s", path, took, a.status, a.body)
		}
	}
}

func TestSignedOutPeopleSeeNoStatus(t *testing.T) {
	x := newRig(t)
	if a := x.send("GET", "/status", ""); a.status != 303 {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	x.db.Close()
	if a := x.send("GET", "/notices", ""); a.status != 503 && a.status != 303 {
		t.Errorf("another page is shown to somebody unknown: %d", a.status)
	}
}

func TestErrorPageSaysSinceWhenAndWhatToDo(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	x.db.Close()
	since := ""
	for range 2 {
		v := x.post("/notices", "title", "Typed", "body", "Text", "category", "info")
		got, _ := v.Find("main .since time").Attr("datetime")
		if v.status != 503 || got == "" || since != "" && got != since {
			t.Errorf("%d, since %q, then %q", v.status, since, got)
		}
		since = got
		if href, _ := v.Find("main a.runbook").Attr("href"); href != "/runbook/database-down" {
			t.Errorf("it leads to %q", href)
		}
	}
	if v := x.htmx("POST", "/notices", "title", "Typed", "body", "Text"); v.Find("[role=alert] a.runbook[target=_blank]").Length() != 1 || v.Find("[role=alert] time").Length() != 1 {
		t.Errorf("the banner: %s", v.text("body"))
	}
	f := failure{Status: 503}
	x.server.watch.noted(nil)
	if x.server.addMessage(&f, errUnsure); f.Message != "answer-unsure" || !f.Since.IsZero() {
		t.Errorf("an answer that came too late: %q since %s", f.Message, f.Since)
	}
}

func TestReadOnlyDatabaseCanBeRead(t *testing.T) {
	x := newRig(t)
	x.sql("INSERT INTO device (token, token_hash, platform) VALUES ('a', 'a', 'ios')")
	admin := x.session(db.Admin)
	x.sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	x.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	x.clock.forward(2 * time.Minute) // so that the session's last use would be noted
	eventually(t, "the pool has new connections", func() bool { return x.send("GET", "/notices", "", withCookie(admin)).status == 200 })
	a := x.send("GET", "/status", "", withCookie(admin))
	if !strings.Contains(string(a.body), "nothing can be written: database read-only") || !strings.Contains(string(a.body), "/runbook/database-read-only") {
		t.Errorf("Status: %d %s", a.status, a.body)
	}
	a = x.send("POST", "/notices", "title=T&body=B&category=info", withCookie(admin), withHeader("Content-Type", "application/x-www-form-urlencoded"))
	if a.status != 503 || !strings.Contains(string(a.body), "takes no writes") || !strings.Contains(string(a.body), "/runbook/database-read-only") {
		t.Errorf("a submit: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "POST", "/notices", hello); a.status != 503 || !strings.Contains(a.problem(t).Detail, "takes no writes") {
		t.Errorf("by the API: %d %s", a.status, a.body)
	}
}

func TestFullDiskIsSaid(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	for _, q := range strings.Split(well, ";") {
		x.sql(q)
	}
	x.server.disk = func() (Disk, error) { return Disk{Free: 4_900_000_000, Total: 100_000_000_000}, nil }
	v := x.get("/status")
	if got := v.text("#part-disk"); !strings.Contains(got, "▲ warn") || !strings.Contains(got, "4.9 GB of 100.0 GB free") || v.Find("#part-disk a[href='/runbook/disk-full']").Length() != 1 {
		t.Errorf("nearly full: %q", got)
	}
	x.server.disk = func() (Disk, error) { return Disk{Free: 5_100_000_000, Total: 100_000_000_000}, nil }
	if got := x.get("/status").text("#part-disk .badge"); got != "✓ ok" {
		t.Errorf("not nearly full: %q", got)
	}
	x.server.watch.noted(&pgconn.PgError{Code: "53100"})
	v = x.get("/status")
	if got := v.text("#badge"); got != "✕ nothing can be written: disk full" || v.Find("#part-database a[href='/runbook/disk-full']").Length() != 1 {
		t.Errorf("full: %q, %s", got, v.text("#part-database"))
	}
}

func TestConnectionsThatRunOutAreSaid(t *testing.T) {
	row := part("database", "")
	for conns, want := range map[int]string{90: "", 91: "database-connections"} {
		r := row
		addCondition(&r, 3*time.Millisecond, db.Condition{Bytes: 8_200_000, Conns: conns, MaxConns: 100}, nil)
		if r.Message != want || !strings.Contains(r.Facts, "answered in 3 ms; 8.2 MB large") {
			t.Errorf("%d: %+v", conns, r)
		}
	}
	x := newSite(t, db.Operator, nil)
	x.server.watch.noted(&pgconn.PgError{Code: "53300"})
	if o := x.server.watch.outlook(); databasePart(o).Message != "database-connections" {
		t.Errorf("after a refused connection: %+v", databasePart(o))
	}
}

func TestMemoryOfRedisIsSaid(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	for _, q := range strings.Split(well, ";") {
		x.sql(q)
	}
	for used, want := range map[int64]string{89: "", 91: "/runbook/redis-full"} {
		x.server.memory = func(context.Context) (Memory, error) { return Memory{Used: used * 1_000_000, Max: 100_000_000}, nil }
		v := x.get("/status")
		if href, _ := v.Find("#part-redis a").Attr("href"); href != want || !strings.Contains(v.text("#part-redis"), "MB of 100.0 MB of memory in use") {
			t.Errorf("at %d MB it leads to %q: %s", used, href, v.text("#part-redis"))
		}
	}
	x.server.memory = func(ctx context.Context) (Memory, error) { return Memory{}, errors.New("refused") }
	if got := x.get("/status").text("#part-redis .badge"); got != "✓ ok" {
		t.Errorf("where only this process cannot ask: %q", got)
	}
}

func TestBannerOfAPausedVendorIsForAdmins(t *testing.T) {
	admin, operator := newSite(t, db.Admin, nil), newSite(t, db.Operator, nil)
	for _, x := range []*site{admin, operator} {
		x.sql(`UPDATE vendor SET state = 'paused', reason = 'credentials_refused', since = now()`)
	}
	if v := admin.get("/notices"); v.Find("main > section a[href='/runbook/vendor-credentials']").Length() != 1 {
		t.Errorf("an admin sees %s", v.text("main"))
	}
	if v := operator.get("/notices"); v.Find("main > section .note-bad").Length() != 0 || v.text("#badge") != "✕ sending waits: vendor refuses us" {
		t.Errorf("an operator sees %s and the badge %q", v.text("main"), v.text("#badge"))
	}
	admin.sql(`UPDATE vendor SET state = 'probing', reason = 'outage', next_probe_at = now()`)
	admin.server.watch.forget()
	if v := admin.get("/notices"); v.Find("main > section form[action='/vendor/resume']").Length() != 1 {
		t.Errorf("an admin cannot have a vendor tried that is probed: %s", v.text("main"))
	}
}
