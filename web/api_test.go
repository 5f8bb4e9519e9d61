package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"bongsu/db"
)

const hello = `{"title":"Hello","body":"Line one\nLine two","category":"ad","audience":{"platforms":["web","ios"],"tags":["vip"]}}`

func TestNoticeIsAcceptedAndThenTheSame(t *testing.T) {
	x := newRig(t)
	first := x.call(db.Operator, "POST", "/notices", hello)
	n := read[noticeJSON](t, first)
	if first.status != 202 || n.ID == 0 || first.header.Get("Location") != fmt.Sprintf("/api/v1/notices/%d", n.ID) ||
		n.State != "accepted" || n.AcceptedBy != "test operator" || strings.Join(n.Audience.Platforms, " ") != "ios web" {
		t.Fatalf("%d %v %s", first.status, first.header, first.body)
	}
	second := x.call(db.Admin, "POST", "/notices", hello) // another program, the same content
	m := read[noticeJSON](t, second)
	if second.status != 200 || m.ID != n.ID || second.header.Get("Idempotent-Replayed") != "true" || m.NewestRepeat.ID != n.ID {
		t.Errorf("%d %v %s", second.status, second.header, second.body)
	}
	repeat := strings.Replace(hello, `{`, fmt.Sprintf(`{"repeat_of":%d,`, n.ID), 1)
	third := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", repeat))
	x.call(db.Operator, "POST", fmt.Sprintf("/notices/%d/cancel", third.ID), "")
	again := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", hello))
	if third.ID == n.ID || *third.RepeatOf != n.ID || again.ID != n.ID || *again.NewestRepeat != (repeatJSON{third.ID, "cancelled"}) {
		t.Errorf("repeat %+v, and the original names %+v", third, again.NewestRepeat)
	}
	one := x.call(db.Support, "GET", fmt.Sprintf("/notices/%d", n.ID), "")
	if got := read[noticeJSON](t, one); one.status != 200 || got.Title != "Hello" || got.NewestRepeat != nil {
		t.Errorf("%d %s", one.status, one.body)
	}
}

func TestTheSameTextInAnotherFormIsTheSameNotice(t *testing.T) {
	x := newRig(t)
	forms := []string{
		`{"title":"가을 소식","body":"첫 줄\n둘째 줄"}`,
		`{"title":"가을 소식","body":"첫 줄\r\n둘째 줄"}`,
		`{"title":" 가을 소식\n","body":"첫 줄\r둘째 줄\n"}`,
		`{"title":"가을 소식","body":"첫 줄\n둘째 줄"}`, // decomposed
		`{"body":"\uccab \uc904\n\ub458\uc9f8 \uc904","title":"\uac00\uc744 \uc18c\uc2dd","category":"info","link":"","audience":{}}`,
	}
	ids := map[int64]bool{}
	for i, body := range forms {
		a := x.call(db.Operator, "POST", "/notices", body)
		ids[read[noticeJSON](t, a).ID] = true
		if want := map[bool]int{true: 202, false: 200}[i == 0]; a.status != want {
			t.Errorf("form %d: %d %s", i, a.status, a.body)
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d notices", len(ids))
	}
}

func TestAHundredAtOnceAreOneNotice(t *testing.T) {
	for name, header := range map[string]func(*http.Request){
		"by content": func(*http.Request) {}, "by key": withHeader("Idempotency-Key", "order 66"),
	} {
		t.Run(name, func(t *testing.T) {
			x := newRig(t)
			answers := make([]answer, 100)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					answers[i] = x.send("POST", apiRoot+"/notices", hello, withToken(x.tokens[db.Operator]), header)
				})
			}
			all.Wait()
			accepted, ids := 0, map[int64]bool{}
			for _, a := range answers {
				checkDocumented(t, "POST", apiRoot+"/notices", hello, a)
				ids[read[noticeJSON](t, a).ID] = true
				if a.status == 202 {
					accepted++
				}
			}
			if accepted != 1 || len(ids) != 1 || x.count("SELECT count(*) FROM notice") != 1 {
				t.Errorf("%d were accepted, %d ids, %d rows", accepted, len(ids), x.count("SELECT count(*) FROM notice"))
			}
		})
	}
}

func TestIdempotencyKey(t *testing.T) {
	x := newRig(t)
	key := withHeader("Idempotency-Key", "k 1")
	n := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", hello, key))
	if a := x.call(db.Operator, "POST", "/notices", hello, key); a.status != 200 || read[noticeJSON](t, a).ID != n.ID {
		t.Errorf("%d %s", a.status, a.body)
	}
	other := x.call(db.Operator, "POST", "/notices", `{"title":"Other","body":"x"}`, key)
	if p := other.problem(t); other.status != 409 || p.Code != "key_reused" || p.NoticeID != n.ID || !p.names("Idempotency-Key") {
		t.Errorf("%d %s", other.status, other.body)
	}
	if a := x.call(db.Admin, "POST", "/notices", `{"title":"Other","body":"x"}`, key); a.status != 202 {
		t.Errorf("the key of another program stood in the way: %d %s", a.status, a.body)
	}
	for _, bad := range []string{"", strings.Repeat("k", 256), "k\tx", "ké"} {
		a := x.call(db.Operator, "POST", "/notices", hello, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{bad} })
		if p := a.problem(t); a.status != 422 || !p.names("Idempotency-Key") {
			t.Errorf("%q: %d %s", bad, a.status, a.body)
		}
	}
	twice := x.call(db.Operator, "POST", "/notices", hello, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} })
	if twice.status != 422 {
		t.Errorf("two keys: %d", twice.status)
	}
	if x.count("SELECT count(*) FROM notice") != 2 {
		t.Error("a refused request stored something")
	}
}

