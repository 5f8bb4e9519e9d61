package web

import (
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

func TestSignInAndOut(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	v := x.post("/signout")
	if v.at != "/signin" {
		t.Errorf("signing out led to %s", v.at)
	}
	if v = x.get("/notices/new"); v.at != "/signin?next=%2Fnotices%2Fnew" || v.text("h1") != "Sign in" {
		t.Errorf("a page for signed-in people led to %s", v.at)
	}
	v = x.post("/signin", "email", "ada@example.com", "password", "wrong", "next", "/notices/new")
	if v.status != http.StatusUnprocessableEntity || !strings.Contains(v.text("[role=alert]"), "password is wrong") {
		t.Errorf("%d %q", v.status, v.text("[role=alert]"))
	}
	if email, _ := v.Find("#email").Attr("value"); email != "ada@example.com" {
		t.Errorf("the typed e-mail is %q", email)
	}
	v = x.post("/signin", "email", "ada@example.com", "password", "correct horse", "next", "/notices/new")
	if v.at != "/notices/new" {
		t.Errorf("signing in led to %s", v.at)
	}
	v = x.post("/signin", "email", "ada@example.com", "password", "correct horse", "next", "//evil.example/")
	if v.at != "/notices" {
		t.Errorf("a foreign next led to %s", v.at)
	}
}

func TestSubmitTwiceIsOneNoticeAndTheOriginal(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3)
	form := []string{"title", "Hello", "body", "Line one\r\nLine two", "category", "info", "tags", "vip, gold"}
	first := x.post("/notices", form...)
	if first.status != 200 || !strings.HasPrefix(first.at, "/notices/") || first.text("h1") != "Hello" {
		t.Fatalf("%d at %s: %s", first.status, first.at, first.text("main"))
	}
	if strings.Contains(first.text("main"), "this is the original") {
		t.Error("the first submit is shown as a repeat")
	}
	second := x.post("/notices", form...)
	if second.at != first.at+"?original=1" {
		t.Errorf("the second submit led to %s", second.at)
	}
	if got := second.text("[role=status] .note"); !strings.Contains(got, "by ada@example.com; this is the original") {
		t.Errorf("the banner says %q", got)
	}
	if n := x.get("/notices").Find("tbody tr").Length(); n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestSendItAgainRepeatsTheNewestOnce(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	form := []string{"title", "Weekly", "body", "Text", "category", "info"}
	first := x.post("/notices", form...).at
	again := x.post("/notices", form...)
	send := again.Find("form[action='" + first + "/repeat']")
	of, _ := send.Find("input[name=repeat_of]").Attr("value")
	if of == "" {
		t.Fatalf("no form to send it again: %s", again.text("main"))
	}
	one := x.post(first+"/repeat", "repeat_of", of).at
	two := x.post(first+"/repeat", "repeat_of", of).at
	if one == first || two != one+"?original=1" {
		t.Errorf("pressing twice led to %s and %s", one, two)
	}
	// From the first notice, the next repeat is one of the newest.
	again = x.post("/notices", form...)
	of, _ = again.Find("input[name=repeat_of]").Attr("value")
	if "/notices/"+of != one {
		t.Errorf("it offers to repeat %s, the newest is %s", of, one)
	}
	if !strings.Contains(again.text("[role=status]"), "#"+of+" (accepted)") {
		t.Errorf("the newest is not named: %s", again.text("[role=status]"))
	}
}

func TestSubmitByHTMX(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	v := x.htmx("POST", "/notices", "title", "Hello", "body", "Text", "category", "info")
	if to := v.header.Get("HX-Redirect"); v.status != 200 || !strings.HasPrefix(to, "/notices/") {
		t.Errorf("%d, HX-Redirect %q", v.status, to)
	}
	v = x.htmx("POST", "/notices", "title", "", "body", "kept", "link", "javascript:alert(1)")
	if v.status != http.StatusUnprocessableEntity || v.Find("html > head > title").Length() != 0 || v.Find("form#compose").Length() != 1 {
		t.Errorf("%d: not the form alone", v.status)
	}
	if v.header.Get("X-Bongsu") != "1" {
		t.Error("the answer does not say that it is ours")
	}
}

func TestWhatIsWrongComesBackWithWhatWasTyped(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	v := x.post("/notices", "title", "", "body", "kept\r\ntext", "link", "javascript:alert(1)", "category", "ad", "platforms", "web", "tags", "a, b", "expires_at", "soon")
	if v.status != http.StatusUnprocessableEntity {
		t.Fatalf("status %d", v.status)
	}
	if got := v.text("#expires_at-wrong"); !strings.Contains(got, "day and a time") {
		t.Errorf("expires_at: %q", got)
	}
	v = x.post("/notices", "title", "", "body", "kept\r\ntext", "link", "javascript:alert(1)", "category", "ad", "platforms", "web", "tags", "a, b")
	for field, want := range map[string]string{"title": "is missing", "link": "may not use the scheme"} {
		if got := v.text("#" + field + "-wrong"); !strings.Contains(got, want) {
			t.Errorf("%s: %q", field, got)
		}
	}
	if got := v.Find("#body").Text(); strings.TrimSpace(got) != "kept\r\ntext" && strings.TrimSpace(got) != "kept\ntext" {
		t.Errorf("body %q", got)
	}
	for selector, n := range map[string]int{"input[value=ad][checked]": 1, "input[value=web][checked]": 1, "input[value=ios][checked]": 0, "#tags[value='a, b']": 1} {
		if v.Find(selector).Length() != n {
			t.Errorf("%s is there %d times, want %d", selector, v.Find(selector).Length(), n)
		}
	}
	if n := x.get("/notices").Find("tbody tr").Length(); n != 0 {
		t.Errorf("%d notices were stored", n)
	}
}

func TestAudienceIsCounted(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1234)
	if got := x.get("/notices/new").text("#audience-count"); got != "1,234 devices match now." {
		t.Errorf("on the page: %q", got)
	}
	if got := x.htmx("GET", "/notices/audience?platforms=android&tags=vip").text("#audience-count"); !strings.Contains(got, "No device matches") {
		t.Errorf("for android: %q", got)
	}
	v := x.post("/notices", "act", "preview", "title", "T", "body", "B", "tags", "vip")
	if got := v.text("#audience-count"); got != "1,234 devices match now." || v.text(".phone strong") != "T" {
		t.Errorf("without script: %q", got)
	}
	if n := x.get("/notices").Find("tbody tr").Length(); n != 0 {
		t.Error("a preview was sent")
	}
}

