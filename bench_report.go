package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A benchReport is what a benchmark found.
type benchReport struct {
	At      time.Time  `json:"at"`
	Version string     `json:"version"`
	Go      string     `json:"go"`
	CPUs    int        `json:"cpus"`
	Load    string     `json:"load"`  // the machine's load averages before the start
	Quick   bool       `json:"quick"` // small numbers: the values mean nothing
	Where   []string   `json:"where"`
	Rows    []benchRow `json:"rows"`
}

// A benchRow is one line of the table. Numbers that there are none of are null.
type benchRow struct {
	Key      string   `json:"key"`
	What     string   `json:"what"`
	Measured *float64 `json:"measured"`
	Unit     string   `json:"unit"`
	Bound    *float64 `json:"bound"`
	Aim      *float64 `json:"aim"`
	AtMost   bool     `json:"at_most"` // bound and aim are the most that may be, not the least
	Holds    *bool    `json:"holds"`
	AimMet   *bool    `json:"aim_met"`
	Detail   string   `json:"detail,omitempty"`
}

func newBenchReport(o benchOptions) *benchReport {
	r := &benchReport{At: time.Now().UTC(), Version: version(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Quick: o.quick, Load: loadBefore()}
	r.Where = []string{
		"one machine; each of these is a process of its own: PostgreSQL (durable, the product's own settings), Redis " +
			"(append-only file), the vendor stand-in, and the product (serve with both roles, logging as preset)",
		"the bare loop runs in the benchmark's process, with the product's vendor client, against the same stand-in, " +
			"while the product idles; its speed is the mean of one run before and one after the product's",
		"the product's time is from acceptance (by the database's clock) to the last delivery recorded; " +
			"a ratio is the time of the bare loop for the same number of calls through that",
		"memory is the process's peak (VmHWM) while it told the devices, with the pages in it; Redis memory is its own peak (used_memory_peak)",
	}
	return r
}

// loadBefore tells the load averages of the last 1, 5 and 15 minutes: what else
// the machine does makes all values worse.
func loadBefore() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(raw)); err == nil && len(fields) > 3 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}

// add adds a measured value that nothing is demanded of.
func (r *benchReport) add(key, what string, measured float64, unit, detail string, args ...any) {
	r.Rows = append(r.Rows, benchRow{Key: key, What: what, Measured: &measured, Unit: unit, Detail: fmt.Sprintf(detail, args...)})
}

// atLeast and atMost add a value with what must hold and what is aimed at.
func (r *benchReport) atLeast(key, what string, measured float64, unit string, bound, aim float64, detail string, args ...any) {
	r.add(key, what, measured, unit, detail, args...)
	r.demand(bound, aim, measured >= bound, measured >= aim, false)
}

func (r *benchReport) atMost(key, what string, measured float64, unit string, bound, aim float64, detail string, args ...any) {
	r.add(key, what, measured, unit, detail, args...)
	r.demand(bound, aim, measured <= bound, measured <= aim, true)
}

func (r *benchReport) demand(bound, aim float64, holds, met, most bool) {
	row := &r.Rows[len(r.Rows)-1]
	row.Bound, row.Aim, row.Holds, row.AimMet, row.AtMost = &bound, &aim, &holds, &met, most
}

// absent adds a row that was not measured, and says why.
func (r *benchReport) absent(key, what, why string) {
	r.Rows = append(r.Rows, benchRow{Key: key, What: what, Detail: why})
}

// print writes the table for people.
func (r *benchReport) print(w io.Writer) error {
	fmt.Fprintf(w, "bongsu %s, %s, %d CPUs, load before it %s, %s\n", r.Version, r.Go, r.CPUs, r.Load, r.At.Format(time.RFC3339))
	for _, line := range r.Where {
		fmt.Fprintf(w, "- %s\n", line)
	}
	if r.Quick {
		fmt.Fprintln(w, "- a quick run: it shows that the benchmark works, and its values mean nothing")
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmeasured\tmust be\taim\tholds\tdetail")
	for _, x := range r.Rows {
		sign := "≥ "
		if x.AtMost {
			sign = "≤ "
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", x.What, number("", x.Measured, x.Unit),
			number(sign, x.Bound, x.Unit), number(sign, x.Aim, x.Unit), verdictWords(x), x.Detail)
	}
	return t.Flush()
}

// number writes three digits or more, and a dash for none.
func number(sign string, v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	text := strconv.FormatFloat(*v, 'f', 3, 64)
	switch {
	case *v >= 1000:
		text = strconv.FormatFloat(*v, 'f', 0, 64)
	case *v >= 10:
		text = strconv.FormatFloat(*v, 'f', 1, 64)
	}
	if unit != "" {
		unit = " " + unit
	}
	return sign + text + unit
}

func verdictWords(x benchRow) string {
	switch {
	case x.Holds == nil:
		return "–"
	case !*x.Holds:
		return "NO"
	case *x.AimMet:
		return "yes, and the aim"
	}
	return "yes"
}

// write writes the report to file as JSON.
func (r *benchReport) write(file string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// check fails where a row does not hold, naming each.
func (r *benchReport) check() error {
	var problems []error
	for _, x := range r.Rows {
		if x.Holds != nil && !*x.Holds {
			problems = append(problems, fmt.Errorf("%s: %s does not hold", x.Key, x.What))
		}
	}
	return errors.Join(problems...)
}
