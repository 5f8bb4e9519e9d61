package devicelist

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
)

// maxLead is how many blank rows may stand above the header.
const maxLead = 100

// header is the next row, cut by one delimiter.
type header struct {
	delim  byte
	names  []string // as found
	known  int      // how many columns that are read it names
	clean  bool     // no quote is out of place
	blank  bool
	failed error // why it could not be read
}

// readHeader finds the delimiter and leaves s behind the header.
func readHeader(s *scanner) (Head, error) {
	s.fill()
	if separatorLine(s.buf[:s.end]) {
		s.pos = separatorLength
		s.skipLF = s.buf[s.pos-1] == '\r'
	}
	for range maxLead {
		s.fill()
		h := s.likeliest()
		if h.known == 0 && !h.blank {
			return Head{}, s.noHeader(h)
		}
		s.use(h.delim)
		if err := s.next(); err != nil {
			return Head{}, err
		}
		if !h.blank {
			return h.head(s.row)
		}
	}
	return Head{}, errBlankTop(s.row)
}

// noHeader says what h is instead.
func (s *scanner) noHeader(h header) error {
	switch err := notAListText(s.buf[s.pos:s.end]); {
	case err != nil:
		return err
	case h.failed != nil:
		return h.failed
	default:
		return errNoHeader(s.row+1, h.names)
	}
}

const separatorLength = len("sep=;\n")

// separatorLine says whether text begins with a line such as sep=; which a
// spreadsheet hides and does not count. The delimiter is found without it.
func separatorLine(text []byte) bool {
	return len(text) >= separatorLength && bytes.EqualFold(text[:4], []byte("sep=")) && (text[5] == '\r' || text[5] == '\n')
}

// likeliest reads the next record with each delimiter, takes none of them, and
// gives the one that finds the most columns. Where none finds any, a record that
// could not be read comes first, for its reason, then a blank one.
func (s *scanner) likeliest() header {
	best := s.try(',')
	for _, delim := range []byte(";\t") {
		if h := s.try(delim); slices.Compare(h.rank(), best.rank()) > 0 {
			best = h
		}
	}
	return best
}

// rank orders headers by how likely they are. A wrong delimiter within quotes
// leaves a quote out of place.
func (h header) rank() []int {
	of := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return []int{of(h.known > 0), of(h.failed != nil), of(h.blank), of(h.clean), h.known, len(h.names)}
}

// try reads the next record from the buffer alone and takes it back.
func (s *scanner) try(delim byte) header {
	pos, row, skip, srcErr := s.pos, s.row, s.skipLF, s.srcErr
	if s.srcErr == nil {
		s.srcErr = errLongHeader(s.row + 1)
	}
	s.use(delim)
	h := header{delim: delim, failed: s.headerText()}
	s.pos, s.row, s.skipLF, s.srcErr = pos, row, skip, srcErr
	if h.failed != nil {
		return h
	}
	if h.blank = s.blank(); h.blank {
		return h
	}
	h.clean = len(s.bare) == 0 && s.broken < 0
	h.names = s.cells(string(s.rec))
	h.known = len(knownOf(h.columns()))
	return h
}

// knownOf gives the columns that are read among those found.
func knownOf(at map[string][]int) (known []string) {
	for _, c := range Columns() {
		if len(at[c]) > 0 {
			known = append(known, c)
		}
	}
	return known
}

// headerText reads a record that has to be text.
func (s *scanner) headerText() error {
	err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return errEmpty()
	case err != nil:
		return err
	case s.flags&zero != 0:
		return errBinary(s.row)
	default:
		return s.checkText()
	}
}

// head checks the names of a header: token and platform are needed, and no
// column that is read may be there twice.
func (h header) head(row int64) (Head, error) {
	at := h.columns()
	head := Head{Delimiter: rune(h.delim), Columns: h.names, Known: knownOf(at)}
	for _, c := range []string{Token, Platform} {
		if len(at[c]) == 0 {
			return Head{}, errMissingColumn(row, c, h.names)
		}
	}
	for _, c := range head.Known {
		if len(at[c]) > 1 {
			return Head{}, errDoubledColumn(row, c, at[c])
		}
	}
	for _, n := range h.names {
		if c := columnName(n); c != "" && !slices.Contains(head.Known, c) {
			head.Ignored = append(head.Ignored, n)
		}
	}
	return head, nil
}

// columns says at which places each name stands.
func (h header) columns() map[string][]int {
	at := map[string][]int{}
	for i, n := range h.names {
		name := columnName(n)
		at[name] = append(at[name], i)
	}
	return at
}

// columnName gives a header's cell as the name it is compared by.
func columnName(cell string) string {
	return strings.ToLower(strings.TrimFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) // a byte order mark too
	}))
}

// fill reads until the buffer is full or the source has ended.
func (s *scanner) fill() {
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	for tries := 0; s.end < len(s.buf) && s.srcErr == nil && tries < 100; {
		var n int
		n, s.srcErr = s.src.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			tries = 0
		} else {
			tries++
		}
	}
}

// looksLikeData says whether the names are rather a device than a header.
func looksLikeData(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		name := columnName(n)
		return name == "android" || name == "ios" || name == "web" ||
			len(name) > 40 && !strings.Contains(name, " ")
	})
}