func TestPauseResumeCancel(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	v := x.post(at + "/pause")
	if v.at != at || v.Find("form[action='"+at+"/resume']").Length() != 1 || !strings.Contains(v.text("main"), "The notice is paused") {
		t.Errorf("paused: at %s, %s", v.at, v.text("main"))
	}
	if v = x.get(at); strings.Contains(v.text("main"), "The notice is paused.") {
		t.Error("the message is shown twice")
	}
	if v = x.post(at + "/pause"); v.status != http.StatusConflict || !strings.Contains(v.text("main"), "is paused and cannot be paused") {
		t.Errorf("pausing twice: %d %s", v.status, v.text("main"))
	}
	x.post(at + "/resume")
	v = x.get(at + "/cancel")
	if v.Find("form[method=post][action='"+at+"/cancel'] button").Length() != 1 {
		t.Errorf("no question before cancelling: %s", v.text("main"))
	}
	if got := x.get(at).text("#progress .badge"); strings.Contains(got, "cancelled") {
		t.Error("asking cancelled it")
	}
	if v = x.post(at + "/cancel"); !strings.Contains(v.text("#progress"), "Cancelled.") || v.Find("form[action$='/pause'], form[action$='/resume']").Length() != 0 {
		t.Errorf("cancelled: %s", v.text("main"))
	}
}

func TestSupportReadsAndCannotSend(t *testing.T) {
	x := newSite(t, db.Support, nil)
	x.devices(1)
	if v := x.get("/notices"); v.status != 200 || v.Find("a[href='/notices/new']").Length() != 0 {
		t.Errorf("%d, links to compose: %d", v.status, v.Find("a[href='/notices/new']").Length())
	}
	v := x.post("/notices", "title", "Hello", "body", "Text", "category", "info")
	if v.status != http.StatusForbidden || !strings.Contains(v.text("main"), "operator") {
		t.Errorf("%d %s", v.status, v.text("main"))
	}
	if v := x.get("/archive"); v.status != http.StatusForbidden {
		t.Errorf("the archive: %d", v.status)
	}
}
