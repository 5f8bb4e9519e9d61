package devicelist

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// lookahead is how much of a list is looked at before it is read.
const lookahead = 64 << 10

// counted counts the bytes that were taken out of a reader.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded fails once more than MaxBytes came out of a reader: a small packed file
// can hold a very large list.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, formatError("too_large", 0, "the list has more than %d MiB of text: split it into several files", MaxBytes>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// unpacked tells what is wrong with a packed list in words of ours. What its
// source says is passed on.
type unpacked struct{ r io.Reader }

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	return n, packError(err)
}

func packError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return formatError("gzip_cut", 0, "the gzip file ends before its end: it was cut on the way. Pack it or copy it again")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return formatError("gzip_damaged", 0, "the gzip file is damaged. Pack it again, or give the CSV unpacked")
	}
	return err
}

// text gives the UTF-8 text of a list, without a byte order mark.
func text(source io.Reader, head *Head) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(&bounded{source, MaxBytes + 1}, lookahead)
	start, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, packError(err)
		}
		head.Gzip = true
		in = bufio.NewReaderSize(&bounded{unpacked{packed}, MaxBytes + 1}, lookahead)
	}
	start, err = in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := notAList(start); err != nil {
		return nil, err
	}
	return inUTF8(in, start, head), nil
}

// inUTF8 takes the byte order mark away and decodes UTF-16, also without a mark,
// where every second byte of the beginning is zero.
func inUTF8(in *bufio.Reader, start []byte, head *Head) *bufio.Reader {
	var order unicode.Endianness
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // they were seen
		head.Encoding = "UTF-8"
		return in
	case bytes.HasPrefix(start, []byte("\xff\xfe")), zeros(start, 1):
		head.Encoding, order = "UTF-16LE", unicode.LittleEndian
	case bytes.HasPrefix(start, []byte("\xfe\xff")), zeros(start, 0):
		head.Encoding, order = "UTF-16BE", unicode.BigEndian
	default:
		head.Encoding = "UTF-8"
		return in
	}
	decoder := unicode.UTF16(order, unicode.UseBOM).NewDecoder()
	return bufio.NewReaderSize(transform.NewReader(in, decoder), lookahead)
}

// zeros says whether all of the first bytes with this parity are zero, and none of
// the others.
func zeros(start []byte, parity int) bool {
	n := min(len(start), 16) &^ 1
	for i, b := range start[:n] {
		if (b == 0) != (i%2 == parity) {
			return false
		}
	}
	return n >= 4
}

// notAList knows files of other kinds by how they begin.
func notAList(start []byte) error {
	lead := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")), " \t\r\n")
	const save = "In the spreadsheet, choose Save as (or Download), CSV UTF-8, and upload that file"
	switch {
	case len(start) == 0:
		return formatError("empty", 0, "the file is empty. It needs a first row that names the columns, such as token,platform")
	case len(lead) == 0:
		return formatError("empty", 0, "the file holds blank lines only. It needs a first row that names the columns, such as token,platform")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return formatError("not_csv", 0, "this is an Excel workbook (.xlsx) or another zip file, not a CSV, whatever its name says. %s", save)
	case bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return formatError("not_csv", 0, "this is an old Excel workbook (.xls), not a CSV. %s", save)
	case bytes.HasPrefix(start, []byte("%PDF")):
		return formatError("not_csv", 0, "this is a PDF, not a CSV. %s", save)
	case bytes.HasPrefix(start, []byte("PAR1")):
		return formatError("not_csv", 0, "this is a Parquet file, not a CSV. Write the table as CSV with the columns token,platform")
	case bytes.HasPrefix(start, []byte("BZh")), bytes.HasPrefix(start, []byte("\xfd7zXZ")), bytes.HasPrefix(start, []byte("7z\xbc\xaf")), bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		return formatError("not_csv", 0, "this is packed in a way that is not known here. Give the CSV unpacked, or packed with gzip")
	case lead[0] == '<':
		return formatError("not_csv", 0, "this is a web page or XML, not a CSV: perhaps a sign-in page was saved in its place. Download the list again")
	case lead[0] == '{' || lead[0] == '[':
		return formatError("not_csv", 0, "this is JSON, not a CSV. Send JSON to PUT /api/v1/devices, or write the list as CSV")
	}
	return nil
}
