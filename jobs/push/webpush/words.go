package pushweb

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"bongsu/jobs/push/wire"
)

// words are what a push service says of a refusal, fit to be kept.
type words struct{ code, message string }

// words finds the code and the message in a refusal. Apple names a reason, Mozilla
// an errno, Microsoft writes headers, Google a page. What names a code in no known
// place keeps the beginning of its body as the message.
func (a *answer) words() words {
	f := members(a.body)
	code, message := text(f["reason"]), text(f["message"])
	if code != "" && message == "" {
		message = code
	}
	code = first(code, text(f["errno"]), text(f["code"]))
	if inner := members(f["error"]); inner != nil {
		code, message = first(code, text(inner["code"])), first(message, text(inner["message"]))
	} else if word := text(f["error"]); word != "" {
		message = first(message, word)
		if code == "" && len(word) <= wire.MaxCode && !strings.ContainsFunc(word, unicode.IsSpace) {
			code = word
		}
	}
	code = first(code, a.header.Get("X-Wns-Status"))
	message = first(message, a.header.Get("X-Wns-Error-Description"))
	if message == "" {
		message = a.hide.Excerpt(a.body)
	}
	return words{a.hide.Words(code, wire.MaxCode), a.hide.Words(message, wire.MaxMessage)}
}

// members reads a JSON object; nil for all else.
func members(b []byte) (f map[string]json.RawMessage) {
	if json.Unmarshal(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), &f) != nil {
		return nil
	}
	return f
}

// text gives a string's content or a number as it is written; nothing for anything
// else.
func text(raw json.RawMessage) string {
	var s string
	var n json.Number
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return s
	case raw[0] != '"' && json.Unmarshal(raw, &n) == nil:
		return n.String()
	}
	return ""
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
