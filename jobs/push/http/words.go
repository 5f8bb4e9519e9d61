package pushhttp

import (
	"strings"
	"unicode"

	"bongsu/jobs/push/wire"
)

// words finds the vendor's own code and message in a refusal. An error that is
// one short word is the code; a sentence would make every failure a group of
// its own, so it is the message only. Where nothing is named, the message is
// the beginning of the body.
func (a *answer) words(f fields) (code, message string) {
	var inner fields
	if len(f.err) > 0 && f.err[0] == '{' {
		inner, _ = readObject(f.err)
	}
	word := text(f.err)
	message = first(text(inner.message), text(f.message), word)
	if len(word) > wire.MaxCode || strings.ContainsFunc(word, unicode.IsSpace) {
		word = ""
	}
	code = a.hide.Words(first(text(f.code), text(inner.code), word), wire.MaxCode)
	if message == "" {
		return code, a.hide.Excerpt(a.body)
	}
	return code, a.hide.Words(message, wire.MaxMessage)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
