package devicelist

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// dialect finds the delimiter: the one that stands most often in the first line,
// outside quotes. A first line "sep=;" as Excel writes it says so itself; it is
// taken away, and counts as a row.
func dialect(in *bufio.Reader) (comma byte, rows int64, err error) {
	start, err := in.Peek(lookahead)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(start), "\n")
	line, _, _ = strings.Cut(line, "\r")
	if len(line) == 5 && strings.EqualFold(line[:4], "sep=") {
		if _, err := in.Discard(len(line)); err != nil {
			return 0, 0, err
		}
		return line[4], 1, discardLineEnd(in)
	}
	counts := map[byte]int{}
	inside := false
	for i := range len(line) {
		if line[i] == '"' {
			inside = !inside
		} else if !inside {
			counts[line[i]]++
		}
	}
	comma = ','
	for _, c := range []byte{';', '\t'} {
		if counts[c] > counts[comma] {
			comma = c
		}
	}
	return comma, 0, nil
}

func discardLineEnd(in *bufio.Reader) error {
	for _, c := range []byte{'\r', '\n'} {
		next, err := in.Peek(1)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(next) == 1 && next[0] == c {
			_, _ = in.Discard(1) // it was seen
		}
	}
	return nil
}

// column is where each known column stands; -1 where it is absent.
type columns struct{ token, platform, user, tags, consent, installation int }

// readHeader makes sense of the first row.
func readHeader(rec record, head *Head) (columns, error) {
	place := map[string]int{}
	for i, cell := range rec.cells {
		if !utf8.ValidString(cell) {
			return columns{}, formatError("not_utf8", rec.number, "the first row is not UTF-8 text. Save the list as CSV UTF-8")
		}
		name := strings.ToLower(strings.TrimSpace(unescape(cell)))
		head.Columns = append(head.Columns, strings.TrimSpace(cell))
		if !slices.Contains(Columns, name) {
			if name != "" {
				head.Ignored = append(head.Ignored, strings.TrimSpace(cell))
			}
			continue
		}
		if _, twice := place[name]; twice {
			return columns{}, formatError("column_twice", rec.number, "the first row names the column %s twice. Take one of them away", name)
		}
		place[name] = i
		head.Known = append(head.Known, name)
	}
	if err := whole(rec, place, head); err != nil {
		return columns{}, err
	}
	at := func(name string) int {
		if i, ok := place[name]; ok {
			return i
		}
		return -1
	}
	return columns{at("token"), at("platform"), at("user"), at("tags"), at("consent"), at("installation")}, nil
}

// whole says which column is missing that must be there.
func whole(rec record, place map[string]int, head *Head) error {
	if len(place) == 0 {
		return formatError("no_header", rec.number,
			"the first row must name the columns, such as token,platform,user; it is %s. Add such a row at the top", quoteList(head.Columns))
	}
	for _, name := range []string{"token", "platform"} {
		if _, ok := place[name]; !ok {
			return formatError("column_missing", rec.number, "the first row has no column %s; it names %s. Add the column, or name it so", name, quoteList(head.Columns))
		}
	}
	return nil
}

// quoteList shows a few names, shortened: the first row may hold tokens by
// mistake.
func quoteList(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == 8 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("“" + shorten(n, 20) + "”")
	}
	return b.String()
}

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
