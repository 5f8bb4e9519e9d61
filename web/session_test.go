package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

const goodPassword = "correct horse battery"

func (x *rig) withPassword(role db.Role) {
	x.t.Helper()
	if err := x.db.SetPassword(x.t.Context(), x.people[role].ID, HashPassword(goodPassword), command); err != nil {
		x.t.Fatal(err)
	}
}

// trySignIn posts the form and gives the answer.
func (x *rig) trySignIn(email, password string, change ...func(*http.Request)) answer {
	x.t.Helper()
	form := url.Values{"email": {email}, "password": {password}}.Encode()
	return x.send("POST", "/signin", form, append(change, withHeader("Content-Type", "application/x-www-form-urlencoded"))...)
}

func cookieOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	all := (&http.Response{Header: a.header}).Cookies()
	if len(all) != 1 {
		t.Fatalf("%d cookies: %d %v", len(all), a.status, a.header)
	}
	return all[0]
}

// in says whether c is a session that works.
func (x *rig) in(c *http.Cookie) bool {
	x.t.Helper()
	a := x.send("GET", "/notices", "", withCookie(c))
	if a.status != 200 && a.status != 303 {
		x.t.Fatalf("%d %s", a.status, a.body)
	}
	return a.status == 200
}

func TestSignInGivesAFreshTokenAndSignOutEndsIt(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	planted := &http.Cookie{Name: "bongsu", Value: "planted-by-somebody-else"}
	first := cookieOf(t, x.trySignIn(" OPERATOR@example.com ", goodPassword, withCookie(planted)))
	second := cookieOf(t, x.trySignIn("operator@example.com", goodPassword, withCookie(first)))
	if first.Value == planted.Value || second.Value == first.Value || len(first.Value) < 40 {
		t.Errorf("tokens %q and %q", first.Value, second.Value)
	}
	if !first.HttpOnly || first.SameSite != http.SameSiteLaxMode || first.Path != "/" || first.Domain != "" || first.MaxAge != 0 {
		t.Errorf("%+v", first)
	}
	if x.in(planted) || x.in(first) || !x.in(second) {
		t.Error("an old token works, or the new one does not")
	}
	out := x.send("POST", "/signout", "", withCookie(second))
	if c := cookieOf(t, out); c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("the cookie stays: %+v", c)
	}
	if x.in(second) {
		t.Error("the session works after signing out")
	}
	if n := x.count("SELECT count(*) FROM web_session WHERE ended_at IS NULL"); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestCookieUnderHTTPS(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.SecureCookies = true })
	x.withPassword(db.Operator)
	c := cookieOf(t, x.trySignIn("operator@example.com", goodPassword))
	if c.Name != "__Host-bongsu" || !c.Secure || c.Path != "/" || c.Domain != "" {
		t.Errorf("%+v", c)
	}
}

func TestSignInSaysTheSameWhateverIsWrong(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	x.withPassword(db.Support)
	if err := x.db.DisableUser(t.Context(), x.people[db.Support].ID, command); err != nil {
		t.Fatal(err)
	}
	var said []string
	took := map[string]time.Duration{}
	for _, c := range [][2]string{{"operator@example.com", "wrong password"}, {"nobody@example.com", goodPassword},
		{"support@example.com", goodPassword}, {"operator@example.com", strings.Repeat("x", 4000)}} {
		start := time.Now()
		a := x.trySignIn(c[0], c[1])
		took[c[0]] = time.Since(start)
		if a.status != 422 || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d", c[0], a.status)
		}
		said = append(said, strings.ReplaceAll(string(a.body), c[0], ""))
	}
	for _, s := range said[1:] {
		if s != said[0] {
			t.Errorf("the answers differ:\n%s\n%s", said[0], s)
		}
	}
	if known, nobody := took["operator@example.com"], took["nobody@example.com"]; nobody*4 < known {
		t.Errorf("an account that does not exist is told in %s, a known one takes %s", nobody, known)
	}
	if strings.Contains(x.log.text(), goodPassword) || strings.Contains(x.log.text(), "wrong password") {
		t.Error("the log holds a password")
	}
}

func TestGuessingIsSlowedDownAndNobodyStaysLockedOut(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	throttled := false
	for range 7 {
		a := x.trySignIn("operator@example.com", "guess")
		throttled = strings.Contains(string(a.body), "oo many failed tries")
	}
	if !throttled {
		t.Fatal("seven guesses were all looked at")
	}
	if a := x.trySignIn("operator@example.com", goodPassword); a.status != 422 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("while it waits, the right password: %d", a.status)
	}
	x.sql("UPDATE sign_in_budget SET full_at = full_at - interval '11 seconds'")
	if !x.in(cookieOf(t, x.trySignIn("operator@example.com", goodPassword))) {
		t.Error("locked out")
	}
}

// Two processes count together.
func TestGuessingIsSlowedDownOverProcesses(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	bases := []string{x.base}
	x.start()
	bases = append(bases, x.base)
	for i := range 6 {
		x.base = bases[i%2]
		a := x.trySignIn("operator@example.com", "guess")
		if throttled := strings.Contains(string(a.body), "oo many failed tries"); throttled != (i == 5) {
			t.Errorf("guess %d: %d %v", i+1, a.status, throttled)
		}
	}
	// An account that is not there is counted alike.
	for i := range 6 {
		x.base = bases[i%2]
		a := x.trySignIn("nobody@example.com", "guess")
		if throttled := strings.Contains(string(a.body), "oo many failed tries"); throttled != (i == 5) {
			t.Errorf("guess %d at nobody: %d %v", i+1, a.status, throttled)
		}
	}
}

