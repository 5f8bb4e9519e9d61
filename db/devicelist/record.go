package devicelist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// records takes a text apart into rows of cells by the rules of RFC 4180. It also
// takes LF or CR alone as the end of a row, and a quote within a cell that did not
// begin with one as itself. A row takes at most MaxRecord bytes of memory.
type records struct {
	in     *bufio.Reader
	comma  byte
	number int64 // of the row read last
	skipLF bool  // the last row ended with CR: an LF belongs to it

	buf  []byte // the row's cells, one after another
	ends []int  // where each cell ends in buf
}

// record is one row as found.
type record struct {
	number int64
	cells  []string
	quotes bool // something stands between a closing quote and the next cell
}

// state is where in a cell the reader is.
type state int

const (
	begin  state = iota // before the first byte of a cell
	plain               // in a cell without quotes
	quoted              // in a cell with quotes
	closed              // behind a quote that may have closed the cell
)

// next reads one row. It gives io.EOF behind the last.
func (r *records) next() (rec record, err error) {
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	at, some := begin, false
	for {
		chunk, err := r.fill()
		if err != nil {
			return record{}, err
		}
		if len(chunk) == 0 {
			return r.last(at, some, rec)
		}
		n, ended := r.scan(chunk, &at, &rec, &some)
		_, _ = r.in.Discard(n) // they were seen
		if ended {
			return r.finish(rec), nil
		}
		if r.over() {
			return record{}, r.tooLong(at)
		}
	}
}

// fill gives what is there to read; nothing at the end.
func (r *records) fill() ([]byte, error) {
	if r.in.Buffered() == 0 {
		if _, err := r.in.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return nil, err
		}
	}
	return r.in.Peek(r.in.Buffered())
}

// scan takes bytes of chunk until the row ends, and tells how many. some says
// whether the row has anything to it.
func (r *records) scan(chunk []byte, at *state, rec *record, some *bool) (n int, ended bool) {
	if r.skipLF {
		r.skipLF = false
		if chunk[0] == '\n' {
			n = 1
		}
	}
	for ; n < len(chunk); n++ {
		c := chunk[n]
		switch {
		case *at == quoted && c == '"':
			*at = closed
		case *at == quoted:
			run := bytes.IndexByte(chunk[n:], '"')
			if run < 0 {
				run = len(chunk) - n
			}
			run = min(run, MaxRecord+1-min(len(r.buf), MaxRecord))
			r.buf = append(r.buf, chunk[n:n+run]...)
			n += run - 1
		case *at == closed && c == '"':
			r.buf = append(r.buf, '"')
			*at = quoted
		case c == r.comma:
			r.ends = append(r.ends, len(r.buf))
			*at, *some = begin, true
		case c == '\n' || c == '\r':
			r.skipLF = c == '\r'
			return n + 1, true
		case *at == begin && c == '"':
			*at, *some = quoted, true
		default:
			rec.quotes = rec.quotes || *at == closed
			if *at == begin {
				*at, *some = plain, true
			}
			r.buf = append(r.buf, c)
		}
		if r.over() {
			return n + 1, false
		}
	}
	return n, false
}

// over says whether the row is longer than any row of a list.
func (r *records) over() bool { return len(r.buf) > MaxRecord || len(r.ends) > MaxCells }

// last ends the row that the text ends in.
func (r *records) last(at state, some bool, rec record) (record, error) {
	switch {
	case !some:
		return record{}, io.EOF
	case at == quoted:
		return record{}, formatError("open_quote", r.number+1,
			"row %d opens a quote that is never closed. Put a second quote before each quote within a cell, or save the list again as CSV", r.number+1)
	}
	return r.finish(rec), nil
}

// finish makes the row out of what was gathered: one text, of which each cell is a
// part.
func (r *records) finish(rec record) record {
	r.number++
	whole := string(r.buf)
	rec.number = r.number
	rec.cells = make([]string, 0, len(r.ends)+1)
	from := 0
	for _, end := range r.ends {
		rec.cells = append(rec.cells, whole[from:end])
		from = end
	}
	rec.cells = append(rec.cells, whole[from:])
	return rec
}

func (r *records) tooLong(at state) error {
	if at == quoted {
		return formatError("open_quote", r.number+1,
			"row %d opens a quote that is not closed within %d KiB. Put a second quote before each quote within a cell, or save the list again as CSV",
			r.number+1, MaxRecord>>10)
	}
	if len(r.ends) > MaxCells {
		return formatError("row_too_long", r.number+1, "row %d has more than %d cells: that is no list of devices", r.number+1, MaxCells)
	}
	return formatError("row_too_long", r.number+1, "row %d is longer than %d KiB: that is no list of devices, or its line ends are missing", r.number+1, MaxRecord>>10)
}

// blank says whether a row holds nothing, as spreadsheets write between two
// tables.
func (rec record) blank() bool {
	for _, c := range rec.cells {
		if c != "" {
			return false
		}
	}
	return true
}
