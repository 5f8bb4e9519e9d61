package web

import (
	"bytes"
	"encoding/csv"
	"net/http/cookiejar"
	"strings"
	"testing"

	"bongsu/db"
)

// other is a second browser at the same site.
func (x *site) other() *site {
	x.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		x.t.Fatal(err)
	}
	y := *x
	browser := *x.browser
	browser.Jar = jar
	y.browser = &browser
	return &y
}

func TestInvitePersonByLink(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	v := x.post("/users", "email", "kim", "role", "root")
	if v.status != 422 || v.text("#email-wrong") == "" || !strings.Contains(v.text("#invite"), "must be operator, support or admin") {
		t.Errorf("a wrong invitation: %d %s", v.status, v.text("#invite"))
	}
	v = x.post("/users", "email", "kim@example.com", "role", "operator")
	href, _ := v.Find("#href").Attr("value")
	if v.status != 200 || !strings.HasPrefix(href, x.base+"/welcome/") {
		t.Fatalf("%d, the link is %q", v.status, href)
	}
	if list := x.get("/users"); !strings.Contains(list.text("tbody"), "kim@example.com") || strings.Contains(list.text("main"), "/welcome/") {
		t.Errorf("the list says %s", list.text("main"))
	}
	if v = x.post("/users", "email", "KIM@example.com", "role", "operator"); v.status != 422 || !strings.Contains(v.text("#email-wrong"), "already") {
		t.Errorf("invited twice: %d %s", v.status, v.text("#invite"))
	}

	path := strings.TrimPrefix(href, x.base)
	y := x.other()
	for range 2 { // looking at it does not use it up
		if v = y.get(path); v.status != 200 || !strings.Contains(v.text("main"), "kim@example.com") {
			t.Fatalf("%d %s", v.status, v.text("main"))
		}
	}
	if v = y.post(path, "new", "short", "repeat", "other"); v.status != 422 || v.text("#new-wrong") == "" || v.text("#repeat-wrong") == "" {
		t.Errorf("a bad password: %d %s", v.status, v.text("main"))
	}
	if v = y.post(path, "new", "four unrelated words", "repeat", "four unrelated words"); v.at != "/signin?ready=1" || !strings.Contains(v.text("main"), "is set") {
		t.Errorf("%d at %s", v.status, v.at)
	}
	if v = y.post(path, "new", "another set of words", "repeat", "another set of words"); v.status != 404 || !strings.Contains(v.text("main"), "does not work any more") {
		t.Errorf("the used link: %d %s", v.status, v.text("main"))
	}
	if v = y.post("/signin", "email", "kim@example.com", "password", "four unrelated words"); v.at != "/notices" {
		t.Errorf("signing in led to %s: %s", v.at, v.text("main"))
	}
}

