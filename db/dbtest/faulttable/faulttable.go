// Package faulttable gathers what the tests of faults found, over the packages
// that they lie in, and prints it as one table.
package faulttable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// Env names the file that rows are added to; without it they go to the test's log
// alone.
const Env = "BONGSU_TEST_FAULT_TABLE"

// Row is what came of one fault.
type Row struct {
	Fault     string
	Test      string
	Calls     int64         // that reached the vendor
	Sent      int64         // devices that were told
	Twice     int64         // of them twice
	Allowed   int64         // how many may be, since nobody knows the end of their call
	Lost      int64         // devices that should have been told and were not
	Recovered time.Duration // from the end of the fault until it went on; 0: it does not apply
}

// Add adds a row.
func Add(t testing.TB, r Row) {
	t.Helper()
	t.Logf("%s: %d calls, %d sent, %d twice (at most %d), %d lost, going on after %v", r.Fault, r.Calls, r.Sent, r.Twice, r.Allowed, r.Lost, r.Recovered)
	name := os.Getenv(Env)
	if name == "" {
		return
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(raw, '\n')); err != nil { // one write: rows of several processes do not mix
		t.Fatal(err)
	}
}

// Read reads the rows of a file, sorted by test.
func Read(raw []byte) (rows []Row, err error) {
	for line := range bytes.Lines(raw) {
		var r Row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("the table of faults: %w", err)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Test+a.Fault, b.Test+b.Fault) })
	return rows, nil
}

// Print writes rows as a table, with their sums.
func Print(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "fault\tcalls\tsent\ttwice\tat most\tlost\tgoing on after\ttest")
	var sum Row
	for _, r := range rows {
		after := "–"
		if r.Recovered > 0 {
			after = r.Recovered.Round(10 * time.Millisecond).String()
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", r.Fault, r.Calls, r.Sent, r.Twice, r.Allowed, r.Lost, after, r.Test)
		sum.Calls, sum.Sent, sum.Twice, sum.Lost = sum.Calls+r.Calls, sum.Sent+r.Sent, sum.Twice+r.Twice, sum.Lost+r.Lost
	}
	fmt.Fprintf(t, "all %d\t%d\t%d\t%d\t\t%d\t\t\n", len(rows), sum.Calls, sum.Sent, sum.Twice, sum.Lost)
	return t.Flush()
}
