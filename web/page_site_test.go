package web

import (
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"bongsu/db"
	"bongsu/db/dbtest"
)

// site is a running server on a database of its own, and the browser of one
// signed-in person, as far as plain HTTP goes.
type site struct {
	t       *testing.T
	db      *db.DB
	sql     func(sql string, args ...any) // sets a scene that no method offers
	server  *Server
	base    string
	browser *http.Client
}

// newSite gives a site at which a person of this role is signed in.
func newSite(t *testing.T, role db.Role, queues QueueInspector) *site {
	t.Helper()
	pool := dbtest.New(t)
	store, err := db.Open(t.Context(), pool.Config().ConnString(),
		db.Limits{MaxConns: 8, Wait: 5 * time.Second, Transaction: 10 * time.Second, Lock: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s := New(Deps{Pages: store, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})), Queues: queues, Limits: Limits{Handler: 10 * time.Second, Upload: time.Minute, UploadIdle: 5 * time.Second},
		Expiry: 24 * time.Hour, Version: "test", Now: time.Now})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &site{t: t, db: store, server: s, base: server.URL, browser: &http.Client{Jar: jar}, sql: func(sql string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}}
	x.addUser("ada@example.com", role)
	if v := x.post("/signin", "email", "ada@example.com", "password", "correct horse"); v.at != "/notices" {
		t.Fatalf("signing in led to %s: %d %s", v.at, v.status, v.text("main"))
	}
	return x
}

// correctHorse is the stored form of everybody's password; it is slow to make.
var correctHorse = sync.OnceValue(func() string { return HashPassword("correct horse") })

func (x *site) addUser(email string, role db.Role) {
	x.t.Helper()
	if _, err := x.db.AddUser(x.t.Context(), email, role, correctHorse(), db.Actor{ID: "command", Name: "test", Role: db.Admin}); err != nil {
		x.t.Fatal(err)
	}
}

// seen is a page or a part of one as it was answered.
type seen struct {
	*goquery.Document
	status int
	header http.Header
	at     string // path and query, after redirects
}

func (v seen) text(selector string) string {
	return strings.Join(strings.Fields(v.Find(selector).Text()), " ")
}

func (x *site) get(path string) seen { return x.do("GET", path, nil, false) }

// post sends a form of name, value, … as a browser without script does.
func (x *site) post(path string, fields ...string) seen { return x.do("POST", path, fields, false) }

// htmx sends the same as htmx does, and looks once.
func (x *site) htmx(method, path string, fields ...string) seen {
	return x.do(method, path, fields, true)
}

func (x *site) do(method, path string, fields []string, htmx bool) seen {
	x.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	var change []func(*http.Request)
	if htmx {
		change = append(change, withHeader("HX-Request", "true"), withHeader("HX-Current-URL", x.base+"/notices"))
	}
	kind := ""
	if method == "POST" {
		kind = "application/x-www-form-urlencoded"
	}
	return x.doRaw(method, path, form.Encode(), kind, change...)
}

// doRaw sends a body as it is.
func (x *site) doRaw(method, path, body, kind string, change ...func(*http.Request)) seen {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), method, x.base+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for _, f := range change {
		f(req)
	}
	res, err := x.browser.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	doc, err := goquery.NewDocumentFromReader(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return seen{doc, res.StatusCode, res.Header, res.Request.URL.RequestURI()}
}

// devices adds n devices of the person kim.
func (x *site) devices(n int) {
	x.t.Helper()
	x.sql(`INSERT INTO device (token, token_hash, platform, person, tags)
		SELECT 'token-' || i, sha256(('token-' || i)::bytea), 'ios', 'kim', '{vip}' FROM generate_series(1, $1::int) i`, n)
}

// failedNotice adds a finished notice to devices 1 to n: all failed for good.
func (x *site) failedNotice(n int) string {
	x.t.Helper()
	v := x.post("/notices", "title", "Failed one", "body", "Text", "category", "info")
	id := strings.TrimPrefix(v.at, "/notices/")
	x.sql(`UPDATE notice SET state = 'finished', started_at = now(), cut_at = now(), finished_at = now(), settled_at = now()
		WHERE id = $1::bigint`, id)
	x.sql(`INSERT INTO delivery (notice_id, device_id, status, reason, code, message, failed_at, fence, attempts)
		SELECT $1::bigint, i, 'failed', 'token_expired', '410', 'gone <b>for good</b>', now(), 1, 1 FROM generate_series(1, $2::int) i`, id, n)
	x.sql(`INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt, reason, code, message)
		SELECT $1::bigint, i, 1, 1, now(), 31, 410, 'dead', false, false, 'token_expired', '410', 'gone <b>for good</b>' FROM generate_series(1, $2::int) i`, id, n)
	x.sql(`INSERT INTO notice_counter AS c (notice_id, shard, total, failed) VALUES ($1::bigint, 0, $2::int, $2::int)
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = c.total + excluded.total, failed = c.failed + excluded.failed`, id, n)
	x.sql(`INSERT INTO notice_reason (notice_id, shard, status, reason, n) VALUES ($1::bigint, 0, 'failed', 'token_expired', $2::int)`, id, n)
	return id
}
