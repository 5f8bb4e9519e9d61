package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

func TestDeviceIsPutAndReadAndErased(t *testing.T) {
	x := newRig(t)
	a := x.call(db.Operator, "PUT", "/devices", `{"token":"token-of-kim-0001","platform":"ios","user":"kim","tags":["vip"],"installation":"phone 1"}`)
	d := read[deviceJSON](t, a)
	if a.status != 200 || d.ID == 0 || *d.User != "kim" || !d.Consent || strings.Contains(string(a.body), "token-of-kim") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	path := fmt.Sprintf("/devices/%d", d.ID)
	moved := read[deviceJSON](t, x.call(db.Operator, "PUT", "/devices", `{"token":"another-token-00002","platform":"ios","consent":false,"installation":"phone 1"}`))
	if moved.ID != d.ID || moved.Consent || *moved.User != "kim" || strings.Join(moved.Tags, "") != "vip" {
		t.Errorf("%+v", moved)
	}
	found := read[list[deviceJSON]](t, x.call(db.Support, "GET", "/devices?user=kim", ""))
	if len(found.Items) != 1 || found.Items[0].ID != d.ID || found.Next != nil {
		t.Errorf("%+v", found)
	}
	if one := read[deviceJSON](t, x.call(db.Support, "GET", path, "")); one.Consent {
		t.Errorf("%+v", one)
	}
	if a := x.call(db.Operator, "DELETE", path, ""); a.status != 403 {
		t.Errorf("an operator erased: %d", a.status)
	}
	for range 2 {
		if a := x.call(db.Support, "DELETE", path, ""); a.status != 204 || len(a.body) != 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	gone := read[deviceJSON](t, x.call(db.Support, "GET", path, ""))
	if gone.ErasedAt == nil || gone.User != nil || gone.TokenMasked != "" || gone.Installation != nil {
		t.Errorf("%+v", gone)
	}
	for _, path := range []string{"/devices/77", "/devices/77/deliveries"} {
		if a := x.call(db.Support, "GET", path, ""); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := x.call(db.Support, "DELETE", "/devices/77", ""); a.status != 404 {
		t.Errorf("erasing nothing: %d", a.status)
	}
}

func TestListOfDevicesIsStoredWholeOrNotAtAll(t *testing.T) {
	x := newRig(t)
	a := x.call(db.Operator, "PUT", "/devices", `[{"token":"a","platform":"ios"},{"token":"b","platform":"web"},{"token":"a","platform":"android"}]`)
	all := read[list[deviceJSON]](t, a)
	if a.status != 200 || len(all.Items) != 3 || all.Items[0].ID != all.Items[2].ID || all.Items[1].Platform != "web" {
		t.Errorf("%d %s", a.status, a.body)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		fields []string
	}{
		"one wrong of two": {`[{"token":"c","platform":"ios"},{"token":"","platform":"fax"}]`, 422, []string{"devices[1].token", "devices[1].platform"}},
		"wrong types":      {`[{"token":1,"platform":"ios","consent":"yes","tags":[3]}, 7]`, 422, []string{"devices[0].token", "devices[0].tags[0]", "devices[0].consent", "devices[1]"}},
		"unknown field":    {`[{"token":"c","platform":"ios","os":"x"}]`, 422, []string{"devices[0].os"}},
		"one alone":        {`{"token":"has space","platform":"ios","tags":["a|b"]}`, 422, []string{"token", "tags"}},
		"neither":          {`"token"`, 422, []string{"body"}},
	} {
		a := x.call(db.Operator, "PUT", "/devices", c.body)
		p := a.problem(t)
		for _, field := range c.fields {
			if !strings.Contains(string(a.body), `"field":"`+field+`"`) {
				t.Errorf("%s: %s is not named: %s", name, field, a.body)
			}
		}
		if a.status != c.status || len(p.Errors) < len(c.fields) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := x.call(db.Operator, "PUT", "/devices", `[]`); a.status != 200 || read[list[deviceJSON]](t, a).Items == nil {
		t.Errorf("an empty list: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM device"); n != 2 {
		t.Errorf("%d devices", n)
	}
}

func TestListOfDevicesMayBeLargerThanOtherBodies(t *testing.T) {
	x := newRig(t)
	body := `[{"token":"a","platform":"ios"}` + strings.Repeat(" ", 2<<20) + `]`
	if a := x.call(db.Operator, "PUT", "/devices", body); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := x.send("PUT", apiRoot+"/devices", strings.Repeat(" ", 16<<20+1), withToken(x.tokens[db.Operator])); a.status != 413 || a.problem(t).Code != "too_large" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestUserIsNeededToListDevices(t *testing.T) {
	x := newRig(t)
	for _, query := range []string{"", "?user=", "?user=%00", "?user=a&user=b"} {
		a := x.send("GET", apiRoot+"/devices"+query, "", withToken(x.tokens[db.Support]))
		if a.status != 422 || !strings.Contains(string(a.body), `"field":"user"`) {
			t.Errorf("%q: %d %s", query, a.status, a.body)
		}
	}
	if a := x.call(db.Support, "GET", "/devices?user=nobody", ""); a.status != 200 || string(a.body) != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestTestSend(t *testing.T) {
	x := newRig(t)
	d := read[deviceJSON](t, x.call(db.Operator, "PUT", "/devices", `{"token":"a","platform":"ios"}`))
	a := x.call(db.Operator, "POST", "/test-sends", fmt.Sprintf(`{"title":"T","body":"B","link":"https://example.com/","devices":[%d]}`, d.ID))
	sent := read[testSendJSON](t, a)
	if a.status != 202 || a.header.Get("Location") != fmt.Sprintf("/api/v1/test-sends/%d", sent.ID) || sent.State != "running" || len(sent.Devices) != 1 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	x.sql("UPDATE test_send_device SET status = 'failed', reason = 'rejected', code = '400', message = 'no'")
	x.sql("UPDATE test_send SET finished_at = now()")
	got := read[testSendJSON](t, x.call(db.Support, "GET", fmt.Sprintf("/test-sends/%d", sent.ID), ""))
	if got.State != "done" || got.FinishedAt == nil || *got.Devices[0].Reason != "rejected" {
		t.Errorf("%+v", got)
	}
	for body, field := range map[string]string{
		`{"title":"T","body":"B"}`:                               "devices",
		`{"title":"T","body":"B","devices":[]}`:                  "devices",
		`{"title":"T","body":"B","devices":[99]}`:                "devices[0]",
		`{"title":"T","body":"B","devices":["1"]}`:               "devices[0]",
		`{"title":"","body":"B","devices":[1]}`:                  "title",
		`{"title":"T","body":"B","devices":[1],"audience":{}}`:   "audience",
		`{"title":"T","body":"B","devices":[1],"link":"no url"}`: "link",
	} {
		a := x.call(db.Operator, "POST", "/test-sends", body)
		if p := a.problem(t); a.status != 422 || !p.names(field) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := x.call(db.Support, "GET", "/test-sends/99", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
	if a := x.call(db.Support, "POST", "/test-sends", `{}`); a.status != http.StatusForbidden {
		t.Errorf("support sent: %d", a.status)
	}
}
