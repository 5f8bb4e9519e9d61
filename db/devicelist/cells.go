package devicelist

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// places says at which cell of a row each column stands; -1: nowhere.
type places struct {
	token, platform, user, tags, consent, installation int
	vendor, environment, p256dh, auth                  int
	columns                                            int
}

func placesOf(names []string) places {
	at := func(column string) int {
		for i, n := range names {
			if columnName(n) == column {
				return i
			}
		}
		return -1
	}
	return places{at(Token), at(Platform), at(User), at(Tags), at(Consent), at(Installation),
		at(Vendor), at(Environment), at(P256dh), at(Auth), len(names)}
}

// column gives the name of the column at cell i, or "" where it is not read.
func (p places) column(i int) string {
	if i < 0 {
		return ""
	}
	for _, c := range [...]struct {
		at   int
		name string
	}{{p.token, Token}, {p.platform, Platform}, {p.user, User}, {p.tags, Tags}, {p.consent, Consent}, {p.installation, Installation},
		{p.vendor, Vendor}, {p.environment, Environment}, {p.p256dh, P256dh}, {p.auth, Auth}} {
		if c.at == i {
			return c.name
		}
	}
	return ""
}

// checkText says whether the record is valid text.
func (s *scanner) checkText() error {
	if s.flags&high != 0 && !utf8.Valid(s.rec) {
		return errEncoding(s.row, s.encoding)
	}
	return nil
}

// blank says whether all cells are empty or spaces.
func (s *scanner) blank() bool {
	start := 0
	for _, end := range s.ends {
		if len(bytes.TrimSpace(s.rec[start:end])) > 0 {
			return false
		}
		start = end + 1
	}
	return true
}

// cells cuts text, which is rec, into the record's cells.
func (s *scanner) cells(text string) []string {
	cells := make([]string, len(s.ends))
	start := 0
	for i, end := range s.ends {
		cells[i] = unguard(text[start:end])
		start = end + 1
	}
	return cells
}

// values is what a row's pointers point to, in one piece.
type values struct {
	user, installation                string
	vendor, environment, p256dh, auth string
	tags                              []string
	consent                           bool
}

// row gives the record that the scanner holds.
func (r *Reader) row() Row {
	cells := r.scan.cells(string(r.scan.rec))
	row := Row{Number: r.scan.row, Cells: cells}
	at := r.at
	v := new(values)
	row.Token = strings.TrimSpace(cell(cells, at.token))
	row.Platform = strings.ToLower(strings.TrimSpace(cell(cells, at.platform)))
	if at.user >= 0 {
		v.user = strings.TrimSpace(cell(cells, at.user))
		row.User = &v.user
	}
	if v.installation = cell(cells, at.installation); strings.TrimSpace(v.installation) != "" {
		row.Installation = &v.installation
	}
	row.Vendor = filled(&v.vendor, strings.ToLower(cell(cells, at.vendor)))
	row.Environment = filled(&v.environment, strings.ToLower(cell(cells, at.environment)))
	row.P256dh, row.Auth = filled(&v.p256dh, cell(cells, at.p256dh)), filled(&v.auth, cell(cells, at.auth))
	if at.tags >= 0 {
		v.tags = splitTags(cell(cells, at.tags))
		row.Tags = &v.tags
	}
	word := strings.TrimSpace(cell(cells, at.consent))
	yes, ok := consentOf(word)
	if ok {
		v.consent = yes
		row.Consent = &v.consent
	}
	row.Problems = r.problems(row, word, ok || word == "")
	return row
}

// filled keeps what a cell holds, without the spaces around it, in v and gives v;
// nil where that is nothing.
func filled(v *string, cell string) *string {
	if *v = strings.TrimSpace(cell); *v == "" {
		return nil
	}
	return v
}

// cell gives cell i, "" where the column is absent or the row too short for it.
func cell(cells []string, i int) string {
	if i < 0 || i >= len(cells) {
		return ""
	}
	return cells[i]
}

// splitTags cuts a cell such as a|b. What is empty between two lines is none.
func splitTags(cell string) []string {
	if strings.TrimSpace(cell) == "" {
		return []string{}
	}
	tags := make([]string, 0, strings.Count(cell, "|")+1)
	for tag := range strings.SplitSeq(cell, "|") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// consentOf understands the words for yes and no, in any case.
func consentOf(word string) (yes, ok bool) {
	for _, w := range [...]string{"true", "yes", "1", "y"} {
		if strings.EqualFold(word, w) {
			return true, true
		}
	}
	for _, w := range [...]string{"false", "no", "0", "n"} {
		if strings.EqualFold(word, w) {
			return false, true
		}
	}
	return false, false
}

// problems says what is wrong with the form of the row. Where the cells are not
// told apart for certain, nothing is said of what they hold.
func (r *Reader) problems(row Row, consent string, consentOK bool) (bad []Problem) {
	s := r.scan
	if s.broken >= 0 {
		return []Problem{{Column: r.at.column(s.broken), Reason: BadQuotes, Message: textBroken(s.broken)}}
	}
	if n := len(row.Cells); n > r.at.columns {
		return []Problem{{Reason: TooManyCells, Message: textTooMany(n, r.at.columns, r.head.Delimiter)}}
	}
	for _, i := range s.bare {
		if c := r.at.column(i); c != "" {
			bad = append(bad, Problem{Column: c, Value: Show(c, row.Cells[i]), Reason: BadQuotes, Message: textBare()})
		}
	}
	if s.flags&(control|zero|high) != 0 {
		bad = append(bad, r.characters(row)...)
	}
	if !consentOK {
		bad = append(bad, Problem{Column: Consent, Value: Show(Consent, consent), Reason: BadConsent, Message: textConsent()})
	}
	if row.Platform == Platform && columnName(row.Token) == Token {
		bad = append(bad, Problem{Reason: HeaderAgain, Message: textHeaderAgain()})
	}
	return bad
}

// characters looks for zero bytes in all cells and for control characters in
// those that are read.
func (r *Reader) characters(row Row) (bad []Problem) {
	for i, c := range row.Cells {
		column := r.at.column(i)
		value := c
		if column != Installation {
			value = strings.TrimSpace(c)
		}
		switch {
		case strings.IndexByte(c, 0) >= 0:
			bad = append(bad, Problem{Column: column, Value: Show(column, c), Reason: ZeroByte, Message: textZero(i)})
		case column != "" && strings.ContainsFunc(value, unicode.IsControl):
			bad = append(bad, Problem{Column: column, Value: Show(column, value), Reason: ControlCharacter, Message: textControl()})
		}
	}
	return bad
}
