package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A demoTable is what the run showed, row by row.
type demoTable struct{ rows []demoRow }

type demoRow struct {
	what, measured, limit string
	ok                    bool
}

// add adds a row: what was looked at, what was measured, what must hold, and
// whether it does.
func (t *demoTable) add(what string, ok bool, limit, measured string, args ...any) {
	t.rows = append(t.rows, demoRow{what, fmt.Sprintf(measured, args...), limit, ok})
}

func (t *demoTable) print(w io.Writer) {
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "\tmeasured\tmust hold\t")
	for _, r := range t.rows {
		verdict := "ok"
		if !r.ok {
			verdict = "FAILED"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.what, r.measured, r.limit, verdict)
	}
	_ = tw.Flush() // a terminal that is gone hears nothing either way
}

// err says how many rows do not hold.
func (t *demoTable) err() error {
	failed := 0
	for _, r := range t.rows {
		if !r.ok {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d rows do not hold", failed, len(t.rows))
	}
	return nil
}
