package devicelist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const gzipMagic = "\x1F\x8B"

// signatures are the beginnings of files that are often taken for a list.
var signatures = []struct {
	start string
	err   func() error
}{
	{"PK\x03\x04", errZip},
	{"PK\x05\x06", errZip},
	{"\xD0\xCF\x11\xE0", errOldExcel},
	{"%PDF", errPDF},
	{"PAR1", errParquet},
	{gzipMagic, errTwiceZipped},
	{"BZh", errPacked},
	{"\xFD7zXZ", errPacked},
	{"\x28\xB5\x2F\xFD", errPacked},
	{"7z\xBC\xAF", errPacked},
	{"Rar!", errPacked},
	{"\xFF\xFE\x00\x00", errUTF32},
	{"\x00\x00\xFE\xFF", errUTF32},
	{"{\\rtf", errRTF},
}

// notAList says what r holds where its first bytes tell that it is no list.
func notAList(r *bufio.Reader) error {
	head, err := r.Peek(512)
	switch {
	case len(head) > 0: // the error, if there is one, comes again after it
	case errors.Is(err, io.EOF):
		return errEmpty()
	default:
		return err
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.start)) {
			return s.err()
		}
	}
	return nil
}

// notAListText is the same for text, whatever its encoding was.
func notAListText(text []byte) error {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) > 0 && text[0] == '<':
		return errHTML()
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return errJSON()
	default:
		return nil
	}
}
