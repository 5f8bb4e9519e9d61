package pushtest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
)

// Answer is one answer of a vendor and what it must be taken for.
type Answer struct {
	Name   string
	Status int
	Header string // lines, each ended by CR LF
	Body   string

	Want push.Result // Status is filled in; Message only has to contain Want's
	// NoAnswer: it counts as none, with doubt. Want is not looked at.
	NoAnswer bool
	// AtLeast and AtMost hold the RetryAfter where it depends on the clock.
	AtLeast, AtMost time.Duration
}

// HTTPAnswers is the table for a vendor that speaks by HTTP status.
func HTTPAnswers() []Answer {
	const jsonType = "Content-Type: application/json\r\n"
	list := []Answer{
		{Name: "message id", Status: 200, Header: jsonType, Body: `{"message_id":"m-1"}`,
			Want: push.Result{Outcome: push.Sent, MessageID: "m-1"}},
		{Name: "message id as a number", Status: 201, Body: ` {"a":[{"error":1}], "message_id" : 12345678901234567890} `,
			Want: push.Result{Outcome: push.Sent, MessageID: "12345678901234567890"}},
		{Name: "empty object", Status: 200, Body: `{}`, Want: push.Result{Outcome: push.Sent}},
		{Name: "empty body", Status: 202, Want: push.Result{Outcome: push.Sent}},
		{Name: "no content", Status: 204, Want: push.Result{Outcome: push.Sent}},
		{Name: "null error", Status: 200, Body: `{"error":null}`, Want: push.Result{Outcome: push.Sent}},
		{Name: "false error", Status: 200, Body: `{"error":false,"message_id":"m"}`,
			Want: push.Result{Outcome: push.Sent, MessageID: "m"}},
		{Name: "empty error", Status: 200, Body: `{"error":""}`, Want: push.Result{Outcome: push.Sent}},
		{Name: "error as a word", Status: 200, Body: `{"error":"NotRegistered","message_id":"m"}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "NotRegistered", Message: "NotRegistered"}},
		{Name: "error as an object", Status: 200, Body: `{"error":{"code":404,"message":"no such device"}}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "404", Message: "no such device"}},
		{Name: "error as true", Status: 200, Body: `{"error":true}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected}},
		{Name: "error with its name escaped", Status: 200, Body: `{"\u0065rror":"X"}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "X"}},
		{Name: "page", Status: 200, Body: "<html><title>Sign in</title></html>", NoAnswer: true},
		{Name: "text", Status: 200, Body: "ok", NoAnswer: true},
		{Name: "list", Status: 200, Body: `[{"message_id":"m"}]`, NoAnswer: true},
		{Name: "half an object", Status: 200, Body: `{"message_id":"m"`, NoAnswer: true},
		{Name: "two objects", Status: 200, Body: `{}{}`, NoAnswer: true},
		{Name: "status above the classes", Status: 600, Body: `{}`, NoAnswer: true},
		{Name: "unauthorized", Status: 401, Body: `{"code":"BadKey","message":"who are you"}`,
			Want: push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: "BadKey", Message: "who are you"}},
		{Name: "forbidden", Status: 403, Body: `{"error":{"code":"Mismatch"}}`,
			Want: push.Result{Outcome: push.Suspect, Reason: push.Rejected, Code: "Mismatch"}},
		{Name: "gone", Status: 410, Body: `{"error":"Unregistered"}`,
			Want: push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "Unregistered"}},
		{Name: "page of an error", Status: 502, Body: "<html><head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>",
			Want: push.Result{Outcome: push.Transient, Reason: push.VendorError, Message: "502 Bad Gateway"}},
		{Name: "error in Hangul", Status: 400, Body: `{"error":{"code":"E1","message":"잘못된 토큰\u0000입니다"}}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "E1", Message: "잘못된 토큰 입니다"}},
		{Name: "words without end", Status: 400, Body: `{"code":"` + strings.Repeat("코", 100) + `","message":"` + strings.Repeat("말", 1000) + `"}`,
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: strings.Repeat("코", 21), Message: strings.Repeat("말", 166)}},
		{Name: "not UTF-8", Status: 400, Body: "{\"message\":\"a\xffb\"}",
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Message: "a\uFFFDb"}},
		{Name: "body over the cap", Status: 500, Body: strings.Repeat("x", 1<<20),
			Want: push.Result{Outcome: push.Transient, Reason: push.VendorError}},
		{Name: "success over the cap", Status: 200, Body: `{"message_id":"` + strings.Repeat("x", 1<<20) + `"}`, NoAnswer: true},
	}
	return append(append(list, statuses()...), retryAfters()...)
}

// statuses has each status that has no line of its own above.
func statuses() (list []Answer) {
	add := func(outcome push.Outcome, reason push.Reason, statuses ...int) {
		for _, status := range statuses {
			list = append(list, Answer{Name: strconv.Itoa(status), Status: status, Body: `{}`,
				Want: push.Result{Outcome: outcome, Reason: reason}})
		}
	}
	add(push.Transient, push.VendorError, 408, 409, 425, 500, 501, 502, 503, 504, 529, 599)
	add(push.Wait, push.RateLimited, 429)
	add(push.Settings, push.CredentialsRefused, 300, 301, 302, 303, 307, 308, 399)
	add(push.Permanent, push.Rejected, 400, 402, 404, 405, 406, 411, 413, 415, 422, 451, 499)
	return list
}

func retryAfters() (list []Answer) {
	add := func(name string, status int, value string, atLeast, atMost time.Duration) {
		want := push.Result{Outcome: push.Transient, Reason: push.VendorError}
		if status == 429 {
			want = push.Result{Outcome: push.Wait, Reason: push.RateLimited}
		}
		list = append(list, Answer{Name: "retry after " + name, Status: status, Body: `{}`,
			Header: "Retry-After: " + value + "\r\n", Want: want, AtLeast: atLeast, AtMost: atMost})
	}
	date := func(d time.Duration) string {
		return time.Now().UTC().Add(d).Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	add("seconds", 429, "7", 7*time.Second, 7*time.Second)
	add("seconds", 503, "7", 7*time.Second, 7*time.Second)
	add("a date", 429, date(2*time.Minute), time.Minute, 2*time.Minute)
	add("a date in the past", 503, date(-time.Hour), 0, 0)
	add("a day", 503, "86400", time.Hour, time.Hour)
	add("a date tomorrow", 429, date(24*time.Hour), time.Hour, time.Hour)
	add("more than numbers hold", 429, strings.Repeat("9", 40), time.Hour, time.Hour)
	add("zero", 429, "0", 0, 0)
	add("less than nothing", 429, "-5", 0, 0)
	add("a fraction", 503, "1.5", 0, 0)
	add("nonsense", 503, "soon", 0, 0)
	return list
}

func testAnswers(t *testing.T, setup Setup) {
	for _, a := range setup.Answers {
		t.Run(a.Name, func(t *testing.T) {
			server := Serve(t, Always(HTTP(a.Status, a.Header, a.Body)))
			vendor := setup.New(t, server.URL, ample)
			r, err := vendor.Send(t.Context(), Message("answers-token"))
			if a.NoAnswer {
				na := noAnswer(t, r, err)
				if !na.Written || !na.Timeout || na.Code == "" {
					t.Errorf("got %+v, want written, as a timeout, with a code", *na)
				}
				return
			}
			if err != nil {
				t.Fatalf("an answer came as the error %v", err)
			}
			a.compare(t, r)
		})
	}
}

func (a *Answer) compare(t *testing.T, r push.Result) {
	t.Helper()
	if r.RetryAfter < a.AtLeast || r.RetryAfter > a.AtMost {
		t.Errorf("retry after %v, want %v to %v", r.RetryAfter, a.AtLeast, a.AtMost)
	}
	if !strings.Contains(r.Message, a.Want.Message) || len(r.Message) > 500 {
		t.Errorf("message %q, want %q in it and at most 500 bytes", r.Message, a.Want.Message)
	}
	got, want := r, a.Want
	want.Status = a.Status
	got.Message, got.RetryAfter, want.Message = "", 0, ""
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
