package wire

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much is kept, in bytes.
const (
	MaxCode      = 64
	MaxMessage   = 500
	MaxMessageID = 200
	maxExcerpt   = 200
)

var bom = []byte("\xef\xbb\xbf")

// Hider holds what must never be kept or told: the credential that a call carries
// and the address that it goes to. A vendor may write either into its words.
type Hider struct {
	Bearer, Address string
	Also            []string // parts of them that are secrets alone
}

func (h Hider) hide(s string) string {
	if h.Bearer != "" {
		s = strings.ReplaceAll(s, h.Bearer, "[token]")
	}
	if h.Address != "" {
		s = strings.ReplaceAll(s, h.Address, "[address]")
	}
	for _, part := range h.Also {
		if part != "" {
			s = strings.ReplaceAll(s, part, "[hidden]")
		}
	}
	return s
}

// Words makes s fit to be kept: without what is hidden, valid UTF-8 in one
// line, no control characters and none that turn the direction of text, at most
// limit bytes.
func (h Hider) Words(s string, limit int) string {
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

// Excerpt is what a person can read of a body that is not as agreed: the title
// of a page, or the text without its tags, at most 200 bytes.
func (h Hider) Excerpt(body []byte) string {
	s := strings.ToValidUTF8(string(bytes.TrimPrefix(body, bom)), "\uFFFD")
	if looksLikeHTML(s) {
		s = html.UnescapeString(pageText(s))
	}
	return h.Words(s, maxExcerpt)
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
