package devicelist_test

import (
	"errors"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"bongsu/db/devicelist"
)

// roomAbove is how far the heap may grow while any file is read.
const roomAbove = 16 << 20

// watched notes the highest heap at each read from what it passes on.
type watched struct {
	r    io.Reader
	peak uint64
}

func (w *watched) Read(p []byte) (int, error) {
	w.peak = max(w.peak, heap())
	return w.r.Read(p)
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// again gives text for size bytes, without holding them.
func again(text string, size int64) io.Reader {
	return io.LimitReader(&repeated{text: text}, size)
}

type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], r.text[r.at:])
		n += m
		r.at = (r.at + m) % len(r.text)
	}
	return n, nil
}

// bomb is gzip of about mib MiB of text, in members of 8 MiB.
func bomb(head, text string, mib int) io.Reader {
	member := gz(strings.Repeat(text, 8<<20/len(text)))
	return io.MultiReader(strings.NewReader(gz(head)), again(member, int64(len(member)*mib/8)))
}

func TestMemory(t *testing.T) {
	const size = 64 << 20
	head := "token,platform,note\n"
	wide := "a-1,web" + strings.Repeat(",", devicelist.MaxColumns-2) + "\n"
	long := "a-1,web," + strings.Repeat("x", devicelist.MaxCell-10) + "\n"
	for _, c := range []struct {
		name string
		file io.Reader
		code string
	}{
		{"a quote that is never closed", io.MultiReader(strings.NewReader(head+"a-1,web,\""), again("x\n", size)), "quote_not_closed"},
		{"the same in the header", io.MultiReader(strings.NewReader("token,\"platform"), again("x\n", size)), "quote_not_closed"},
		{"the same in gzip", bomb(head+"a-1,web,\"", "x\n", 64), "quote_not_closed"},
		{"doubled quotes without end", io.MultiReader(strings.NewReader(head+"a-1,web,\""), again(`""`, size)), "quote_not_closed"},
		{"a header without end", again("token,platform ", size), "wide_row"},
		{"one cell without end", io.MultiReader(strings.NewReader(head), again("x", size)), "long_cell"},
		{"one row without end", io.MultiReader(strings.NewReader(head), again(long[:60_000]+",", size)), "long_row"},
		{"delimiters without end", io.MultiReader(strings.NewReader(head), again(",", size)), "wide_row"},
		{"rows of very many cells", io.MultiReader(strings.NewReader(head), again(wide, size/8)), ""},
		{"rows of one long cell", io.MultiReader(strings.NewReader(head), again(long, size)), ""},
		{"blank rows", io.MultiReader(strings.NewReader(head), again("\r\n", size)), "too_many_blank"},
		{"blank rows above the header", again("\n", size), "no_header"},
		{"long blank rows above the header", again(strings.Repeat(" ", 60_000)+"\n", size), "no_header"},
		{"a bomb of long cells", bomb(head, long, 600), "too_large"},
		{"a bomb of rows", bomb(head, "a,web\n", 64), "too_many_rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtime.GC()
			start := heap()
			w := &watched{r: c.file}
			if code := drain(t, w); code != c.code {
				t.Errorf("ended with %q, want %q", code, c.code)
			}
			if w.peak > start+roomAbove {
				t.Errorf("the heap grew by %d KiB", (w.peak-start)>>10)
			}
		})
	}
}

// drain reads to the end and gives the code of the fault, "" where there is none.
func drain(t *testing.T, file io.Reader) string {
	t.Helper()
	r, err := devicelist.NewReader(file)
	for err == nil {
		_, err = r.Next()
	}
	var fault *devicelist.FormatError
	switch {
	case errors.Is(err, io.EOF):
		return ""
	case errors.As(err, &fault):
		return fault.Code
	default:
		t.Fatal(err)
		return ""
	}
}
