package devicelist

import (
	"errors"
	"io"
)

// Classes of bytes. Those above stop end a run of ordinary bytes.
const (
	high    = 1 << iota // not ASCII
	control             // also a tab that is no delimiter
	zero
	delimiter
	lineEnd
	quote
	stop = delimiter
)

// scanner cuts text into records by RFC 4180, one at a time. It holds one record
// and one buffer, whatever comes.
type scanner struct {
	src      io.Reader
	encoding string // of the file, for messages
	srcErr   error  // given once the buffer is empty
	buf      []byte
	pos      int
	end      int

	plain, quoted [256]byte // the classes of bytes outside and inside of quotes

	rec    []byte // the record's cells, unquoted, with a zero byte after each
	ends   []int  // where in rec each cell ends
	flags  byte   // the classes of the bytes in rec
	bare   []int  // cells without quotes around them that hold one
	broken int    // the first cell that goes on after its closing quote, or -1
	row    int64  // the record's number
	skipLF bool   // the last record ended with a CR
}

func newScanner(src io.Reader) *scanner {
	return &scanner{src: src, buf: make([]byte, MaxCell)}
}

// use sets the delimiter.
func (s *scanner) use(delim byte) {
	for i := range 256 {
		var class byte
		switch {
		case i == 0:
			class = zero
		case i < ' ' || i == 0x7F:
			class = control
		case i >= 0x80:
			class = high
		}
		s.plain[i], s.quoted[i] = class, class
	}
	s.plain['\n'], s.plain['\r'] = lineEnd, lineEnd
	s.plain['"'], s.quoted['"'] = quote, quote
	s.plain[delim] = delimiter
}

// next reads a record. It is io.EOF where there is none, a *FormatError where it
// does not end within the limits, or the source's error.
func (s *scanner) next() error {
	s.rec, s.ends, s.bare = s.rec[:0], s.ends[:0], s.bare[:0]
	s.flags, s.broken = 0, -1
	if err := s.begin(); err != nil {
		return err
	}
	s.row++
	for {
		last, err := s.cell()
		if err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.rec))
		s.rec = append(s.rec, 0)
		if last {
			return nil
		}
		if len(s.ends) == MaxColumns {
			return errWide(s.row)
		}
	}
}

// begin makes sure that there is a byte of a record.
func (s *scanner) begin() error {
	if err := s.more(); err != nil {
		return err
	}
	if s.skipLF {
		s.skipLF = false
		if s.buf[s.pos] == '\n' {
			s.pos++
			return s.more()
		}
	}
	return nil
}

// more makes sure that the buffer holds a byte.
func (s *scanner) more() error {
	for tries := 0; s.pos == s.end; tries++ {
		if s.srcErr != nil {
			return s.srcErr
		}
		if tries == 100 {
			return io.ErrNoProgress
		}
		s.pos = 0
		s.end, s.srcErr = s.src.Read(s.buf)
	}
	return nil
}

// cell reads a cell and what ends it, and says whether it is the record's last.
func (s *scanner) cell() (last bool, err error) {
	if err := s.more(); err != nil {
		return true, notEOF(err)
	}
	start := len(s.rec)
	if s.buf[s.pos] != '"' {
		return s.plainCell(start)
	}
	s.pos++
	return s.quotedCell(start)
}

// plainCell reads on to the end of the cell that began at start of rec.
func (s *scanner) plainCell(start int) (last bool, err error) {
	for {
		if err := s.more(); err != nil {
			return true, notEOF(err)
		}
		class := s.run(&s.plain)
		if err := s.within(start); err != nil {
			return true, err
		}
		switch class {
		case delimiter:
			s.pos++
			return false, nil
		case lineEnd:
			s.skipLF = s.buf[s.pos] == '\r'
			s.pos++
			return true, nil
		case quote:
			s.rec = append(s.rec, '"')
			s.pos++
			s.noteBare()
		}
	}
}

// quotedCell reads a cell whose opening quote is behind it.
func (s *scanner) quotedCell(start int) (last bool, err error) {
	for {
		if err := s.more(); err != nil {
			return true, s.unclosed(err)
		}
		class := s.run(&s.quoted)
		if len(s.rec)-start > MaxCell {
			return true, errUnclosedLong(s.row, len(s.ends))
		}
		if err := s.within(start); err != nil {
			return true, err
		}
		if class != quote {
			continue
		}
		s.pos++
		if err := s.more(); err != nil {
			return true, notEOF(err)
		}
		switch c := s.buf[s.pos]; {
		case c == '"':
			s.rec = append(s.rec, '"')
			s.pos++
		case s.plain[c] < delimiter:
			if s.broken < 0 {
				s.broken = len(s.ends)
			}
			return s.plainCell(start)
		default:
			return s.plainCell(start)
		}
	}
}

// run moves ordinary bytes from the buffer to rec, and gives the class of the
// one that it stopped before; 0 where the buffer ended.
func (s *scanner) run(classes *[256]byte) byte {
	b := s.buf[s.pos:s.end]
	var flags byte
	for i, c := range b {
		class := classes[c]
		if class >= stop {
			s.take(b[:i], flags)
			return class
		}
		flags |= class
	}
	s.take(b, flags)
	return 0
}

func (s *scanner) take(b []byte, flags byte) {
	s.rec = append(s.rec, b...)
	s.flags |= flags
	s.pos += len(b)
}

// within says that a cell or the record has grown beyond its limit.
func (s *scanner) within(start int) error {
	switch {
	case len(s.rec)-start > MaxCell:
		return errLongCell(s.row, len(s.ends))
	case len(s.rec) > MaxRecord:
		return errLongRow(s.row)
	default:
		return nil
	}
}

// noteBare notes that the cell which is being read holds a quote of its own.
func (s *scanner) noteBare() {
	if n := len(s.bare); n == 0 || s.bare[n-1] != len(s.ends) {
		s.bare = append(s.bare, len(s.ends))
	}
}

// unclosed gives the error of a source, or of a header's limit, within quotes.
func (s *scanner) unclosed(err error) error {
	var limit *FormatError
	switch {
	case errors.Is(err, io.EOF):
		return errUnclosed(s.row, len(s.ends))
	case errors.As(err, &limit):
		return errUnclosedLong(s.row, len(s.ends))
	default:
		return err
	}
}

// notEOF takes the end of the file for the end of a record.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
