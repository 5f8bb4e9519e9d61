package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

// typedNotice is a notice as its form sends it, with line ends as a browser writes them.
func typedNotice(more ...string) []string {
	return append([]string{"title", "Hello", "body", "Line one\r\nLine two", "link", "https://example.com/a", "category", "ad",
		"platforms", "ios", "platforms", "web", "tags", "vip, gold", "expires_at", "2030-01-31T18:00"}, more...)
}

// wantTyped fails unless the compose form holds all of it.
func (v seen) wantTyped(t *testing.T) {
	t.Helper()
	if v.status != http.StatusOK || v.Find("form#compose").Length() != 1 {
		t.Fatalf("%d: no form: %s", v.status, v.text("main"))
	}
	for _, selector := range []string{"#title[value=Hello]", "#link[value='https://example.com/a']", "input[name=category][value=ad][checked]",
		"input[value=ios][checked]", "input[value=web][checked]", "#tags[value='vip, gold']", "#expires_at[value='2030-01-31T18:00']"} {
		if v.Find(selector).Length() != 1 {
			t.Errorf("%s is not there", selector)
		}
	}
	if got := strings.ReplaceAll(strings.TrimSpace(v.Find("#body").Text()), "\r", ""); got != "Line one\nLine two" {
		t.Errorf("body %q", got)
	}
}

func TestATestIsSentFromTheNotice(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(12)
	x.sql(`UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE id = 2`)
	v := x.post("/notices/test", typedNotice()...)
	if v.status != 200 || v.Find("input[name=device]").Length() != 0 || v.text("form#test-form dl.facts bdi") != "Hello" {
		t.Fatalf("%d %s", v.status, v.text("main"))
	}
	x.post("/notices/test", typedNotice("act", "back")...).wantTyped(t)

	v = x.post("/notices/test", typedNotice("act", "find", "numbers", "1, 2 99", "token", "token-3")...)
	if v.Find("input[name=device]").Length() != 3 || v.Find("input[name=device][checked]").Length() != 2 || v.Find("input[name=device][value='2'][checked]").Length() != 0 {
		t.Errorf("found by number and token: %s", v.text("table"))
	}
	if strings.Contains(v.text("html"), "token-3") || v.Find("[value='token-3']").Length() != 0 {
		t.Error("the token is on the page")
	}
	// What is chosen stays, and what is not.
	v = x.post("/notices/test", typedNotice("act", "find", "user", "kim", "shown", "1", "shown", "2", "device", "2")...)
	if n := v.Find("input[name=device]").Length(); n != testChoices || !strings.Contains(v.text("[role=status]"), "There are more") {
		t.Errorf("%d devices: %s", n, v.text("[role=status]"))
	}
	if v.Find("input[name=device][value='1'][checked]").Length() != 0 || v.Find("input[name=device][value='2'][checked]").Length() != 1 {
		t.Error("looking for more changed what was chosen")
	}

	v = x.post("/notices/test", typedNotice("act", "send", "shown", "1", "shown", "2", "device", "1", "device", "2")...)
	if !strings.HasPrefix(v.at, "/test-sends/") || v.text(".lead") != "0 of 2 devices done." {
		t.Fatalf("sent: at %s, %s", v.at, v.text("main"))
	}
	href, _ := v.Find("#test").Attr("hx-get")
	if part := x.htmx("GET", href); part.status != http.StatusNoContent {
		t.Errorf("nothing changed, and the answer is %d", part.status)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(v.at, "/test-sends/"), "?")
	x.sql(`UPDATE test_send_device SET status = 'sent', sent_at = now() WHERE test_send_id = $1::bigint AND device_id = 1`, id)
	x.sql(`UPDATE test_send_device SET status = 'skipped', reason = 'device_disabled' WHERE test_send_id = $1::bigint AND device_id = 2`, id)
	x.sql(`UPDATE test_send SET finished_at = now() WHERE id = $1::bigint`, id)
	part := x.htmx("GET", href)
	if part.Find("[hx-get]").Length() != 0 || part.text(".lead") != "2 of 2 devices done." || !strings.Contains(part.text("tbody"), "skipped") {
		t.Errorf("the last part: %s", part.text("body"))
	}
	back, _ := v.Find("main a[role=button]").Attr("href")
	x.get(back).wantTyped(t)
	if v = x.get("/notices"); v.Find("tbody tr").Length() != 0 {
		t.Error("a test sent the notice")
	}
	if v = x.get(v.at); strings.Contains(v.text("main"), "a moment before") {
		t.Error("the first test has one before it")
	}
	v = x.post("/notices/test", typedNotice("act", "send", "device", "1")...)
	if got := v.text("main .note-warn"); !strings.Contains(got, "Test "+id) || !strings.Contains(got, "get it twice") {
		t.Errorf("pressed again: %q", got)
	}
	if n := x.audited("test_send.create"); n != 2 {
		t.Errorf("%d lines in the log of acts", n)
	}
	if n := x.audited("device.find"); n != 1 {
		t.Errorf("%d lines about looking for a person", n)
	}
}

