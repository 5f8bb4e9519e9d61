package pushfcm_test

import (
	"fmt"
	"strings"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushtest"
)

// failure is an error of FCM as its documentation shows it.
func failure(status int, name, message string, details ...string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, status, message, name, strings.Join(details, ","))
}

func fcmError(code string) string {
	return `{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"` + code + `"}`
}

func apnsError(status int, reason string) string {
	return fmt.Sprintf(`{"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":%d,"reason":%q}`, status, reason)
}

func badRequest(fields ...string) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = fmt.Sprintf(`{"field":%q,"description":"Invalid value"}`, f)
	}
	return `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` + strings.Join(list, ",") + `]}`
}

const (
	notAToken = "The registration token is not a valid FCM registration token"
	page      = "<!DOCTYPE html><html><title>Error 502 (Server Error)!!1</title><p>That’s an error.</html>"
)

// answers is the table of FCM's answers by status and body, and beside it what
// looks like a row and is none.
func answers() []pushtest.Answer {
	list := []pushtest.Answer{
		{Name: "taken", Status: 200, Body: `{"name":"projects/p/messages/0:1500415314455276%31bd1c9631bd1c96"}`,
			Want: push.Result{Outcome: push.Sent, MessageID: "0:1500415314455276%31bd1c9631bd1c96"}},
		{Name: "taken, with more in it", Status: 200, Body: ` {"x":[1],"name":"projects/p/messages/m"} `,
			Want: push.Result{Outcome: push.Sent, MessageID: "m"}},
		{Name: "a failure as a success", Status: 200, Body: failure(404, "NOT_FOUND", "Gone", fcmError("UNREGISTERED")),
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "UNREGISTERED", Message: "Gone"}},
		{Name: "page", Status: 200, Body: "<html><title>Sign in</title></html>", NoAnswer: true},
		{Name: "nothing", Status: 200, NoAnswer: true},
		{Name: "no content", Status: 204, NoAnswer: true},
		{Name: "object without a name", Status: 200, Body: `{}`, NoAnswer: true},
		{Name: "name of another kind", Status: 200, Body: `{"name":7}`, NoAnswer: true},
		{Name: "list", Status: 200, Body: `[{"name":"projects/p/messages/m"}]`, NoAnswer: true},
		{Name: "half an object", Status: 200, Body: `{"name":"projects/p/messages/m"`, NoAnswer: true},
		{Name: "success over the cap", Status: 200, Body: `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, NoAnswer: true},
		{Name: "status above the classes", Status: 600, Body: `{}`, NoAnswer: true},
	}
	for _, rows := range [][]pushtest.Answer{invalidRows(), refusedRows(), laterRows(), otherRows()} {
		list = append(list, rows...)
	}
	return list
}

// invalidRows are 400s.
func invalidRows() []pushtest.Answer {
	dead := push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Code: "INVALID_ARGUMENT"}
	unfit := push.Result{Outcome: push.Unfit, Reason: push.Rejected, Code: "INVALID_ARGUMENT"}
	permanent := push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "INVALID_ARGUMENT"}
	row := func(name, body, words string, want push.Result) pushtest.Answer {
		want.Message = words
		return pushtest.Answer{Name: "400 " + name, Status: 400, Body: body, Want: want}
	}
	invalid := func(message string, details ...string) string {
		return failure(400, "INVALID_ARGUMENT", message, details...)
	}
	return []pushtest.Answer{
		row("on the token, in words", invalid(notAToken, fcmError("INVALID_ARGUMENT")), notAToken, dead),
		row("on the token, as a field", invalid("Request contains an invalid argument.", fcmError("INVALID_ARGUMENT"), badRequest("message.token")),
			"[message.token: Invalid value]", dead),
		row("on the installation id", invalid("Request contains an invalid argument.", badRequest("message.fid")), "message.fid", dead),
		row("on a value", invalid("Invalid value at 'message.data[0].value' (TYPE_STRING), 12", badRequest("message.data[0].value")), "message.data[0].value", unfit),
		row("on the size", invalid("Android message is too big", fcmError("INVALID_ARGUMENT"), badRequest("message.data")), "too big", unfit),
		row("on the ttl", invalid("Invalid ttl", badRequest("message.android.ttl")), "message.android.ttl", unfit),
		row("on the token and a value", invalid("Invalid", badRequest("message.token", "message.data[0].value")), "message.data", unfit),
		row("on a field that only ends so", invalid("Invalid", badRequest("message.data.token")), "message.data.token", unfit),
		row("on a field, with the token's words", invalid(notAToken, badRequest("message.data")), notAToken, unfit),
		row("on nothing named", invalid("Request contains an invalid argument.", fcmError("INVALID_ARGUMENT")), "Request contains", permanent),
		row("on a field without a name", invalid("Request contains an invalid argument.", badRequest("")), "Request contains", permanent),
		row("from Apple", invalid("APNs device token is disabled.", fcmError("INVALID_ARGUMENT"), apnsError(410, "Unregistered")),
			"[APNs: Unregistered]", permanent),
		row("details that are no list", `{"error":{"status":"INVALID_ARGUMENT","message":"odd","details":"x"}}`, "odd", permanent),
		row("of another code, with the token's words", failure(400, "INVALID_ARGUMENT", notAToken, fcmError("SOMETHING_NEW")), notAToken,
			push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "SOMETHING_NEW"}),
		row("of another status", failure(400, "FAILED_PRECONDITION", notAToken), notAToken,
			push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "FAILED_PRECONDITION"}),
		row("as a page", "<html><title>400 registration token</title></html>", "400 registration token",
			push.Result{Outcome: push.Permanent, Reason: push.Rejected}),
		row("of FCM's code at another status", failure(400, "NOT_FOUND", "odd", fcmError("UNREGISTERED")), "odd",
			push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "UNREGISTERED"}),
	}
}

// refusedRows are 401, 403 and 404.
func refusedRows() []pushtest.Answer {
	settings := func(code, words string) push.Result {
		return push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: code, Message: words}
	}
	const notFound = "Requested entity was not found."
	return []pushtest.Answer{
		{Name: "401 unauthenticated", Status: 401, Want: settings("UNAUTHENTICATED", "Request had invalid"),
			Body: failure(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")},
		{Name: "401 page", Status: 401, Body: page, Want: settings("", "Error 502")},
		{Name: "401 of Apple", Status: 401, Want: settings("THIRD_PARTY_AUTH_ERROR", "[APNs: InvalidProviderToken]"),
			Body: failure(401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", fcmError("THIRD_PARTY_AUTH_ERROR"), apnsError(403, "InvalidProviderToken"))},
		{Name: "401 of Apple, in the words of our own", Status: 401, Want: settings("THIRD_PARTY_AUTH_ERROR", "Request is missing"),
			Body: failure(401, "UNAUTHENTICATED", "Request is missing required authentication credential.", fcmError("THIRD_PARTY_AUTH_ERROR"))},
		{Name: "403 mismatch", Status: 403, Body: failure(403, "PERMISSION_DENIED", "SenderId mismatch", fcmError("SENDER_ID_MISMATCH")),
			Want: push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Code: "SENDER_ID_MISMATCH", Message: "SenderId mismatch"}},
		{Name: "403 mismatch in words only", Status: 403, Body: failure(403, "PERMISSION_DENIED", "SenderId mismatch"),
			Want: settings("PERMISSION_DENIED", "SenderId mismatch")},
		{Name: "403 no right", Status: 403, Want: settings("PERMISSION_DENIED", "denied on resource"),
			Body: failure(403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource",
				`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"IAM_PERMISSION_DENIED"}`)},
		{Name: "403 page", Status: 403, Body: page, Want: settings("", "")},
		{Name: "404 unregistered", Status: 404, Body: failure(404, "NOT_FOUND", notFound, fcmError("UNREGISTERED")),
			Want: push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "UNREGISTERED", Message: notFound}},
		{Name: "404 unregistered at Apple", Status: 404, Body: failure(404, "NOT_FOUND", notFound, fcmError("UNREGISTERED"), apnsError(410, "Unregistered")),
			Want: push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "UNREGISTERED", Message: "[APNs: Unregistered]"}},
		{Name: "404 unregistered in a detail of another type", Status: 404, Want: settings("NOT_FOUND", notFound),
			Body: failure(404, "NOT_FOUND", notFound, `{"@type":"type.googleapis.com/other","errorCode":"UNREGISTERED"}`)},
		{Name: "404 project", Status: 404, Body: failure(404, "NOT_FOUND", notFound), Want: settings("NOT_FOUND", notFound)},
		{Name: "404 page", Status: 404, Body: page, Want: settings("", "")},
	}
}

// laterRows are the ones that pass: 429, 500, 502, 503, 504.
func laterRows() []pushtest.Answer {
	quota := failure(429, "RESOURCE_EXHAUSTED", "Quota exceeded", fcmError("QUOTA_EXCEEDED"))
	limited := push.Result{Outcome: push.Wait, Reason: push.RateLimited, Code: "QUOTA_EXCEEDED", Message: "Quota exceeded"}
	failing := func(code string, doubt bool) push.Result {
		return push.Result{Outcome: push.Transient, Reason: push.VendorError, Code: code, Doubt: doubt}
	}
	unavailable := failure(503, "UNAVAILABLE", "The service is currently unavailable.", fcmError("UNAVAILABLE"))
	date := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	row := func(name string, status int, retry, body string, atLeast, atMost time.Duration, want push.Result) pushtest.Answer {
		if retry != "" {
			retry = "Retry-After: " + retry + "\r\n"
		}
		return pushtest.Answer{Name: name, Status: status, Header: retry, Body: body, AtLeast: atLeast, AtMost: atMost, Want: want}
	}
	return []pushtest.Answer{
		row("429 in seconds", 429, "7", quota, 7*time.Second, 7*time.Second, limited),
		row("429 by a date", 429, date(5*time.Minute), quota, 4*time.Minute, 5*time.Minute, limited),
		row("429 without a time", 429, "", quota, time.Minute, time.Minute, limited),
		row("429 with a time that is none", 429, "soon", quota, time.Minute, time.Minute, limited),
		row("429 with a time in the past", 429, date(-time.Hour), quota, time.Minute, time.Minute, limited),
		row("429 of a day", 429, "86400", quota, time.Hour, time.Hour, limited),
		row("429 page", 429, "", page, time.Minute, time.Minute, push.Result{Outcome: push.Wait, Reason: push.RateLimited}),
		row("500", 500, "", failure(500, "INTERNAL", "Internal error encountered.", fcmError("INTERNAL")), 0, 0, failing("INTERNAL", false)),
		row("503", 503, "", unavailable, 0, 0, failing("UNAVAILABLE", true)),
		row("503 in seconds", 503, "30", unavailable, 30*time.Second, 30*time.Second, failing("UNAVAILABLE", true)),
		row("503 by a date", 503, date(5*time.Minute), unavailable, 4*time.Minute, 5*time.Minute, failing("UNAVAILABLE", true)),
		row("503 page", 503, "", page, 0, 0, failing("", true)),
		row("502 page", 502, "", page, 0, 0, failing("", true)),
		row("504 page", 504, "", page, 0, 0, failing("", true)),
		row("504", 504, "", failure(504, "DEADLINE_EXCEEDED", "Too late."), 0, 0, failing("DEADLINE_EXCEEDED", true)),
		row("503 over the cap", 503, "", strings.Repeat("x", 1<<20), 0, 0, failing("", true)),
	}
}

// otherRows disable nobody and keep the code as it is.
func otherRows() []pushtest.Answer {
	var list []pushtest.Answer
	for _, status := range []int{402, 405, 408, 409, 410, 413, 418, 422, 451, 499, 501, 505, 529, 599} {
		list = append(list, pushtest.Answer{Name: fmt.Sprint(status), Status: status, Body: failure(status, "ODD_STATUS", "odd", fcmError("ODD_CODE")),
			Want: push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "ODD_CODE", Message: "odd"}})
	}
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		list = append(list, pushtest.Answer{Name: fmt.Sprint(status), Status: status, Header: "Location: https://other.example/\r\n",
			Want: push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Message: "redirected to https://other.example/"}})
	}
	rejected := push.Result{Outcome: push.Permanent, Reason: push.Rejected}
	return append(list,
		pushtest.Answer{Name: "status without a detail", Status: 410, Body: failure(410, "GONE", "gone"), Want: with(rejected, "GONE", "gone")},
		pushtest.Answer{Name: "number alone", Status: 410, Body: `{"error":{"code":410}}`, Want: with(rejected, "410", "410")},
		pushtest.Answer{Name: "error in Hangul", Status: 410, Body: failure(410, "E1", "잘못된\n토큰"), Want: with(rejected, "E1", "잘못된 토큰")},
		pushtest.Answer{Name: "words without end", Status: 410, Body: failure(410, strings.Repeat("코", 100), strings.Repeat("말", 1000)),
			Want: with(rejected, strings.Repeat("코", 21), strings.Repeat("말", 166))},
		pushtest.Answer{Name: "not UTF-8", Status: 410, Body: "{\"error\":{\"message\":\"a\xffb\"}}", Want: with(rejected, "", "a\uFFFDb")},
	)
}

func with(r push.Result, code, message string) push.Result {
	r.Code, r.Message = code, message
	return r
}
