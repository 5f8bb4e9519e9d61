package web

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

// hold keeps others from writing notices until the test calls release.
func (x *rig) hold() (release func()) {
	x.t.Helper()
	tx, err := x.pool.Begin(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	if _, err := tx.Exec(x.t.Context(), "LOCK TABLE notice IN ACCESS EXCLUSIVE MODE"); err != nil {
		x.t.Fatal(err)
	}
	release = func() { _ = tx.Rollback(context.WithoutCancel(x.t.Context())) }
	x.t.Cleanup(release) // a test that fails shall not hang
	return release
}

// waiting says whether somebody waits for the table that hold keeps.
func (x *rig) waiting() bool {
	return x.count("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'notice'::regclass") > 0
}

func TestClientThatLeavesDoesNotCancelAnAcceptance(t *testing.T) {
	x := newRig(t)
	release := x.hold()
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "POST", x.base+apiRoot+"/notices", strings.NewReader(hello))
		if err == nil {
			withToken(x.tokens[db.Operator])(req)
			withHeader("X-Request-Id", "left-early")(req)
			_, err = noRedirects.Do(req)
		}
		gone <- err
	}()
	eventually(t, "the acceptance is under way", x.waiting)
	leave()
	if err := <-gone; err == nil {
		t.Fatal("the client got an answer")
	}
	eventually(t, "the server sees that the client left", func() bool {
		for _, l := range x.log.of("request was answered") {
			if l["request_id"] == "left-early" && l["status"] == float64(statusClientLeft) {
				return true
			}
		}
		return false
	})
	release()
	eventually(t, "the acceptance is logged", func() bool { return len(x.log.of("notice was accepted after its client left")) == 1 })
	l := x.log.of("notice was accepted after its client left")[0]
	id := x.count("SELECT id FROM notice")
	if l["notice"] != float64(id) || l["request_id"] != "left-early" {
		t.Errorf("%v, and the notice is %d", l, id)
	}
	a := x.call(db.Operator, "POST", "/notices", hello)
	if a.status != 200 || read[noticeJSON](t, a).ID != id {
		t.Errorf("sent again: %d %s", a.status, a.body)
	}
}

func TestAcceptanceThatTakesTooLongIsAnsweredInTime(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.Limits.Handler = 500 * time.Millisecond })
	release := x.hold()
	start := time.Now()
	a := x.call(db.Operator, "POST", "/notices", hello)
	if took := time.Since(start); a.status != 503 || a.header.Get("Retry-After") == "" || took > 5*time.Second ||
		!strings.Contains(a.problem(t).Detail, "Sending it again is safe") {
		t.Errorf("after %s: %d %s", took, a.status, a.body)
	}
	release()
	eventually(t, "it is accepted all the same", func() bool { return len(x.log.of("notice was accepted after its client left")) == 1 })
	if a := x.call(db.Operator, "POST", "/notices", hello); a.status != 200 {
		t.Errorf("sent again: %d %s", a.status, a.body)
	}
}

func TestShutdownWaitsForAcceptances(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.Limits.Handler = 200 * time.Millisecond })
	release := x.hold()
	if a := x.call(db.Operator, "POST", "/notices", hello); a.status != 503 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := x.server.Shutdown(short); err == nil {
		t.Error("it did not wait")
	}
	release()
	if err := x.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := x.count("SELECT count(*) FROM notice"); n != 1 {
		t.Errorf("%d notices", n)
	}
}

// blackHole takes connections and never says a word.
func blackHole(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return l.Addr().String()
}

func TestDatabaseThatNeverAnswersIsToldInTime(t *testing.T) {
	away, err := db.Open(t.Context(), "postgres://u@"+blackHole(t)+"/x?sslmode=disable", testLimits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	const limit = 700 * time.Millisecond
	x := newRig(t, func(d *Deps) { d.Pages, d.Limits.Handler = away, limit })
	token, _ := NewToken()
	session := &http.Cookie{Name: "bongsu", Value: token}
	form := withHeader("Content-Type", "application/x-www-form-urlencoded")
	for name, ask := range map[string]func() answer{
		"POST /notices": func() answer { return x.send("POST", apiRoot+"/notices", hello, withToken(token)) },
		"GET /notices":  func() answer { return x.send("GET", apiRoot+"/notices", "", withToken(token)) },
		"a page":        func() answer { return x.send("GET", "/notices", "", withCookie(session)) },
		"a fragment": func() answer {
			return x.send("GET", "/notices/1/progress", "", withCookie(session), withHeader("HX-Request", "true"))
		},
		"a submit":  func() answer { return x.send("POST", "/notices", "title=T&body=B", withCookie(session), form) },
		"a sign-in": func() answer { return x.send("POST", "/signin", "email=a@b.example&password=xxxxxxxxxxxx", form) },
	} {
		start := time.Now()
		a := ask()
		if took := time.Since(start); a.status != 503 || a.header.Get("Retry-After") == "" || took > limit+3*time.Second {
			t.Errorf("%s, after %s: %d %.200s", name, took, a.status, a.body)
		}
		if !strings.Contains(string(a.body), "again is safe") {
			t.Errorf("%s does not say what to do: %.2000s", name, a.body)
		}
		if body := string(a.body); strings.Contains(body, "or the queue") || !strings.Contains(body, "The database did not answer in time") {
			t.Errorf("%s does not say what is away: %.2000s", name, a.body)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": "bongsu_database_up 0"} {
		if a := x.send("GET", path, ""); a.status != 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

func TestDatabaseThatRefusesIsToldAtOnce(t *testing.T) {
	x := newRig(t)
	x.db.Close()
	a := x.send("POST", apiRoot+"/notices", hello, withToken(x.tokens[db.Operator]))
	if p := a.problem(t); a.status != 503 || p.Code != "unavailable" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = x.send("POST", apiRoot+"/test-sends", `{}`, withToken(x.tokens[db.Operator]))
	if p := a.problem(t); strings.Contains(p.Detail, "is safe") {
		t.Errorf("a test send is not safe to repeat: %s", a.body)
	}
}