// A right password costs no try.
func TestSigningInOftenIsNoGuessing(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	for i := range 8 {
		if a := x.trySignIn("operator@example.com", goodPassword); a.status != 303 {
			t.Fatalf("sign-in %d: %d %s", i+1, a.status, a.body)
		}
	}
}

func TestSessionEndsWhenIdleAndPollsDoNotCount(t *testing.T) {
	x := newRig(t)
	n := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", hello))
	poll := fmt.Sprintf("/notices/%d/progress", n.ID)
	used, idle := x.session(db.Operator), x.session(db.Operator)
	for range 3 {
		x.clock.forward(14 * time.Minute)
		if a := x.send("GET", poll, "", withCookie(idle)); a.status != 200 && a.status != 303 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		if !x.in(used) {
			t.Fatal("a session in use ended")
		}
	}
	if x.in(idle) {
		t.Error("polls kept a session alive")
	}
	if a := x.send("GET", poll, "", withCookie(idle)); a.status != 303 {
		t.Errorf("a poll of an ended session: %d", a.status)
	}
}

func TestSessionIsStoredAtMostOnceAMinute(t *testing.T) {
	x := newRig(t)
	c := x.session(db.Operator)
	version := func() int64 { return x.count("SELECT max(xmin::text::bigint) FROM web_session") }
	before := version()
	for range 3 {
		x.in(c)
	}
	if version() != before {
		t.Error("every request writes the session")
	}
	x.clock.forward(2 * time.Minute)
	x.in(c)
	if version() == before {
		t.Error("its use is not stored")
	}
}

func TestSessionEndsForGoodAfterTenHours(t *testing.T) {
	x := newRig(t)
	x.withPassword(db.Operator)
	c := cookieOf(t, x.trySignIn("operator@example.com", goodPassword))
	if n := x.count(`SELECT count(*) FROM web_session WHERE expires_at BETWEEN now() + interval '9 h 59 min' AND now() + interval '10 h'`); n != 1 {
		t.Error("it does not expire in ten hours")
	}
	x.clock.forward(5 * time.Minute)
	x.in(c) // its use is stored
	if n := x.count(`SELECT count(*) FROM web_session WHERE expires_at <= now() + interval '10 h'`); n != 1 {
		t.Error("using it made it live longer")
	}
	x.sql("UPDATE web_session SET expires_at = now()")
	if x.in(c) {
		t.Error("an expired session works")
	}
}

func TestRightsAreThoseOfThisMoment(t *testing.T) {
	x := newRig(t)
	c := x.session(db.Operator)
	if a := x.send("GET", "/notices/new", "", withCookie(c)); a.status != 200 {
		t.Fatalf("%d", a.status)
	}
	x.sql("UPDATE app_user SET role = 'support' WHERE id = $1", x.people[db.Operator].ID)
	if a := x.send("GET", "/notices/new", "", withCookie(c)); a.status != 403 {
		t.Errorf("an operator of before: %d", a.status)
	}
	x.sql("UPDATE app_user SET disabled_at = now() WHERE id = $1", x.people[db.Operator].ID)
	if x.in(c) {
		t.Error("a disabled person is let in")
	}
	x.sql("UPDATE app_user SET disabled_at = NULL WHERE id = $1", x.people[db.Operator].ID)
	if x.in(c) {
		t.Error("the session of a disabled person came back")
	}
}

func TestLateCommitDoesNotReviveASession(t *testing.T) {
	x := newRig(t)
	c := x.session(db.Operator)
	late, err := x.server.sessions.Load(t.Context(), c.Value) // a request in flight
	if err != nil {
		t.Fatal(err)
	}
	x.send("POST", "/signout", "", withCookie(c))
	x.server.sessions.Put(late, sessionSeenKey, x.clock.now().Unix())
	if _, _, err := x.server.sessions.Commit(late); err != nil {
		t.Fatal(err)
	}
	if x.in(c) {
		t.Error("the session came back")
	}
}

func TestNextStaysOnThisSite(t *testing.T) {
	for next, want := range map[string]string{
		"/notices?cursor=a#x": "/notices?cursor=a#x", "/": "/", "": "/", "notices": "/", "//evil.example": "/", "/\\evil.example": "/",
		"https://evil.example/": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/", "/x\r\nSet-Cookie: a=b": "/", "\\\\evil": "/",
	} {
		if got := safeNext(next); got != want {
			t.Errorf("safeNext(%q) = %q", next, got)
		}
	}
}

func TestPasswordHashes(t *testing.T) {
	p := newPasswords()
	stored := HashPassword("비밀번호 열두자 이상")
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=65536,t=2,p=1$") || stored == HashPassword("비밀번호 열두자 이상") {
		t.Errorf("stored as %s", stored)
	}
	for password, want := range map[string]bool{"비밀번호 열두자 이상": true, decomposed("비밀번호 열두자 이상"): true, "비밀번호 열두자 이하": false, "": false} {
		if ok, err := p.match(t.Context(), stored, password); ok != want || err != nil {
			t.Errorf("%q: %t, %v", password, ok, err)
		}
	}
	for _, bad := range []string{"plain", "$argon2id$v=19$m=65536,t=2,p=1$$", "$argon2id$v=19$m=99999999,t=2,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"$argon2i$v=19$m=65536,t=2,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if ok, err := p.match(t.Context(), bad, "x"); ok || err == nil {
			t.Errorf("%s: %t, %v", bad, ok, err)
		}
	}
}
