package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// ends are the ends of tests by their names.
type ends struct {
	of     map[string]string // pass, fail or skip
	failed bool
}

// event is a line of go test -json, as far as it matters here.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// follow reads the events of go test, prints each end, and all that a test or a
// package has said where it failed.
func follow(events io.Reader, out io.Writer) (*ends, error) {
	e := &ends{of: map[string]string{}}
	said := map[string]*strings.Builder{}
	for d := json.NewDecoder(events); ; {
		var ev event
		switch err := d.Decode(&ev); {
		case err == io.EOF:
			return e, nil
		case err != nil:
			return e, fmt.Errorf("what go test says: %w", err)
		}
		of := ev.Package + " " + ev.Test
		switch ev.Action {
		case "output", "build-output":
			if said[of] == nil {
				said[of] = &strings.Builder{}
			}
			said[of].WriteString(ev.Output)
		case "pass", "fail", "skip":
			e.end(ev, said[of], out)
			delete(said, of)
		case "build-fail":
			e.failed = true
			fmt.Fprint(out, said[of])
		}
	}
}

// end takes the end of a test, or of a package where Test is empty.
func (e *ends) end(ev event, said *strings.Builder, out io.Writer) {
	if ev.Test != "" && !strings.Contains(ev.Test, "/") {
		e.of[ev.Test] = worse(e.of[ev.Test], ev.Action)
	}
	if ev.Test != "" {
		fmt.Fprintf(out, "%s  %s  %.1f s\n", ev.Action, ev.Test, ev.Elapsed)
	}
	if ev.Action == "skip" && ev.Test != "" || ev.Action == "fail" {
		e.failed = true
		if said != nil {
			fmt.Fprint(out, said.String())
		}
	}
}

// worse gives the worse of two ends: one name may stand in several packages.
func worse(a, b string) string {
	if a == "fail" || a == "skip" {
		return a
	}
	return b
}
