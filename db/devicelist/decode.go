package devicelist

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// notText stands in decoded text for what is not valid in the file's encoding.
// No UTF-8 holds it, so that the check of a row finds it.
const notText = 0xFF

// decode gives r as UTF-8, without a byte order mark, and the encoding's name.
// What is not valid stays not valid.
func decode(r *bufio.Reader) (io.Reader, string) {
	head, _ := r.Peek(64)
	var mark string
	name := UTF8
	switch {
	case bytes.HasPrefix(head, []byte(bomUTF8)):
		mark = bomUTF8
	case bytes.HasPrefix(head, []byte(bomUTF16LE)):
		mark, name = bomUTF16LE, UTF16LE
	case bytes.HasPrefix(head, []byte(bomUTF16BE)):
		mark, name = bomUTF16BE, UTF16BE
	default:
		name = guess(head)
	}
	_, _ = r.Discard(len(mark)) // Peek has them
	switch name {
	case UTF16LE:
		return &wide{r: r, order: binary.LittleEndian}, name
	case UTF16BE:
		return &wide{r: r, order: binary.BigEndian}, name
	default:
		return r, name
	}
}

// guess tells UTF-16 without a mark by its zero bytes: the header's names are
// Latin letters, so every second byte is zero.
func guess(head []byte) string {
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch pairs := len(head) / 2; {
	case pairs < 2:
		return UTF8
	case zeros[0] == 0 && zeros[1]*10 >= pairs*7:
		return UTF16LE
	case zeros[1] == 0 && zeros[0]*10 >= pairs*7:
		return UTF16BE
	default:
		return UTF8
	}
}

// wide turns UTF-16 into UTF-8. What is not valid becomes notText.
type wide struct {
	r     io.Reader
	order binary.ByteOrder
	in    [8 << 10]byte
	held  int    // bytes of in that are still to be decoded: at most 3
	out   []byte // decoded, not yet given
	store []byte // what out is part of
	err   error  // of r, given once out is empty
}

func (w *wide) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.fill()
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

func (w *wide) fill() {
	n, err := w.r.Read(w.in[w.held:])
	w.err = err
	have := w.in[:w.held+n]
	w.store = w.store[:0]
	for len(have) >= 2 {
		unit := rune(w.order.Uint16(have))
		switch {
		case !utf16.IsSurrogate(unit):
			w.store = utf8.AppendRune(w.store, unit)
		case len(have) < 4 && err == nil: // its other half is still to come
			w.held = copy(w.in[:], have)
			w.out = w.store
			return
		default:
			var size int
			w.store, size = w.pair(unit, have)
			have = have[size:]
			continue
		}
		have = have[2:]
	}
	w.held = copy(w.in[:], have)
	if err != nil && w.held > 0 {
		w.store = append(w.store, notText)
		w.held = 0
	}
	w.out = w.store
}

// pair decodes a surrogate at the start of have, and says how many bytes it took.
func (w *wide) pair(first rune, have []byte) ([]byte, int) {
	if len(have) >= 4 {
		if r := utf16.DecodeRune(first, rune(w.order.Uint16(have[2:]))); r != utf8.RuneError {
			return utf8.AppendRune(w.store, r), 4
		}
	}
	return append(w.store, notText), 2
}
