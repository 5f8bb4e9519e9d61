package devicelist

import (
	"errors"
	"io"
)

// Reader reads a list row by row. Its memory is bounded, whatever the input. It
// is for one goroutine.
type Reader struct {
	in    *input
	scan  *scanner
	head  Head
	at    places
	given int64 // rows so far
	blank int64 // blank ones below the header so far
	err   error // what ended it
}

// NewReader reads as far as the header. It is a *FormatError where r holds no
// list, which says what was found and what to do, or the error of r.
func NewReader(r io.Reader) (*Reader, error) {
	in := &input{r: r}
	raw, zipped, err := unpack(in)
	if err != nil {
		return nil, told(in, zipped, 0, err)
	}
	if err := notAList(raw); err != nil {
		return nil, told(in, zipped, 0, err)
	}
	text, encoding := decode(raw)
	s := newScanner(text)
	s.encoding = encoding
	head, err := readHeader(s)
	if err != nil {
		return nil, told(in, zipped, s.row, err)
	}
	head.Encoding, head.Gzip = encoding, zipped
	return &Reader{in: in, scan: s, head: head, at: placesOf(head.Columns)}, nil
}

// Head gives what the beginning of the list tells.
func (r *Reader) Head() Head { return r.head }

// Offset gives the bytes of the input taken so far: of the compressed ones where
// it is gzip. They run up to some 100 KiB ahead of the row that was given.
func (r *Reader) Offset() int64 { return r.in.n }

// Next gives the next row that is not blank, good or not. It is io.EOF at the
// end, a *FormatError where the rest cannot be read, or the input's own error.
// After an error it gives the same again. A row's strings share memory: keep
// copies of those that are kept for long.
func (r *Reader) Next() (Row, error) {
	if r.err == nil {
		r.err = r.advance()
	}
	if r.err != nil {
		return Row{}, r.err
	}
	return r.row(), nil
}

// advance goes to the next record that is not blank. Blank ones are bounded too,
// since a call that goes on for long holds up whoever waits for the row.
func (r *Reader) advance() error {
	for {
		if err := r.scan.next(); err != nil {
			return told(r.in, r.head.Gzip, r.scan.row, err)
		}
		if err := r.scan.checkText(); err != nil {
			return err
		}
		if r.scan.blank() {
			if r.blank++; r.blank > MaxRows {
				return errManyBlank(r.scan.row)
			}
			continue
		}
		if r.given++; r.given > MaxRows {
			return errManyRows(r.scan.row)
		}
		return nil
	}
}

// told puts err into words where it is the file's fault. after is the last row
// that was begun.
func told(in *input, zipped bool, after int64, err error) error {
	if failed := in.failed(); failed != nil {
		return failed
	}
	switch {
	case errors.Is(err, errTooLarge):
		return errLarge(after)
	case zipped && damaged(err):
		return errDamaged(after, err)
	default:
		return err
	}
}
