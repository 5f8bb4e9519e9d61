package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/db"
	"bongsu/db/dbtest"
)

var command = db.Actor{ID: "command", Name: "test", Role: db.Admin}

var testLimits = db.Limits{MaxConns: 8, Wait: 2 * time.Second, Transaction: 6 * time.Second, Lock: 6 * time.Second}

// nobodysPassword is the hash of a password that nobody knows.
var nobodysPassword = newPasswords().dummy

// rig is a running server on a database of its own, with a token and a person
// for each role, its log, and a clock that a test may move.
type rig struct {
	t      *testing.T
	db     *db.DB
	pool   *pgxpool.Pool // sets scenes that no method offers
	server *Server
	base   string
	log    *lines
	clock  *clock
	tokens map[db.Role]string
	people map[db.Role]db.User
}

// newRig starts a server. change may alter what it is made of.
func newRig(t *testing.T, change ...func(*Deps)) *rig {
	t.Helper()
	x := &rig{t: t, pool: dbtest.New(t), log: &lines{}, clock: &clock{}, tokens: map[db.Role]string{}, people: map[db.Role]db.User{}}
	var err error
	if x.db, err = db.Open(t.Context(), x.pool.Config().ConnString(), testLimits); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.db.Close)
	// Number 1, on whom the test of rights tries every act.
	if _, err := x.db.AddUser(t.Context(), "number.one@example.com", db.Support, nobodysPassword, command); err != nil {
		t.Fatal(err)
	}
	for _, role := range anyone {
		token, hash := NewToken()
		if _, err := x.db.AddToken(t.Context(), "test "+string(role), role, hash, command); err != nil {
			t.Fatal(err)
		}
		x.tokens[role] = token
		if x.people[role], err = x.db.AddUser(t.Context(), string(role)+"@example.com", role, nobodysPassword, command); err != nil {
			t.Fatal(err)
		}
	}
	x.start(change...)
	return x
}

func (x *rig) start(change ...func(*Deps)) {
	d := Deps{Pages: x.db, Log: slog.New(slog.NewJSONHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Limits: Limits{Handler: 10 * time.Second, Upload: time.Minute, UploadIdle: 5 * time.Second}, Expiry: 24 * time.Hour, Version: "test", Now: x.clock.now}
	for _, f := range change {
		f(&d)
	}
	x.server = New(d)
	listener := httptest.NewUnstartedServer(x.server)
	listener.Config.ErrorLog = slog.NewLogLogger(d.Log.Handler(), slog.LevelInfo)
	listener.Start()
	x.base = listener.URL
	x.t.Cleanup(func() {
		listener.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := x.server.Shutdown(ctx); err != nil {
			x.t.Errorf("Shutdown: %v", err)
		}
	})
}

// sql runs a statement that sets a scene.
func (x *rig) sql(sql string, args ...any) {
	x.t.Helper()
	if _, err := x.pool.Exec(x.t.Context(), sql, args...); err != nil {
		x.t.Fatalf("%s: %v", sql, err)
	}
}

// count gives the number that a query answers.
func (x *rig) count(sql string, args ...any) (n int64) {
	x.t.Helper()
	if err := x.pool.QueryRow(x.t.Context(), sql, args...).Scan(&n); err != nil {
		x.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// session gives the cookie of a new session of the person who holds role. key is
// what it says of them: that they are signed in, where none is given.
func (x *rig) session(role db.Role, key ...string) *http.Cookie {
	x.t.Helper()
	m := x.server.sessions
	ctx, err := m.Load(x.t.Context(), "")
	if err != nil {
		x.t.Fatal(err)
	}
	m.Put(ctx, append(key, sessionUserKey)[0], x.people[role].ID)
	m.Put(ctx, sessionSeenKey, x.clock.now().Unix())
	token, _, err := m.Commit(ctx)
	if err != nil {
		x.t.Fatal(err)
	}
	return &http.Cookie{Name: m.Cookie.Name, Value: token}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// json reads the body into a T.
func read[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return v
}

// problem reads problem details and checks that they go with the answer.
func (a answer) problem(t *testing.T) problem {
	t.Helper()
	p := read[problem](t, a)
	if a.header.Get("Content-Type") != "application/problem+json" || p.Status != a.status ||
		p.Title != http.StatusText(a.status) || p.RequestID != a.header.Get("X-Request-Id") || p.RequestID == "" {
		t.Errorf("%d %s %s is no proper problem", a.status, a.header.Get("Content-Type"), a.body)
	}
	return p
}

// names says whether the problem names exactly these fields.
func (p problem) names(fields ...string) bool {
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Field)
	}
	return slices.Equal(got, fields)
}

// send makes a request, changes it and answers what came back.
func (x *rig) send(method, path, body string, change ...func(*http.Request)) answer {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), method, x.base+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	for _, f := range change {
		f(req)
	}
	res, err := noRedirects.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, raw}
}

var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// call uses the API with the token of role, and holds the answer against the
// document that describes the API.
func (x *rig) call(role db.Role, method, path, body string, change ...func(*http.Request)) answer {
	x.t.Helper()
	a := x.send(method, apiRoot+path, body, append(change, withToken(x.tokens[role]))...)
	checkDocumented(x.t, method, apiRoot+path, body, a)
	return a
}

func withToken(token string) func(*http.Request) {
	return withHeader("Authorization", "Bearer "+token)
}

func withHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func withCookie(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(c) }
}

// eventually waits until ok is true, for a few seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

// clock is the real one plus what a test adds.
type clock struct {
	mu  sync.Mutex
	add time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.add)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add += d
}

// lines keeps a log in JSON lines.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// of gives the lines with this message.
func (l *lines) of(message string) (found []map[string]any) {
	for line := range strings.SplitSeq(l.text(), "\n") {
		var v map[string]any
		if json.Unmarshal([]byte(line), &v) == nil && v["msg"] == message {
			found = append(found, v)
		}
	}
	return found
}
