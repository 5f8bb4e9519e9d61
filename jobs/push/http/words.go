package pushhttp

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much is kept, in bytes.
const (
	maxCode      = 64
	maxMessage   = 500
	maxMessageID = 200
	maxExcerpt   = 200
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
	if len(word) > maxCode || strings.ContainsFunc(word, unicode.IsSpace) {
		word = ""
	}
	code = a.hide.words(first(text(f.code), text(inner.code), word), maxCode)
	if message == "" {
		return code, a.excerpt()
	}
	return code, a.hide.words(message, maxMessage)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// excerpt is what a person can read of a body that is not as agreed: the title
// of a page, or the text without its tags.
func (a *answer) excerpt() string {
	body := strings.ToValidUTF8(string(bytes.TrimPrefix(a.body, bom)), "\uFFFD")
	if looksLikeHTML(body) {
		body = html.UnescapeString(pageText(body))
	}
	return a.hide.words(body, maxExcerpt)
}

func looksLikeHTML(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "<") }

// pageText takes valid UTF-8.
func pageText(page string) string {
	lower := strings.Map(asciiLower, page) // as long as page
	if from := strings.Index(lower, "<title>"); from >= 0 {
		title := page[from+len("<title>"):]
		if to := strings.Index(lower[from+len("<title>"):], "</title>"); to >= 0 && strings.TrimSpace(title[:to]) != "" {
			return title[:to]
		}
	}
	var out strings.Builder
	for page != "" {
		open := strings.IndexByte(page, '<')
		if open < 0 {
			out.WriteString(page)
			break
		}
		out.WriteString(page[:open] + " ")
		end := strings.IndexByte(page[open:], '>')
		if end < 0 {
			break
		}
		page = page[open+end+1:]
	}
	return out.String()
}

func asciiLower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// hider holds what must never be kept or told: the bearer token and the
// address. A vendor may write either into its words.
type hider struct{ bearer, address string }

func (h hider) hide(s string) string {
	if h.bearer != "" {
		s = strings.ReplaceAll(s, h.bearer, "[token]")
	}
	if h.address != "" {
		s = strings.ReplaceAll(s, h.address, "[address]")
	}
	return s
}

// words makes s fit to be kept: without what is hidden, valid UTF-8 in one
// line, no control characters and none that turn the direction of text, at most
// limit bytes.
func (h hider) words(s string, limit int) string {
	s = strings.ToValidUTF8(h.hide(s), "\uFFFD")
	var out strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = true
			continue
		case unicode.Is(unicode.Bidi_Control, r):
			continue
		}
		if gap && out.Len() > 0 {
			out.WriteByte(' ')
		}
		gap = false
		if out.Len()+utf8.RuneLen(r) > limit {
			break
		}
		out.WriteRune(r)
	}
	return strings.TrimRight(out.String(), " ")
}