func TestAnotherExpiryIsAConflict(t *testing.T) {
	x := newRig(t)
	n := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", `{"title":"T","body":"B","expires_at":"2126-01-01T10:00:00+09:00"}`))
	if n.ExpiresAt.Format("2006-01-02T15:04:05Z07:00") != "2126-01-01T01:00:00Z" {
		t.Errorf("expires at %s", n.ExpiresAt)
	}
	a := x.call(db.Operator, "POST", "/notices", `{"title":"T","body":"B","expires_at":"2126-01-02T01:00:00Z"}`)
	if p := a.problem(t); a.status != 409 || p.Code != "expires_at_differs" || p.NoticeID != n.ID || !p.names("expires_at") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := x.call(db.Operator, "POST", "/notices", `{"title":"T","body":"B"}`); a.status != 200 {
		t.Errorf("without the field: %d %s", a.status, a.body)
	}
	past := x.call(db.Operator, "POST", "/notices", `{"title":"Old","body":"B","expires_at":"2001-01-01T00:00:00Z"}`)
	if p := past.problem(t); past.status != 422 || !p.names("expires_at") {
		t.Errorf("%d %s", past.status, past.body)
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	x := newRig(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
		fields []string
	}{
		"empty":            {``, 400, "not_json", nil},
		"no JSON":          {`title=Hello`, 400, "not_json", nil},
		"cut":              {`{"title":"Hello`, 400, "not_json", nil},
		"trailing garbage": {`{"title":"T","body":"B"} x`, 400, "not_json", nil},
		"two values":       {`{"title":"T","body":"B"}{}`, 400, "not_json", nil},
		"bad UTF-8":        {"{\"title\":\"\xff\",\"body\":\"B\"}", 400, "bad_encoding", nil},
		"a list":           {`[]`, 422, "invalid", []string{"body"}},
		"nothing in it":    {`{}`, 422, "invalid", []string{"title", "body"}},
		"null":             {`{"title":null,"body":"B"}`, 422, "invalid", []string{"title"}},
		"unknown":          {`{"title":"T","body":"B","tilte":"x","Body":"y"}`, 422, "unknown_field", []string{"Body", "tilte"}},
		"unknown inside":   {`{"title":"T","body":"B","audience":{"tag":[]}}`, 422, "unknown_field", []string{"audience.tag"}},
		"twice":            {`{"title":"T","title":"U","body":"B"}`, 422, "invalid", []string{"title"}},
		"number for text":  {`{"title":7,"body":"B"}`, 422, "invalid", []string{"title"}},
		"zero character":   {`{"title":"a\u0000b","body":"B","audience":{"tags":["\u0000"]}}`, 422, "invalid", []string{"title", "audience.tags[0]"}},
		"text for list":    {`{"title":"T","body":"B","audience":{"tags":"vip"}}`, 422, "invalid", []string{"audience.tags"}},
		"list for object":  {`{"title":"T","body":"B","audience":[]}`, 422, "invalid", []string{"audience"}},
		"number in list":   {`{"title":"T","body":"B","audience":{"tags":["a",1]}}`, 422, "invalid", []string{"audience.tags[1]"}},
		"platform":         {`{"title":"T","body":"B","audience":{"platforms":["fax"]}}`, 422, "invalid", []string{"audience.platforms"}},
		"id as text":       {`{"title":"T","body":"B","repeat_of":"1"}`, 422, "invalid", []string{"repeat_of"}},
		"id with a dot":    {`{"title":"T","body":"B","repeat_of":1.0}`, 422, "invalid", []string{"repeat_of"}},
		"id below 1":       {`{"title":"T","body":"B","repeat_of":0}`, 422, "invalid", []string{"repeat_of"}},
		"repeat of nobody": {`{"title":"T","body":"B","repeat_of":999}`, 422, "invalid", []string{"repeat_of"}},
		"a date":           {`{"title":"T","body":"B","expires_at":"2126-01-01"}`, 422, "invalid", []string{"expires_at"}},
		"a bad link":       {`{"title":"T","body":"B","link":"javascript:alert(1)"}`, 422, "invalid", []string{"link"}},
		"category":         {`{"title":"T","body":"B","category":"spam"}`, 422, "invalid", []string{"category"}},
		"too large":        {`{"title":"` + strings.Repeat("x", 1<<20) + `","body":"B"}`, 413, "too_large", nil},
	} {
		a := x.call(db.Operator, "POST", "/notices", c.body)
		if p := a.problem(t); a.status != c.status || p.Code != c.code || !p.names(c.fields...) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if x.count("SELECT count(*) FROM notice") != 0 {
		t.Error("something was stored")
	}
}

func TestVendorLimitsAreCheckedBeforeAcceptance(t *testing.T) {
	x := newRig(t, func(d *Deps) {
		d.CheckPayload = func(title, body, link string) []PayloadFault {
			if n := len(title) + len(body) + len(link); n > 20 {
				words := fmt.Sprintf("the vendor takes 20 bytes, these are %d", n)
				return []PayloadFault{{db.KindFCM, db.FieldError{Field: "body", Message: words}}}
			}
			return nil
		}
	})
	for _, path := range []string{"/notices", "/test-sends"} {
		a := x.call(db.Operator, "POST", path, `{"title":"T","body":"twenty-one bytes it is"}`)
		if p := a.problem(t); a.status != 422 || !strings.Contains(string(a.body), "20 bytes") || p.Errors[0].Field != "body" && path == "/notices" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := x.call(db.Operator, "POST", "/notices", `{"title":"T","body":"short"}`); a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	// What is too large for a vendor that nobody of the audience is at is taken.
	x.call(db.Operator, "PUT", "/devices", `[{"token":"a","platform":"android","tags":["here"]},{"token":"b","platform":"ios","vendor":"fcm","tags":["there"]}]`)
	for tag, want := range map[string]int{"here": 202, "there": 422} {
		body := `{"title":"T","body":"twenty-one bytes it is","audience":{"tags":["` + tag + `"]}}`
		if a := x.call(db.Operator, "POST", "/notices", body); a.status != want {
			t.Errorf("to %s: %d %s", tag, a.status, a.body)
		}
	}
}

func TestNoticesInPages(t *testing.T) {
	x := newRig(t)
	for i := range 5 {
		x.call(db.Operator, "POST", "/notices", fmt.Sprintf(`{"title":"Notice %d","body":"B"}`, i))
	}
	var titles []string
	for path := "/notices?limit=2"; path != ""; {
		p := read[list[noticeJSON]](t, x.call(db.Support, "GET", path, ""))
		for _, n := range p.Items {
			titles = append(titles, n.Title[7:])
		}
		if path = ""; p.Next != nil {
			path = "/notices?limit=2&cursor=" + *p.Next
		}
	}
	if got := strings.Join(titles, ""); got != "43210" {
		t.Errorf("the pages show %s", got)
	}
	for query, field := range map[string]string{"limit=0": "limit", "limit=1001": "limit", "limit=": "limit", "limit=x": "limit",
		"cursor=zzz": "cursor", "limit=5&limit=6": "limit", "page=2": "page", "cursor=%ff": "cursor"} {
		a := x.call(db.Support, "GET", "/notices?"+query, "")
		if p := a.problem(t); a.status != 422 || !p.names(field) || (p.Code == "unknown_field") != (field == "page") {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

func TestNoticeIsMovedOnlyWhereItsStateAllows(t *testing.T) {
	x := newRig(t)
	n := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", hello))
	act := func(name string) answer {
		return x.call(db.Operator, "POST", fmt.Sprintf("/notices/%d/%s", n.ID, name), "")
	}
	for _, step := range []struct {
		act, state string
		status     int
	}{{"resume", "", 409}, {"pause", "paused", 200}, {"pause", "", 409}, {"resume", "sending", 200}, {"cancel", "cancelled", 200}, {"cancel", "", 409}, {"resume", "", 409}} {
		a := act(step.act)
		if a.status != step.status {
			t.Errorf("%s: %d %s", step.act, a.status, a.body)
			continue
		}
		if a.status == 200 && read[noticeJSON](t, a).State != step.state {
			t.Errorf("%s led to %s", step.act, a.body)
		}
		if a.status == 409 && a.problem(t).Code != "wrong_state" {
			t.Errorf("%s: %s", step.act, a.body)
		}
	}
	for _, id := range []string{"99", "0", "-1", "x", "1e3", "99999999999999999999"} {
		if a := x.send("POST", apiRoot+"/notices/"+id+"/pause", "", withToken(x.tokens[db.Admin])); a.status != 404 {
			t.Errorf("notice %s: %d", id, a.status)
		}
	}
	if a := x.call(db.Operator, "POST", fmt.Sprintf("/notices/%d/pause", n.ID), `{"why":"x"}`); a.status != 422 || !a.problem(t).names("why") {
		t.Errorf("a body with fields: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM audit WHERE act LIKE 'notice.%' AND actor LIKE 'token:%' AND request_id <> ''"); n != 4 {
		t.Errorf("%d lines of audit", n)
	}
}

func TestErrorsAreNotHTML(t *testing.T) {
	x := newRig(t)
	a := x.call(db.Operator, "POST", "/notices", `{"title":"<script>alert(1)</script>","<b>":1,"body":"B"}`)
	if !json.Valid(a.body) || a.header.Get("Content-Type") != "application/problem+json" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v %s", a.header, a.body)
	}
}
