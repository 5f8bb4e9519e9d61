package devicelist

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
)

// inputBuffer is how many bytes are read at once.
const inputBuffer = 32 << 10

// input counts what is taken from a reader, and keeps the error that ended it,
// so that a failed reader can be told from a file that is damaged.
type input struct {
	r   io.Reader
	n   int64
	err error
}

func (in *input) Read(p []byte) (int, error) {
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.r.Read(p)
	in.n += int64(n)
	in.err = err
	return n, err
}

// failed gives the error of the reader itself, if there was one.
func (in *input) failed() error {
	if in.err == nil || errors.Is(in.err, io.EOF) {
		return nil
	}
	return in.err
}

// limited ends with errTooLarge where r holds more than left bytes.
type limited struct {
	r    io.Reader
	left int64
}

var errTooLarge = errors.New("the list is larger than MaxBytes")

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		return int(l.left), errTooLarge
	}
	l.left -= int64(n)
	return n, err
}

// unpack gives the bytes of the list, decompressed where in is gzip.
func unpack(in *input) (_ *bufio.Reader, zipped bool, err error) {
	raw := bufio.NewReaderSize(in, inputBuffer)
	if magic, _ := raw.Peek(2); string(magic) != gzipMagic {
		return bufio.NewReaderSize(&limited{raw, MaxBytes}, inputBuffer), false, nil
	}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, true, err
	}
	return bufio.NewReaderSize(&limited{z, MaxBytes}, inputBuffer), true, nil
}

// damaged says whether err is what a damaged or cut gzip file gives.
func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt)
}
