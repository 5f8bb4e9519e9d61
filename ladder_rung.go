package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"bongsu/web"
)

// A limit is one time limit with its name and the variable that sets it, which
// is empty where it is fixed.
type limit struct {
	name     string
	value    time.Duration
	variable string
}

// A rung says that a limit must be longer than others together.
type rung struct {
	outer limit
	inner []limit
}

// check fails where an outer limit is not longer than its inner ones together.
// Each line of the error names the pair, the values and what to change.
func (l Limits) check() error {
	var problems []error
	for _, r := range l.ladder() {
		if !r.ok() {
			problems = append(problems, fmt.Errorf("time limits: %s (%s) must be longer than %s (%s): %s",
				r.outer.name, short(r.outer.value), r.innerNames(), short(r.innerSum()), r.remedy()))
		}
	}
	return errors.Join(problems...)
}

func (r rung) ok() bool { return r.outer.value > r.innerSum() }

func (r rung) innerSum() (sum time.Duration) {
	for _, l := range r.inner {
		sum += l.value
	}
	return sum
}

func (r rung) innerNames() string {
	var names []string
	for _, l := range r.inner {
		names = append(names, l.name)
	}
	return strings.Join(names, " + ")
}

// remedy says which variable to raise or lower.
func (r rung) remedy() string {
	var ways []string
	if r.outer.variable != "" {
		ways = append(ways, "raise "+r.outer.variable)
	}
	for _, l := range r.inner {
		if way := "lower " + l.variable; l.variable != "" && (len(ways) == 0 || ways[len(ways)-1] != way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return "all are fixed in the program"
	}
	return strings.Join(ways, " or ")
}

// short writes a duration without the zeros that Go puts at its end: 2m, not 2m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// steps returns the ladder as the Status page, bongsu check and ARCHITECTURE
// print it.
func (l Limits) steps() []web.LadderStep {
	var steps []web.LadderStep
	for _, r := range l.ladder() {
		steps = append(steps, web.LadderStep{
			Name:     r.outer.name,
			Value:    short(r.outer.value),
			Longer:   r.innerNames() + " (" + short(r.innerSum()) + ")",
			Variable: r.outer.variable,
			OK:       r.ok(),
		})
	}
	return steps
}