func TestRoleAndDisableHoldAtOnce(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.addUser("kim@example.com", db.Support)
	u, err := x.db.UserByEmail(t.Context(), "kim@example.com")
	if err != nil {
		t.Fatal(err)
	}
	kim := userHref(u.ID)
	y := x.other()
	y.post("/signin", "email", "kim@example.com", "password", "correct horse")
	if v := y.get("/archive"); v.status != 403 {
		t.Errorf("support at the archive: %d", v.status)
	}
	if v := x.post(kim+"/role", "role", "admin"); v.at != kim || !strings.Contains(v.text("[role=status]"), "role is changed") {
		t.Errorf("led to %s: %s", v.at, v.text("main"))
	}
	if v := y.get("/archive"); v.status != 200 {
		t.Errorf("an admin at the archive, with the session from before: %d", v.status)
	}
	if v := x.get(kim); !strings.Contains(v.text("table"), "Go-http-client") || !strings.Contains(v.text("table"), "127.0.0.1") {
		t.Errorf("the page does not tell the browser: %s", v.text("main"))
	}
	if v := x.get(kim + "/disable"); !strings.Contains(v.text("main"), "kim@example.com") {
		t.Errorf("it asks %s", v.text("main"))
	}
	x.post(kim + "/disable")
	if v := y.get("/notices"); !strings.HasPrefix(v.at, "/signin") {
		t.Errorf("the disabled person is at %s", v.at)
	}
	if v := y.post("/signin", "email", "kim@example.com", "password", "correct horse"); v.status != 422 {
		t.Errorf("the disabled person signs in: %d at %s", v.status, v.at)
	}
	x.post(kim + "/enable")
	if v := y.post("/signin", "email", "kim@example.com", "password", "correct horse"); v.at != "/notices" {
		t.Errorf("enabled again: %d at %s", v.status, v.at)
	}
	x.post(kim + "/sessions")
	if v := y.get("/notices"); !strings.HasPrefix(v.at, "/signin") {
		t.Errorf("the person whose sessions were ended is at %s", v.at)
	}
	// The last admin cannot be lost: kim is one still, then no more.
	x.post(kim+"/role", "role", "support")
	me, err := x.db.UserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if v := x.post(userHref(me.ID) + "/disable"); v.status != 409 || !strings.Contains(v.text("main"), "last admin") {
		t.Errorf("the last admin: %d %s", v.status, v.text("main"))
	}
}

func TestOwnPasswordAndSessions(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	y, z := x.other(), x.other()
	for _, b := range []*site{y, z} {
		b.post("/signin", "email", "ada@example.com", "password", "correct horse")
	}
	v := x.get("/account")
	if n := v.Find("tbody tr").Length(); n != 3 || strings.Count(v.text("tbody"), "this browser") != 1 {
		t.Fatalf("%d sessions: %s", n, v.text("tbody"))
	}
	if v = x.post("/account/sessions"); v.at != "/account" || v.Find("tbody tr").Length() != 1 {
		t.Errorf("led to %s with %d sessions", v.at, v.Find("tbody tr").Length())
	}
	if v = y.get("/notices"); !strings.HasPrefix(v.at, "/signin") {
		t.Errorf("the other browser is at %s", v.at)
	}
	y.post("/signin", "email", "ada@example.com", "password", "correct horse")
	v = x.post("/account/password", "current", "wrong horse", "new", "a longer new one", "repeat", "a longer new one")
	if v.status != 422 || v.text("#current-wrong") == "" {
		t.Errorf("a wrong password: %d %s", v.status, v.text("main"))
	}
	v = x.post("/account/password", "current", "correct horse", "new", "a longer new one", "repeat", "a longer new one")
	if v.at != "/account" || !strings.Contains(v.text("[role=status]"), "password is changed") {
		t.Errorf("led to %s: %s", v.at, v.text("main"))
	}
	if v = y.get("/notices"); !strings.HasPrefix(v.at, "/signin") {
		t.Errorf("after the change the other browser is at %s", v.at)
	}
	if v = y.post("/signin", "email", "ada@example.com", "password", "a longer new one"); v.at != "/notices" {
		t.Errorf("the new password: %d at %s", v.status, v.at)
	}
}

func TestTokenIsShownOnceAndRevoked(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	if v := x.post("/tokens", "name", "", "role", "operator", "days", "soon"); v.status != 422 || v.text("#days-wrong") == "" {
		t.Errorf("a wrong token: %d %s", v.status, v.text("main"))
	}
	v := x.post("/tokens", "name", "Shop", "role", "operator", "days", "30")
	token, _ := v.Find("#secret").Attr("value")
	if v.status != 200 || !strings.HasPrefix(token, tokenPrefix) {
		t.Fatalf("%d, token %q", v.status, token)
	}
	list := x.get("/tokens")
	if strings.Contains(list.text("main"), token) || !strings.Contains(list.text("tbody"), "active") {
		t.Errorf("the list says %s", list.text("main"))
	}
	href, _ := list.Find("tbody a").Attr("href")
	if v = x.get(href); !strings.Contains(v.text("main"), "Shop") {
		t.Errorf("it asks %s", v.text("main"))
	}
	if v = x.post(href); v.at != "/tokens" || !strings.Contains(v.text("tbody"), "revoked") {
		t.Errorf("led to %s: %s", v.at, v.text("tbody"))
	}
	if _, err := x.db.TokenByHash(t.Context(), tokenHash(token)); err == nil {
		t.Error("the revoked token works")
	}
}

