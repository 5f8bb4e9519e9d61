package devicelist

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeat gives a text many times over without holding it.
type repeat struct {
	head, text string
	left       int64
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.head != "" {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(r.text) <= len(p) {
		n += copy(p[n:], r.text)
	}
	if n == 0 {
		n = copy(p, r.text) // a shorter one will do
	}
	r.left -= int64(n)
	return n, nil
}

// heapAbove tells how much the heap grew at most while f ran.
func heapAbove(f func(look func())) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	start, most := m.HeapAlloc, uint64(0)
	f(func() {
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc-min(start, m.HeapAlloc))
	})
	return most
}

func TestMemoryIsBounded(t *testing.T) {
	bomb, writer := io.Pipe()
	go func() {
		w := gzip.NewWriter(writer)
		_, _ = io.Copy(w, &repeat{"token,platform\n", "aaaaaaaa,ios\n", MaxBytes + 1<<20})
		_ = w.Close()
		_ = writer.Close()
	}()
	t.Cleanup(func() { _ = bomb.Close() })
	for name, c := range map[string]struct {
		in   io.Reader
		code string
	}{
		"a quote that never closes":  {&repeat{"token,platform\n\"", "xxxxxxxx", 64 << 20}, "open_quote"},
		"a row that never ends":      {&repeat{"token,platform\n", "xxxxxxxx", 64 << 20}, "row_too_long"},
		"a packed list without end":  {bomb, "too_many_rows"},
		"a header that never ends":   {&repeat{"token,platform,", "xxxxxxxx", 64 << 20}, "row_too_long"},
		"delimiters without an end":  {&repeat{"token,platform\n", ",,,,,,,,", 64 << 20}, "row_too_long"},
		"text without an end":        {&repeat{"token,platform,note\n", "a,ios," + strings.Repeat("x", 1000) + "\n", MaxBytes + 1<<20}, "too_large"},
		"blank lines without an end": {&repeat{"token,platform\n", "\n\n\n\n", 64 << 20}, "too_many_rows"},
	} {
		var err error
		grew := heapAbove(func(look func()) {
			var x *Reader
			x, err = NewReader(c.in)
			for n := 0; err == nil; n++ {
				if _, err = x.Next(); n%10_000 == 0 {
					look()
				}
			}
			look()
		})
		var format *FormatError
		if !errors.As(err, &format) || format.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if grew > 40<<20 {
			t.Errorf("%s: the heap grew by %d MiB", name, grew>>20)
		}
	}
}

// What the source says is no fault of the list.
func TestErrorsOfTheSource(t *testing.T) {
	away := errors.New("the database is away")
	for _, text := range []string{"", "token,plat", "token,platform\na,ios\nb,w", packed("token,platform\na,ios\n")[:20]} {
		x, err := NewReader(io.MultiReader(strings.NewReader(text), failing{away}))
		for err == nil {
			_, err = x.Next()
		}
		if !errors.Is(err, away) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestOffset(t *testing.T) {
	list := "token,platform\n" + strings.Repeat("aaaa,ios\n", 100_000)
	x, err := NewReader(strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	last := x.Offset()
	for {
		_, err := x.Next()
		if x.Offset() < last {
			t.Fatalf("from %d back to %d", last, x.Offset())
		}
		last = x.Offset()
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if last != int64(len(list)) {
		t.Errorf("at the end %d of %d bytes were taken", last, len(list))
	}
}

func TestShow(t *testing.T) {
	for _, c := range [][3]string{
		{"token", "abcdefghijkl", "abcd…kl"}, {"token", "short", "•••••"}, {"user", "kim", "kim"},
		{"user", strings.Repeat("x", 100), strings.Repeat("x", 80) + "…"}, {"user", "a\x00\xffb", "a\uFFFD\uFFFDb"},
	} {
		if got := Show(c[0], c[1]); got != c[2] {
			t.Errorf("Show(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// What is written is read back as it was, whatever the cells hold.
func TestWriterAndReader(t *testing.T) {
	rows := [][]string{
		{"abc", "ios", "kim", "a|b", "true", ""},
		{"=1+1", "web", "@kim", "", "false", "+x"},
		{"'=1", "web", "''-", "", "", "'x"},
		{"q\"uo,te;", "android", "two\r\nlines\n", "", "", "tab\tin"},
		{"-", "ios", "\tx", "", "", "\r"},
	}
	var b strings.Builder
	w := NewWriter(&b, Columns)
	for _, r := range rows {
		w.Write(r)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		for cell := range strings.SplitSeq(line, ",") {
			if cell = strings.TrimPrefix(cell, `"`); cell != "" && strings.IndexByte(formula, cell[0]) >= 0 {
				t.Errorf("a spreadsheet takes %q for a formula", cell)
			}
		}
	}
	x, err := NewReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range rows {
		got, err := x.Next()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range got.Cells {
			if c != want[i] {
				t.Errorf("%q came back as %q", want[i], c)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, c := range corpus {
		if len(c.file) < 4096 {
			f.Add(c.file)
		}
	}
	f.Fuzz(func(t *testing.T, list string) {
		x, err := NewReader(strings.NewReader(list))
		number := int64(0)
		for err == nil {
			var r Row
			if r, err = x.Next(); err != nil {
				break
			}
			if r.Number <= number {
				t.Fatalf("row %d comes after row %d", r.Number, number)
			}
			number = r.Number
			again(t, r.Cells)
		}
		var format *FormatError
		if !errors.Is(err, io.EOF) && !errors.As(err, &format) {
			t.Fatalf("it ended with %v", err)
		}
	})
}

// again writes cells and reads them back.
func again(t *testing.T, cells []string) {
	t.Helper()
	var b strings.Builder
	w := NewWriter(&b, Columns)
	w.Write(append([]string{"x"}, cells...))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	x, err := NewReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Next()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cells {
		if got := r.Cells[i+1]; got != c {
			t.Fatalf("%q came back as %q", c, got)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	var list strings.Builder
	list.WriteString(full)
	for i := range 100_000 {
		fmt.Fprintf(&list, "%064d,android,user-%d,\"news|sport\",true,installation-%d\n", i, i, i)
	}
	b.SetBytes(int64(list.Len()))
	for b.Loop() {
		x, err := NewReader(strings.NewReader(list.String()))
		for err == nil {
			_, err = x.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
