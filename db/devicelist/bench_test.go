package devicelist_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"bongsu/db/devicelist"
)

// BenchmarkReader reads 100,000 rows of 150 bytes: a million has to take well
// under 3 s on one core.
func BenchmarkReader(b *testing.B) {
	const rows = 100_000
	var file bytes.Buffer
	file.WriteString("token,platform,user,tags,consent,installation\n")
	for i := range rows {
		fmt.Fprintf(&file, "%0100d,android,user-%07d,news|seoul,true,install-%012d\n", i, i, i)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if n := countRows(b, bytes.NewReader(file.Bytes())); n != rows {
			b.Fatalf("%d rows, want %d", n, rows)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// countRows reads to the end.
func countRows(tb testing.TB, file io.Reader) (n int64) {
	tb.Helper()
	r, err := devicelist.NewReader(file)
	for ; err == nil; n++ {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
	return n - 1
}
