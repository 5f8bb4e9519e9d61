// Package ui holds the small parts that several pages share: times, numbers,
// badges, form fields, tables' ends. It knows nothing of what it shows.
package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Num writes a number with a comma before every three digits: 12,034.
func Num(n int64) string {
	sign, digits := "", strconv.FormatInt(n, 10)
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Of writes "1 device" or "12,034 devices".
func Of(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Num(n) + " " + many
}

// Span writes a length of time given in seconds: 8 s, 3 min 20 s, 2 h 5 min, 3 d 4 h.
func Span(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", max(seconds, 0))
	case seconds < 3600:
		return twoParts(seconds/60, "min", seconds%60, "s")
	case seconds < 86400:
		return twoParts(seconds/3600, "h", seconds%3600/60, "min")
	default:
		return twoParts(seconds/86400, "d", seconds%86400/3600, "h")
	}
}

func twoParts(a int64, unitA string, b int64, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}

// Millis writes a length of time given in milliseconds: 32 ms, 3.02 s.
func Millis(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 2, 64) + " s"
}

// Bytes writes a size: 512 B, 8.2 MB, 1.3 GB. The units are powers of ten.
func Bytes(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d B", max(n, 0))
	}
	f, i := float64(n)/1000, 0
	for f >= 999.95 && i < len(units)-1 {
		f, i = f/1000, i+1
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + units[i]
}

// UTC is what is read where there is no script: 2026-12-01 05:11:00 UTC.
// stamp is RFC 3339 in UTC. A stamp of another form is shown as it is.
func UTC(stamp string) string {
	day, rest, ok := strings.Cut(stamp, "T")
	if !ok || !strings.HasSuffix(rest, "Z") {
		return stamp
	}
	return day + " " + strings.TrimSuffix(rest, "Z") + " UTC"
}

// Post gives the attributes of a form that acts. Without script it is a plain
// POST. With script the answer is a redirect, or a text for the banner, and a
// second press while the first is under way is dropped.
func Post(action string) templ.Attributes {
	return templ.Attributes{
		"method": "post", "action": action,
		"hx-post": action, "hx-sync": "this:drop", "hx-target": "#banner", "hx-swap": "innerHTML",
	}
}

// PostSelf is Post for a form that has fields to get wrong: an answer with
// field errors takes the place of the form.
func PostSelf(action string) templ.Attributes {
	attrs := Post(action)
	attrs["hx-target"], attrs["hx-swap"] = "this", "outerHTML show:top"
	return attrs
}

// Option is one choice of several.
type Option struct {
	Value, Label string
	On           bool
}

// Input is one field of a form: what was typed is kept, and what is wrong with
// it is said beside it.
type Input struct {
	ID, Label, Hint, Value string
	Wrong                  string // what is wrong; empty: nothing
	Type                   string // of an <input>; text where empty
	Required               bool
	Autocomplete           string
	Rows                   int // of a textarea
	Limit                  int // in characters, counted while typing; 0: not counted
}

func (f Input) kind() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// describedBy names the elements that explain the field.
func (f Input) describedBy() string {
	var ids []string
	if f.Wrong != "" {
		ids = append(ids, f.ID+"-wrong")
	}
	if f.Hint != "" {
		ids = append(ids, f.ID+"-hint")
	}
	return strings.Join(ids, " ")
}

// Tone is how good or bad a badge's or a note's news is.
type Tone string

// The tones; each has a shape, so that colour is never the only sign.
const (
	Calm Tone = "calm"
	Now  Tone = "now"  // under way
	Next Tone = "next" // not yet
	Good Tone = "good"
	Warn Tone = "warn"
	Bad  Tone = "bad"
)

func (t Tone) shape() string {
	switch t {
	case Now:
		return "▶"
	case Next:
		return "○"
	case Good:
		return "✓"
	case Warn:
		return "▲"
	case Bad:
		return "✕"
	default:
		return "●"
	}
}