// audited counts the lines of an act.
func (x *site) audited(act string) int {
	x.t.Helper()
	p, err := x.db.Audit(x.t.Context(), db.AuditFilter{Act: act}, "", 100)
	if err != nil {
		x.t.Fatal(err)
	}
	return len(p.Items)
}

func TestWhatIsWrongWithATest(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(12)
	for name, c := range map[string]struct {
		fields []string
		want   string
	}{
		"none chosen": {[]string{"title", "T", "body", "B", "act", "send", "shown", "1"}, "Devices for the test: choose at least one"},
		"no title":    {[]string{"body", "B", "act", "send", "shown", "1", "device", "1"}, "Title: is missing"},
		"a bad link":  {[]string{"title", "T", "body", "B", "link", "javascript:x", "act", "send", "shown", "1", "device", "1"}, "Link (optional): may not use the scheme"},
		"too long":    {[]string{"title", strings.Repeat("점", 201), "body", "B", "act", "send", "shown", "1", "device", "1"}, "Title: is 1 characters too long"},
		"gone":        {[]string{"title", "T", "body", "B", "act", "send", "shown", "1", "device", "99"}, "there is no device 99"},
		"eleven":      {append([]string{"title", "T", "body", "B", "act", "send", "shown", "1"}, strings.Fields(strings.Repeat("device 1 ", 11))...), "choose at most 10"},
	} {
		v := x.post("/notices/test", c.fields...)
		if got := v.text("[role=alert]"); v.status != http.StatusUnprocessableEntity || !strings.Contains(got, c.want) || !strings.Contains(got, "No test was sent") {
			t.Errorf("%s: %d %q", name, v.status, got)
		}
		if v.Find("input[name=device]").Length() != 1 {
			t.Errorf("%s: what was shown is gone", name)
		}
	}
	v := x.htmx("POST", "/notices/test", "act", "find", "numbers", "one")
	if v.status != 200 || v.text("#numbers-wrong") == "" || v.Find("form#test-form").Length() != 1 || v.Find("header").Length() != 0 {
		t.Errorf("a number that is none: %d %s", v.status, v.text("body"))
	}
	if v = x.post("/notices/test", "act", "find", "user", "nobody"); !strings.Contains(v.text("main"), "No device was found") {
		t.Errorf("nobody: %s", v.text("main"))
	}
	if v = x.post("/notices/test", "act", "find", "user", "a-token-in-the-wrong-field"); v.Find("#user").AttrOr("value", "") != "" {
		t.Error("what named nobody is repeated")
	}
	if log, err := x.db.Audit(t.Context(), db.AuditFilter{}, "", 100); err != nil || strings.Contains(fmt.Sprint(log.Items), "wrong-field") {
		t.Errorf("it is in the log of acts: %v %v", log.Items, err)
	}
	if v = x.post("/notices/test", "act", "find", "token", "nobody's"); v.text("#token-wrong") == "" {
		t.Errorf("no such token: %s", v.text("main"))
	}
	if n := x.audited("test_send.create"); n != 0 {
		t.Errorf("%d tests were sent", n)
	}
}

