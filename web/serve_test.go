package web

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"bongsu/db"
)

func decomposed(s string) string { return norm.NFD.String(s) }

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	x := newRig(t)
	for _, path := range []string{"/healthz", "/signin", "/notices", "/api/v1/notices", "/nothing", "/metrics"} {
		h := x.send("GET", path, "").header
		for name, want := range map[string]string{
			"X-Bongsu": "1", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
				"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestRequestIDAndOneLineOfLog(t *testing.T) {
	x := newRig(t)
	given := x.call(db.Operator, "POST", "/notices?", hello, withHeader("X-Request-Id", "from-proxy.7"))
	if given.header.Get("X-Request-Id") != "from-proxy.7" {
		t.Errorf("%q", given.header.Get("X-Request-Id"))
	}
	for _, bad := range []string{"", strings.Repeat("a", 65), "a b", `a"b`, "ä"} {
		if id := x.send("GET", "/healthz", "", withHeader("X-Request-Id", bad)).header.Get("X-Request-Id"); id == bad || len(id) < 20 {
			t.Errorf("%q was answered with %q", bad, id)
		}
	}
	var lines []map[string]any
	eventually(t, "the request is logged", func() bool {
		lines = nil
		for _, l := range x.log.of("request was answered") {
			if l["request_id"] == "from-proxy.7" {
				lines = append(lines, l)
			}
		}
		return len(lines) > 0
	})
	l := lines[0]
	if len(lines) != 1 || l["method"] != "POST" || l["route"] != "POST /api/v1/notices" || l["status"] != 202.0 ||
		!strings.HasPrefix(l["actor"].(string), "token:") || l["took"].(float64) <= 0 {
		t.Errorf("%v", lines)
	}
	for _, secret := range []string{x.tokens[db.Operator], "Line one"} {
		if strings.Contains(x.log.text(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

func TestTokens(t *testing.T) {
	x := newRig(t)
	token, hash := NewToken()
	sum := sha256.Sum256([]byte(token))
	if !strings.HasPrefix(token, "bongsu_") || len(token) != 50 || string(hash) != string(sum[:]) {
		t.Errorf("%s, %x", token, hash)
	}
	revoked, err := x.db.AddToken(t.Context(), "old", db.Admin, hash, command)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.db.RevokeToken(t.Context(), revoked.ID, command); err != nil {
		t.Fatal(err)
	}
	unknown, _ := NewToken()
	for header, challenge := range map[string]string{
		"Bearer " + token: "invalid_token", "Bearer " + unknown: "invalid_token", "Bearer x": "invalid_token",
		"Basic " + x.tokens[db.Admin]: "", x.tokens[db.Admin]: "", "Bearer": "", "Bearer ": "",
	} {
		a := x.send("GET", apiRoot+"/notices", "", withHeader("Authorization", header))
		got := a.header.Get("WWW-Authenticate")
		if a.status != 401 || !strings.HasPrefix(got, `Bearer realm="bongsu"`) || strings.Contains(got, "invalid_token") != (challenge != "") {
			t.Errorf("%q: %d %s", header, a.status, got)
		}
	}
	if a := x.send("GET", apiRoot+"/notices", "", withHeader("Authorization", "bearer  "+x.tokens[db.Admin])); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := x.send("GET", apiRoot+"/notices", "", withCookie(x.session(db.Admin))); a.status != 401 {
		t.Errorf("a browser's session opened the API: %d", a.status)
	}
	if a := x.send("GET", "/notices", "", withToken(x.tokens[db.Admin])); a.status != 303 {
		t.Errorf("a token opened a page: %d", a.status)
	}
}

func TestOtherSitesCannotPost(t *testing.T) {
	x := newRig(t)
	for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
		a := x.send("POST", "/notices", "title=T&body=B", withCookie(x.session(db.Operator)),
			withHeader(header[0], header[1]), withHeader("Content-Type", "application/x-www-form-urlencoded"))
		if a.status != 403 || !strings.Contains(string(a.body), "another site") || a.header.Get("X-Bongsu") != "1" {
			t.Errorf("%v: %d %s", header, a.status, a.body)
		}
	}
	a := x.send("POST", apiRoot+"/notices", hello, withToken(x.tokens[db.Operator]), withHeader("Sec-Fetch-Site", "cross-site"))
	if a.status != 403 || a.problem(t).Code != "cross_origin" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM notice"); n != 0 {
		t.Errorf("%d notices", n)
	}
	if a := x.send("GET", "/notices", "", withCookie(x.session(db.Operator)), withHeader("Sec-Fetch-Site", "cross-site")); a.status != 200 {
		t.Errorf("a link from elsewhere: %d", a.status)
	}
}

func TestFormThatIsTooLargeIsNotAnEmptyOne(t *testing.T) {
	x := newRig(t)
	a := x.send("POST", "/notices", "title=T&body="+strings.Repeat("x", 1<<20), withCookie(x.session(db.Operator)),
		withHeader("Content-Type", "application/x-www-form-urlencoded"))
	if a.status != 413 || strings.Contains(string(a.body), "is missing") {
		t.Errorf("%d %.300s", a.status, a.body)
	}
}

// withRoute adds a route to a server, to see what becomes of what it does.
func (x *rig) withRoute(path string, k kind, h handler) {
	x.server.mux.Handle("GET "+path, bound{x.server, route{method: "GET", path: path, kind: k, roles: anyone, handle: h}})
}

func TestPanicIsAnsweredAndLogged(t *testing.T) {
	x := newRig(t)
	x.withRoute("/api/v1/panic", api, func(*Server, http.ResponseWriter, *http.Request) error { panic("secret words") })
	x.withRoute("/panic", page, func(*Server, http.ResponseWriter, *http.Request) error { panic("secret words") })
	x.withRoute("/half", page, func(_ *Server, w http.ResponseWriter, _ *http.Request) error {
		_, _ = w.Write([]byte(strings.Repeat("half a page ", 1000)))
		panic("secret words")
	})
	a := x.send("GET", "/api/v1/panic", "", withToken(x.tokens[db.Support]))
	if a.status != 500 || a.problem(t).Code != "internal" || strings.Contains(string(a.body), "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = x.send("GET", "/panic", "", withCookie(x.session(db.Support)))
	if a.status != 500 || strings.Contains(string(a.body), "secret") || !strings.Contains(string(a.body), a.header.Get("X-Request-Id")) {
		t.Errorf("%d %s", a.status, a.body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "GET", x.base+"/half", nil)
	req.AddCookie(x.session(db.Support))
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = bufio.NewReader(res.Body).ReadString(0)
		_ = res.Body.Close()
	}
	if err == nil || err.Error() == "EOF" {
		t.Error("half a page was taken for the whole")
	}
	if n := strings.Count(x.log.text(), "panic: secret words"); n != 3 {
		t.Errorf("%d panics are in the log", n)
	}
}

func TestErrorsOfADatabaseAreTold(t *testing.T) {
	x := newRig(t)
	var give error
	x.withRoute("/api/v1/broken", api, func(*Server, http.ResponseWriter, *http.Request) error { return give })
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("x: %w", db.ErrNotFound), 404, "not_found"},
		{fmt.Errorf("x: %w", db.ErrStale), 409, "stale"},
		{ErrTaskGone, 409, "task_gone"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 503, "unavailable"},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, 503, "unavailable"},
		{errors.New("nobody thought of this"), 500, "internal"},
	} {
		give = c.err
		a := x.send("GET", "/api/v1/broken", "", withToken(x.tokens[db.Support]))
		if p := a.problem(t); a.status != c.status || p.Code != c.code || (a.header.Get("Retry-After") != "") != (c.status == 503) ||
			strings.Contains(string(a.body), "thought") {
			t.Errorf("%v: %d %s", c.err, a.status, a.body)
		}
	}
}

func TestSlowBodyIsCutInTime(t *testing.T) {
	x := newRig(t)
	s := New(Deps{Pages: x.db, Log: x.server.log, Limits: Limits{Handler: 300 * time.Millisecond}, Expiry: time.Hour, Version: "test", Now: time.Now})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "POST /api/v1/notices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", x.tokens[db.Operator])
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != 408 {
		t.Errorf("%v %v", res, err)
	}
	_ = conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestReadyUntilItStops(t *testing.T) {
	x := newRig(t)
	if a := x.send("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	x.server.draining.Store(true)
	if a := x.send("GET", "/readyz", ""); a.status != 503 {
		t.Errorf("while stopping: %d", a.status)
	}
	if a := x.send("GET", "/healthz", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
}