func TestAuditPageFiltersAndExports(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.post("/users", "email", "=cmd@example.com", "role", "operator")
	x.other().post("/signin", "email", "ada@example.com", "password", "wrong horse")
	v := x.get("/audit?act=user.invite")
	if n := v.Find("tbody tr").Length(); n != 1 || !strings.Contains(v.text("tbody"), "user.invite") {
		t.Errorf("%d acts: %s", n, v.text("tbody"))
	}
	if v = x.get("/audit?result=refused"); v.Find("tbody tr").Length() != 1 || !strings.Contains(v.text("tbody"), "signin") {
		t.Errorf("refused: %s", v.text("tbody"))
	}
	if v = x.get("/audit?from=yesterday"); v.status != 422 || v.text("#from-wrong") == "" {
		t.Errorf("a bad time: %d", v.status)
	}
	if v = x.get("/audit?act=nothing.such"); !strings.Contains(v.text("main"), "Widen the filter") {
		t.Errorf("nothing found: %s", v.text("main"))
	}
	file := x.get("/audit.csv?act=user.invite")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.Find("body").Text(), "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != "user.invite" || !strings.Contains(rows[1][7], "email: =cmd@example.com") {
		t.Errorf("%v, %v", rows, err)
	}
}

// What somebody was refused, and whose history was read, is in the log.
func TestLogOfRefusalsAndReads(t *testing.T) {
	x := newRig(t)
	x.send("POST", "/archive/replays", "all=1", withCookie(x.session(db.Operator)))
	a := x.call(db.Admin, "PUT", "/devices", `{"token":"abc","platform":"web","user":"kim"}`)
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	x.call(db.Support, "GET", "/devices/1/deliveries", "")
	x.call(db.Support, "GET", "/devices?user=kim", "")
	x.send("GET", "/devices/1", "", withCookie(x.session(db.Support)))
	for act, want := range map[string]int64{"request": 1, "device.read": 2, "device.find": 1} {
		if n := x.count("SELECT count(*) FROM audit WHERE act = $1", act); n != want {
			t.Errorf("%s: %d lines, want %d", act, n, want)
		}
	}
	if n := x.count("SELECT count(*) FROM audit WHERE act = 'request' AND result = 'refused' AND role = 'operator' AND detail->>'needs' = 'admin'"); n != 1 {
		t.Errorf("%d refusals with the role that was needed", n)
	}
}

// The link of an invitation and passwords are in no line of the log.
func TestNoSecretOfPeopleInLogs(t *testing.T) {
	x := newRig(t)
	a := x.send("POST", "/users", "email=kim%40example.com&role=support", withCookie(x.session(db.Admin)), formType)
	_, rest, ok := bytes.Cut(a.body, []byte("/welcome/"))
	if a.status != 200 || !ok {
		t.Fatalf("%d %s", a.status, a.body)
	}
	token := string(rest[:32])
	form := "new=four+unrelated+words&repeat=four+unrelated+words"
	if a = x.send("POST", "/welcome/"+token, form, formType); a.status != 303 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if strings.Contains(x.log.text(), token) || strings.Contains(x.log.text(), "unrelated") {
		t.Error("the log has the link or the password")
	}
	if n := x.count("SELECT count(*) FROM audit WHERE detail::text LIKE '%' || $1 || '%'", token); n != 0 {
		t.Error("the log of acts has the link")
	}
}