func TestWhoMaySendATest(t *testing.T) {
	x := newSite(t, db.Support, nil)
	x.devices(1)
	if v := x.post("/notices/test", "title", "T", "body", "B", "act", "send", "device", "1"); v.status != http.StatusForbidden {
		t.Errorf("support: %d", v.status)
	}
	made, err := x.db.CreateTestSend(t.Context(), "T", "B", "", []int64{1}, db.Actor{ID: "user:1", Name: "ada@example.com", Role: db.Operator})
	if err != nil {
		t.Fatal(err)
	}
	v := x.get("/test-sends/" + idText(made.ID))
	if v.status != 200 || v.Find("a[href^='/notices/new']").Length() != 0 {
		t.Errorf("support reads it: %d %s", v.status, v.text("main"))
	}
	if v = x.get("/test-sends/999"); v.status != http.StatusNotFound {
		t.Errorf("a test that is not there: %d", v.status)
	}
}

func TestANewOperatorFindsDevicesByNameAndTheLastOnesAgain(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3)
	x.sql(`UPDATE device SET person = 'lee' WHERE id = 2`)
	v := x.post("/notices/test", typedNotice()...)
	if first := v.Find("#test-form input:not([type=hidden])").First(); first.AttrOr("name", "") != "user" || strings.Contains(v.text("main"), "your last test") {
		t.Errorf("the first field is %q: %s", first.AttrOr("name", ""), v.text("main"))
	}
	v = x.post("/notices/test", typedNotice("act", "find", "user", "lee")...)
	if v.Find("input[name=device]").Length() != 1 || v.Find("input[name=device][value='2'][checked]").Length() != 1 || strings.Contains(v.text("table"), "token-2") {
		t.Fatalf("found by name: %s", v.text("table"))
	}
	if n := x.audited("device.find"); n != 1 {
		t.Errorf("%d lines in the log of acts", n)
	}
	if v = x.post("/notices/test", typedNotice("act", "send", "device", "2")...); !strings.HasPrefix(v.at, "/test-sends/") {
		t.Fatalf("sending led to %s", v.at)
	}
	v = x.post("/notices/test", typedNotice()...)
	if v.Find("input[name=device][value='2']").Length() != 1 || v.Find("input[name=device]").Length() != 1 || v.Find("input[name=device][checked]").Length() != 0 ||
		!strings.Contains(v.text("main"), "the devices of your last test") {
		t.Errorf("the last ones are not offered, or are chosen: %s", v.text("main"))
	}
}

func TestATestSaysWhatItWaitsFor(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices/test", typedNotice("act", "send", "device", "1")...).at
	at, _, _ = strings.Cut(at, "?")
	if got := x.get(at).text("#test-waits"); !strings.Contains(got, "It waits: no worker is running") {
		t.Errorf("without a worker it says %q", got)
	}
	x.sql(`INSERT INTO worker (id, started_at, seen_at, in_flight, slots, version) VALUES ('one', now(), now() + interval '1 hour', 0, 256, '1.0.0')`)
	x.sql(`UPDATE feeder SET term = 3, holder = 'one', lease_until = now() + interval '1 hour', redis_ok_at = now(), redis_down_at = '2026-12-01T05:11:30Z', redis_error = 'refused'`)
	v := x.get(at)
	if got := v.text("#test-waits"); !strings.Contains(got, "It waits: the queue (Redis) does not answer, since 2026-12-01 05:11:30 UTC") {
		t.Errorf("without Redis it says %q", got)
	}
	for _, href := range []string{"/status", "/runbook/redis-down"} {
		if v.Find("#test-waits a[href='"+href+"']").Length() != 1 {
			t.Errorf("no link to %s", href)
		}
	}
	x.sql(`UPDATE feeder SET redis_down_at = NULL`)
	if got := x.get(at).text("#test-waits"); got != "" {
		t.Errorf("while all is well it says %q", got)
	}
	x.sql(`UPDATE feeder SET redis_down_at = now()`)
	x.sql(`UPDATE test_send SET finished_at = now()`)
	if got := x.get(at).text("#test-waits"); got != "" {
		t.Errorf("a test that is through waits: %q", got)
	}
}
