package pushhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

var bodies = []string{
	``, ` `, `{}`, `null`, `"x"`, `[]`, `[{"error":1}]`, `{"error":"a b"}`, `{"error":{"code":1.50,"message":"m"}}`,
	"\xef\xbb\xbf{\"message_id\":\"1\"}", `{"a":{"error":1},"b":["}",{"c":"\\\""}],"message_id":-1e5}`,
	`{"error" : null , "code":"x","code":"y"}`, `{"message":"\ud83d\ude00\u0000\n<b>"}`, "{\"message\":\"\xff\"}",
	`{"\u0065rror":[]}`, `<html><title>T</title>`, `<p>a &amp; b`, `<`, `{}x`, `{"message_id":"`,
	"<TITLE>\u0130\u212a</title>", "{\"code\":\"\u202egnp\"}", `{"token":"address"}`,
}

// FuzzReadObject holds the walk against encoding/json.
func FuzzReadObject(f *testing.F) {
	for _, b := range bodies {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := readObject(b)
		var want map[string]json.RawMessage
		err := json.Unmarshal(bytes.TrimPrefix(b, bom), &want)
		if plain := err == nil && want != nil; ok != plain && utf8.Valid(b) && !odd(b) {
			t.Fatalf("%q: taken as an object: %v, want %v", b, ok, plain)
		}
		if !ok {
			return
		}
		for name, raw := range map[string][]byte{
			"error": got.err, "code": got.code, "message": got.message, "message_id": got.messageID,
		} {
			if !bytes.Equal(raw, want[name]) {
				t.Errorf("%q: %s is %q, want %q", b, name, raw, want[name])
			}
		}
	})
}

// odd tells of spaces that bytes.TrimSpace takes off and JSON does not know.
func odd(b []byte) bool {
	return bytes.ContainsFunc(b, func(r rune) bool { return unicode.IsSpace(r) && !strings.ContainsRune(" \t\r\n", r) })
}

// FuzzAnswer wants every answer to be one of the contract, fit to be stored.
func FuzzAnswer(f *testing.F) {
	for i, b := range bodies {
		f.Add(200, "", []byte(b))
		f.Add(100+i*37, "-1", []byte(b))
	}
	f.Fuzz(func(t *testing.T, status int, retry string, body []byte) {
		a := answer{status: status, header: http.Header{"Retry-After": {retry}}, body: body,
			hide: wire.Hider{Bearer: "very-secret", Address: "address"}}
		r, err := a.result(context.Background())
		kept := push.ResultOf(r, err)
		if kept.Outcome == "" || (kept.Reason == "") != (kept.Outcome == push.Sent) {
			t.Errorf("%+v is no result", kept)
		}
		if len(kept.Code) > wire.MaxCode || len(kept.Message) > wire.MaxMessage || len(kept.MessageID) > wire.MaxMessageID {
			t.Errorf("%+v is too long", kept)
		}
		if kept.RetryAfter < 0 || kept.RetryAfter > time.Hour || kept.Doubt != (err != nil) {
			t.Errorf("%+v", kept)
		}
		for _, s := range []string{kept.Code, kept.Message, kept.MessageID} {
			if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) ||
				strings.Contains(s, "very-secret") || strings.Contains(s, "address") && !strings.Contains(s, "[address") {
				t.Errorf("%q must not be kept", s)
			}
		}
	})
}

// FuzzEncode wants the JSON by hand to mean what encoding/json means.
func FuzzEncode(f *testing.F) {
	for _, b := range bodies {
		f.Add(b)
	}
	f.Add("점검\u2028\x00\x1f\x7f\"\\\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, s string) {
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got, want string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if err := json.Unmarshal(theirs, &want); err != nil || got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}
