package devicelist_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bongsu/db/devicelist"
)

// FuzzReader holds what is true of every input: reading ends, in order and
// within the limits, and what was read can be written and read again.
func FuzzReader(f *testing.F) {
	for _, o := range append(corpus(), corpusOdd()...) {
		if len(o.file) < 10_000 {
			f.Add([]byte(o.file))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := devicelist.NewReader(bytes.NewReader(file))
		if err != nil {
			mustBeFault(t, err)
			return
		}
		rows, err := all(r)
		if !errors.Is(err, io.EOF) {
			mustBeFault(t, err)
		}
		if _, again := r.Next(); !errors.Is(again, err) {
			t.Fatalf("after %v came %v", err, again)
		}
		if n := r.Offset(); n > int64(len(file)) || errors.Is(err, io.EOF) && n != int64(len(file)) {
			t.Fatalf("took %d bytes of %d", n, len(file))
		}
		last := int64(1)
		for _, row := range rows {
			if row.Number <= last {
				t.Fatalf("row %d after row %d", row.Number, last)
			}
			last = row.Number
			checkRow(t, row)
		}
		checkRoundTrip(t, r.Head(), rows)
	})
}

func all(r *devicelist.Reader) (rows []devicelist.Row, err error) {
	for {
		row, err := r.Next()
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
}

func mustBeFault(t *testing.T, err error) {
	t.Helper()
	var fault *devicelist.FormatError
	if !errors.As(err, &fault) || fault.Code == "" || fault.Message == "" || !utf8.ValidString(fault.Message) {
		t.Fatalf("no fault of a file: %#v", err)
	}
}

// checkRow holds the limits, and that a good row holds text alone.
func checkRow(t *testing.T, row devicelist.Row) {
	t.Helper()
	size := 0
	for _, c := range row.Cells {
		size += len(c)
		if len(c) > devicelist.MaxCell || !utf8.ValidString(c) {
			t.Fatalf("row %d: a cell of %d bytes: %.80q", row.Number, len(c), c)
		}
	}
	if size > devicelist.MaxRecord || len(row.Cells) > devicelist.MaxColumns {
		t.Fatalf("row %d: %d cells of %d bytes", row.Number, len(row.Cells), size)
	}
	for _, p := range row.Problems {
		if strings.ContainsFunc(p.Value+p.Message, unicode.IsControl) || !slices.Contains(devicelist.Reasons(), p.Reason) {
			t.Fatalf("row %d: %+v", row.Number, p)
		}
	}
	if len(row.Problems) == 0 && strings.ContainsFunc(flat(row)+strings.Join(*orNone(row.Tags), ""), unicode.IsControl) {
		t.Fatalf("row %d went in: %q", row.Number, flat(row))
	}
}

func orNone(tags *[]string) *[]string {
	if tags == nil {
		return &[]string{}
	}
	return tags
}

// checkRoundTrip writes the rows and reads them again: the cells are the same,
// and what a good row says.
func checkRoundTrip(t *testing.T, head devicelist.Head, rows []devicelist.Row) {
	t.Helper()
	var file bytes.Buffer
	w := devicelist.NewWriter(&file, head.Columns)
	for _, row := range rows {
		if err := w.Write(row.Cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := devicelist.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%q", err, file.Bytes())
	}
	if diff := cmp.Diff(head.Columns, r.Head().Columns); diff != "" {
		t.Fatal(diff)
	}
	back, err := all(r)
	if !errors.Is(err, io.EOF) || len(back) != len(rows) {
		t.Fatalf("%d rows became %d: %v\n%q", len(rows), len(back), err, file.Bytes())
	}
	for i, row := range rows {
		want := row.Cells
		for len(want) < len(head.Columns) {
			want = append(want, "")
		}
		if !slices.Equal(want, back[i].Cells) {
			t.Fatalf("cells %q became %q", want, back[i].Cells)
		}
		row.Number, back[i].Number = 0, 0
		if len(row.Problems) == 0 && (flat(row) != flat(back[i]) || len(back[i].Problems) > 0) {
			t.Fatalf("%s became %s", flat(row), flat(back[i]))
		}
	}
}
