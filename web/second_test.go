package web

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/pquerna/otp/totp"

	"bongsu/db"
)

// codeAt is what an authenticator shows.
func codeAt(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Appendix B of RFC 6238, the last six of its eight digits.
func TestCodesOfTheStandard(t *testing.T) {
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" // "12345678901234567890"
	for at, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"} {
		if step, ok := stepOf(secret, code, time.Unix(at, 0)); !ok || step != at/30 {
			t.Errorf("at %d: step %d, %v; want %d", at, step, ok, at/30)
		}
		if _, ok := stepOf(secret, code, time.Unix(at+61, 0)); ok {
			t.Errorf("the code of %d is taken a minute later", at)
		}
	}
}

func TestSecondFactor(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	v := x.get("/account/second")
	secret := v.text("code.secret")
	if qr, _ := v.Find("img[alt^=QR]").Attr("src"); len(secret) != 32 || !strings.HasPrefix(qr, "data:image/png;base64,") {
		t.Fatalf("secret %q, picture %.40q", secret, qr)
	}
	if again := x.get("/account/second").text("code.secret"); again != secret {
		t.Errorf("a second look shows another secret")
	}
	if v = x.post("/account/second", "code", "000000"); v.status != 422 || v.text("#code-wrong") == "" {
		t.Errorf("a wrong code: %d %s", v.status, v.text("main"))
	}
	first := codeAt(t, secret, time.Now())
	v = x.post("/account/second", "code", first)
	codes := v.Find("#codes li").Map(func(_ int, li *goquery.Selection) string { return li.Text() })
	if v.status != 200 || len(codes) != recoveryCodes {
		t.Fatalf("%d, %d recovery codes: %s", v.status, len(codes), v.text("main"))
	}

	y := x.other()
	v = y.post("/signin", "email", "ada@example.com", "password", "correct horse", "next", "/notices/new")
	if v.at != "/signin/code?next=%2Fnotices%2Fnew" {
		t.Fatalf("the password alone led to %s", v.at)
	}
	if v = y.get("/notices"); !strings.HasPrefix(v.at, "/signin") {
		t.Errorf("between password and code a page is at %s", v.at)
	}
	if v = y.post("/signin/code", "code", first); v.status != 422 {
		t.Errorf("the code that turned it on works again: %d at %s", v.status, v.at)
	}
	next := codeAt(t, secret, time.Now().Add(30*time.Second))
	if v = y.post("/signin/code", "code", next[:3]+" "+next[3:], "next", "/notices/new"); v.at != "/notices/new" {
		t.Errorf("the code led to %s: %s", v.at, v.text("main"))
	}

	z := x.other()
	for i, want := range []string{"/notices", "/signin/code"} {
		z.post("/signout")
		z.post("/signin", "email", "ada@example.com", "password", "correct horse")
		if v = z.post("/signin/code", "code", strings.ToUpper(codes[0])); v.at != want {
			t.Errorf("recovery code, time %d: at %s, want %s", i+1, v.at, want)
		}
	}

	if v = x.post("/account/second/off", "password", "wrong"); v.status != 422 || v.text("#password-wrong") == "" {
		t.Errorf("off with a wrong password: %d", v.status)
	}
	if v = x.post("/account/second/off", "password", "correct horse"); v.at != "/signin" {
		t.Errorf("off led to %s", v.at)
	}
	if v = x.post("/signin", "email", "ada@example.com", "password", "correct horse"); v.at != "/notices" {
		t.Errorf("without it, the password led to %s", v.at)
	}
}

// Between the password and the code five minutes may pass.
func TestCodeIsAwaitedForFiveMinutes(t *testing.T) {
	x := newRig(t)
	u := x.people[db.Operator]
	secret := newSecond()
	if err := x.db.SetSecond(t.Context(), u.ID, secret, 0, nil, command); err != nil {
		t.Fatal(err)
	}
	half := x.session(db.Operator, sessionHalfKey)
	x.clock.forward(6 * time.Minute)
	a := x.send("POST", "/signin/code", "code="+codeAt(t, secret, x.clock.now()), withCookie(half), formType)
	if a.status != 303 || a.header.Get("Location") != "/signin" {
		t.Errorf("%d to %s", a.status, a.header.Get("Location"))
	}
	half = x.session(db.Operator, sessionHalfKey)
	a = x.send("POST", "/signin/code", "code="+codeAt(t, secret, x.clock.now()), withCookie(half), formType)
	if a.status != 303 || a.header.Get("Location") != "/" {
		t.Errorf("in time: %d to %s", a.status, a.header.Get("Location"))
	}
}

func TestAdminsOweASecondFactor(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.AdminsSecond = true })
	admin := withCookie(x.session(db.Admin))
	if a := x.send("GET", "/users", "", admin); a.status != 303 || a.header.Get("Location") != "/account/second" {
		t.Errorf("a page: %d to %q", a.status, a.header.Get("Location"))
	}
	if a := x.send("POST", "/archive/replays", "", admin); a.status != 403 || !strings.Contains(string(a.body), "second factor") {
		t.Errorf("an act: %d %s", a.status, a.body)
	}
	if a := x.send("GET", "/account/second", "", admin); a.status != 200 {
		t.Errorf("the page to set it up: %d", a.status)
	}
	if a := x.send("GET", "/notices", "", withCookie(x.session(db.Operator))); a.status != 200 {
		t.Errorf("an operator: %d", a.status)
	}
}

var formType = withHeader("Content-Type", "application/x-www-form-urlencoded")
