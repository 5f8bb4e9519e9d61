package devicelist

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reasons of a row that is not well formed.
const (
	BadQuotes    = "bad_quotes"
	TooManyCells = "too_many_cells"
	CellTooLong  = "cell_too_long"
	NotUTF8      = "not_utf8"
	ControlChar  = "control_character"
	BadConsent   = "bad_consent"
)

// row makes sense of a row's cells.
func (x *Reader) row(rec record) Row {
	row := Row{Number: rec.number, Cells: rec.cells}
	for i, c := range row.Cells {
		row.Cells[i] = unescape(c)
	}
	if rec.quotes {
		row.say("", "", BadQuotes, "has text behind a closing quote: put a second quote before each quote within a cell")
	}
	if n := len(x.head.Columns); len(rec.cells) > n && !(record{cells: rec.cells[n:]}).blank() {
		row.say("", "", TooManyCells, fmt.Sprintf("has %d cells, and the first row names %d columns: a delimiter within a cell needs quotes around the cell", len(rec.cells), n))
	}
	c := x.columns
	row.Token = strings.TrimSpace(row.cell("token", c.token))
	row.Platform = strings.ToLower(strings.TrimSpace(row.cell("platform", c.platform)))
	if c.user >= 0 {
		user := strings.TrimSpace(row.cell("user", c.user))
		row.User = &user
	}
	if c.tags >= 0 {
		tags := splitTags(row.cell("tags", c.tags))
		row.Tags = &tags
	}
	if c.installation >= 0 {
		if s := strings.TrimSpace(row.cell("installation", c.installation)); s != "" {
			row.Installation = &s
		}
	}
	if c.consent >= 0 {
		row.consent(row.cell("consent", c.consent))
	}
	return row
}

func (row *Row) say(column, value, reason, message string) {
	row.Problems = append(row.Problems, Problem{Column: column, Value: value, Reason: reason, Message: message})
}

// cell gives the text of a cell, "" where the row ends before it, and notes what
// is wrong with it.
func (row *Row) cell(column string, at int) string {
	if at >= len(row.Cells) {
		return ""
	}
	s := row.Cells[at]
	switch {
	case len(s) > MaxCell:
		row.say(column, Show(column, s), CellTooLong, fmt.Sprintf("has %d bytes: at most %d", len(s), MaxCell))
		return ""
	case !utf8.ValidString(s):
		row.say(column, Show(column, s), NotUTF8, "is not UTF-8 text: save the list as CSV UTF-8")
		return ""
	}
	if i := strings.IndexFunc(s, controls); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		row.say(column, Show(column, s), ControlChar, fmt.Sprintf("holds the control character U+%04X: take it out", r))
	}
	return s
}

// controls says whether a character has no place in a cell. White space at the
// ends is taken off, and what stands within is the field's to judge.
func controls(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r'
}

// splitTags takes "vip|gold" apart. Empty parts do not count.
func splitTags(s string) []string {
	tags := []string{}
	for part := range strings.SplitSeq(s, "|") {
		if part = strings.TrimSpace(part); part != "" {
			tags = append(tags, part)
		}
	}
	return tags
}

// consent reads the words for yes and no. An empty cell says nothing.
func (row *Row) consent(cell string) {
	yes, no := true, false
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "":
	case "true", "yes", "y", "1", "t":
		row.Consent = &yes
	case "false", "no", "n", "0", "f":
		row.Consent = &no
	default:
		row.say("consent", Show("consent", cell), BadConsent, "must be true or false, yes or no, 1 or 0, or empty")
	}
}

// Show gives a cell as a page or a log may show it: shortened, without control
// characters, and masked where it is a token.
func Show(column, value string) string {
	value = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(value, "\uFFFD"))
	if column == "token" {
		chars := []rune(value)
		if len(chars) <= 8 {
			return strings.Repeat("•", len(chars))
		}
		return string(chars[:4]) + "…" + string(chars[len(chars)-2:])
	}
	return shorten(value, 80)
}
