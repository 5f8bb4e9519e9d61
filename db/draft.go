package db

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a notice's parts, in characters (Unicode code points) after
// normalisation.
const (
	MaxTitle = 200
	MaxBody  = 4000
	MaxLink  = 2000
	MaxTags  = 20
)

// Audience selects devices. An empty list selects all; tags select a device
// that has any of them.
type Audience struct {
	Platforms []string
	Tags      []string
}

// Draft is a notice as it is submitted, before acceptance.
type Draft struct {
	Title     string
	Body      string
	Link      string // empty: none
	Category  string // info or ad; empty: info
	Audience  Audience
	ExpiresAt *time.Time // nil: the configured expiry
	RepeatOf  *int64

	Traceparent string // the trace that the acceptance is part of; empty: none. No part of the key
}

// CheckDraft puts d into its normal form in place (NFC, LF, ends trimmed, lists
// sorted and unique) and says which fields are wrong with an *InvalidError.
func CheckDraft(d *Draft) error {
	d.Title, d.Body, d.Link = normal(d.Title), normal(d.Body), normal(d.Link)
	d.Category = normal(d.Category)
	if d.ExpiresAt != nil {
		t := d.ExpiresAt.UTC().Truncate(time.Microsecond) // what the database keeps
		d.ExpiresAt = &t
	}
	if d.Category == "" {
		d.Category = "info"
	}
	d.Audience.Platforms = normalList(d.Audience.Platforms)
	d.Audience.Tags = normalList(d.Audience.Tags)

	var bad []FieldError
	say := func(field, message string) { bad = append(bad, FieldError{field, message}) }
	checkText(say, "title", d.Title, MaxTitle, false)
	checkText(say, "body", d.Body, MaxBody, true)
	if m := linkFault(d.Link); m != "" {
		say("link", m)
	}
	if d.Category != "info" && d.Category != "ad" {
		say("category", "must be info or ad")
	}
	for _, p := range d.Audience.Platforms {
		if p != "android" && p != "ios" && p != "web" {
			say("audience.platforms", "may hold android, ios and web, not "+quoted(p))
		}
	}
	if len(d.Audience.Tags) > MaxTags {
		say("audience.tags", "may hold at most 20 tags")
	}
	for _, t := range d.Audience.Tags {
		if utf8.RuneCountInString(t) > 64 || strings.Contains(t, "|") || strings.ContainsFunc(t, unicode.IsControl) {
			say("audience.tags", "holds "+quoted(t)+", which cannot be a tag: at most 64 characters, no | and no control character")
		}
	}
	if d.RepeatOf != nil && *d.RepeatOf < 1 {
		say("repeat_of", "must be the number of a notice")
	}
	if bad != nil {
		return &InvalidError{bad}
	}
	return nil
}

func checkText(say func(field, message string), field, s string, limit int, lines bool) {
	switch n := utf8.RuneCountInString(s); {
	case s == "":
		say(field, "is missing: write what the device shall show")
	case !utf8.ValidString(s):
		say(field, "is not valid UTF-8")
	case n > limit:
		say(field, "is "+itoa(n-limit)+" characters too long: at most "+itoa(limit))
	case strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\t' && (r != '\n' || !lines)
	}):
		say(field, "holds a control character: remove it")
	}
}

func linkFault(s string) string {
	if s == "" {
		return ""
	}
	if utf8.RuneCountInString(s) > MaxLink {
		return "is too long: at most " + itoa(MaxLink) + " characters"
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "is not an address: begin with https:// or with the scheme of your app"
	}
	switch strings.ToLower(u.Scheme) {
	case "javascript", "data", "vbscript", "file":
		return "may not use the scheme " + u.Scheme
	case "http", "https":
		if u.Host == "" {
			return "names no host: write it like https://example.com/page"
		}
	}
	return ""
}

// normal is the form in which texts are compared, stored and sent. NFC and not
// NFKC, which would merge what differs.
func normal(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.TrimSpace(norm.NFC.String(s))
}

func normalList(in []string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in {
		if s = normal(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
