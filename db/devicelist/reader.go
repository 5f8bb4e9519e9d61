package devicelist

import (
	"errors"
	"io"
)

// Reader reads a device list row by row.
type Reader struct {
	source  *counted
	records *records
	head    Head
	columns columns
	rows    int64 // read
	given   int64 // of those, not blank
}

// NewReader reads as far as the row that names the columns. It is a *FormatError
// where what comes is no list; errors of r itself are passed on.
func NewReader(r io.Reader) (*Reader, error) {
	x := &Reader{source: &counted{r: r}}
	in, err := text(x.source, &x.head)
	if err != nil {
		return nil, err
	}
	comma, rows, err := dialect(in)
	if err != nil {
		return nil, err
	}
	x.head.Delimiter = rune(comma)
	x.records = &records{in: in, comma: comma, number: rows}
	for {
		rec, err := x.records.next()
		if errors.Is(err, io.EOF) {
			return nil, formatError("empty", 0, "the file holds blank lines only. It needs a first row that names the columns, such as token,platform")
		}
		if err != nil {
			return nil, err
		}
		if rec.blank() {
			continue
		}
		x.columns, err = readHeader(rec, &x.head)
		return x, err
	}
}

// Head tells what the beginning of the list said.
func (x *Reader) Head() Head { return x.head }

// Offset is how many bytes of the source were taken so far.
func (x *Reader) Offset() int64 { return x.source.n }

// Next gives the next row that is not blank, or io.EOF behind the last. It is a
// *FormatError where the rest cannot be read; errors of the source are passed on.
func (x *Reader) Next() (Row, error) {
	for {
		rec, err := x.records.next()
		if err != nil {
			return Row{}, err
		}
		if x.rows++; rec.blank() && x.rows <= 2*MaxRows {
			continue
		}
		if x.given++; x.given > MaxRows || x.rows > 2*MaxRows {
			return Row{}, formatError("too_many_rows", rec.number, "the list has more than 2,000,000 rows, or twice as many with blank ones: split it into several files")
		}
		return x.row(rec), nil
	}
}
