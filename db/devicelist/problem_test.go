package devicelist_test

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"bongsu/db/devicelist"
)

func TestProblemsTellWhatToDo(t *testing.T) {
	token := strings.Repeat("abcdefgh", 4)
	_, rows := readAll(t, "token;platform;user;consent;note\n"+
		token+"\x07zzzz;web;;;\n"+
		"a-1;web;x\x00\ty"+strings.Repeat("z", 200)+";;\n"+
		"a-1;web;;vielleicht;\n"+
		"a-1;web;;;\x00secret\n"+
		"a-1;web;;;a;b\n"+
		"\"a-1\"x;web\n"+
		"a\"1;web\n")
	var got []devicelist.Problem
	for _, row := range rows {
		got = append(got, row.Problems...)
	}
	want := []devicelist.Problem{
		{Column: "token", Value: "abcd…zzzz", Reason: devicelist.ControlCharacter, Message: "holds a line break or another control character: take it out"},
		{Column: "user", Value: "x␀␉y" + strings.Repeat("z", 95) + "…", Reason: devicelist.ZeroByte, Message: "holds a zero byte in column C: take it out"},
		{Column: "consent", Value: "vielleicht", Reason: devicelist.BadConsent, Message: "must be true or false (or yes, no, y, n, 1, 0), or empty"},
		{Reason: devicelist.ZeroByte, Message: "holds a zero byte in column E: take it out"},
		{Reason: devicelist.TooManyCells, Message: "has 6 cells, but the header names 5: put quotes around cells that hold a semicolon"},
		{Column: "token", Reason: devicelist.BadQuotes, Message: "goes on after the closing quote in column A: write a quote that belongs to the text twice"},
		{Column: "token", Value: "…", Reason: devicelist.BadQuotes, Message: "holds a quote: put the whole cell in quotes and write the quote twice"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMask(t *testing.T) {
	for token, want := range map[string]string{
		"": "", "12345": "…", "123456": "1…6", "김김김김김봉": "김…봉",
		"abcdefghijklmnopqrstuvwx": "abcd…uvwx", strings.Repeat("x", 5000): "xxxx…xxxx",
	} {
		if got := devicelist.Show(devicelist.Token, token); got != want {
			t.Errorf("Show(token, %q) = %q, want %q", token, got, want)
		}
		if got := devicelist.Show(devicelist.P256dh, token); got != want {
			t.Errorf("Show(p256dh, %q) = %q, want %q", token, got, want)
		}
	}
	for secret, want := range map[string]string{"": "", "abcdefghijklmnopqrstuv": "…"} {
		if got := devicelist.Show(devicelist.Auth, secret); got != want {
			t.Errorf("Show(auth, %q) = %q, want %q", secret, got, want)
		}
	}
}

// TestInputFails tells a reader that failed from a file at fault, wherever it
// fails.
func TestInputFails(t *testing.T) {
	cut := errors.New("the line is down")
	packed := gz(plain + strings.Repeat("a-3,web\n", 3))
	for name, file := range map[string]string{"nothing": "", "text": plain, "the middle of gzip": packed[:len(packed)-6], "the head of gzip": packed[:5], "UTF-16": "t\x00o\x00k\x00e"} {
		for _, err := range []error{cut, io.ErrUnexpectedEOF} {
			r, got := devicelist.NewReader(io.MultiReader(strings.NewReader(file), iotest.ErrReader(err)))
			for got == nil {
				_, got = r.Next()
			}
			var fault *devicelist.FormatError
			if !errors.Is(got, err) || errors.As(got, &fault) {
				t.Errorf("%s: got %v, want %v", name, got, err)
			}
		}
	}
	if _, err := devicelist.NewReader(stuck{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestOffset(t *testing.T) {
	packed := gz("token,platform\n" + strings.Repeat("a-1,web\n", 200_000))
	r, err := devicelist.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if at := r.Offset(); at == 0 || at > int64(len(packed)) {
		t.Errorf("after the header: %d of %d", at, len(packed))
	}
	if n, err := all(r); len(n) != 200_000 || !errors.Is(err, io.EOF) || r.Offset() != int64(len(packed)) {
		t.Errorf("%d rows, %d of %d bytes, %v", len(n), r.Offset(), len(packed), err)
	}
}

func TestExactLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		file io.Reader
		code string
	}{
		{"as many rows as may be", io.MultiReader(strings.NewReader("token,platform\n"), again("a,web\n", 6*devicelist.MaxRows)), ""},
		{"one more", io.MultiReader(strings.NewReader("token,platform\n"), again("a,web\n", 6*devicelist.MaxRows+6)), "too_many_rows"},
		{"as many bytes as may be", limitFile(0), ""},
		{"one more byte", limitFile(1), "too_large"},
	} {
		if code := drain(t, c.file); code != c.code {
			t.Errorf("%s: %q, want %q", c.name, code, c.code)
		}
	}
}

// limitFile is a list of devicelist.MaxBytes and some more.
func limitFile(more int64) io.Reader {
	head := "token,platform,note\n"
	row := "a,web," + strings.Repeat("x", 60_000) + "\n"
	return io.MultiReader(strings.NewReader(head), again(row, devicelist.MaxBytes-int64(len(head))+more))
}

// TestPairsAcrossReads has UTF-16 pairs at every place, so that reads end within
// some of them.
func TestPairsAcrossReads(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for shift := range 4 {
			user := strings.Repeat("x", shift) + strings.Repeat("😀", 10_000)
			file := utf16Of(order, true, "token,platform,user\na-1,web,"+user+"\n")
			_, rows := readAll(t, file)
			if len(rows) != 1 || *rows[0].User != user {
				t.Errorf("%v, shifted by %d: %d rows", order, shift, len(rows))
			}
		}
	}
}
