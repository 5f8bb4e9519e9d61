package views

import (
	"math"
	"strconv"

	"bongsu/views/ui"
)

// Pace is how a notice went over time, in steps of one width.
type Pace struct {
	From, To string // the first call, and now or the end
	Width    int64  // of a step, in seconds
	Steps    []PaceStep
	Unkept   bool // it was sent before this was kept
}

// PaceStep is what came in within one step.
type PaceStep struct {
	At                 string // its beginning
	Sent, Failed, Back int64  // Back were put back by a replay
}

// whole is all that came in; a sum that is too large for a number is the largest.
func (s PaceStep) whole() int64 {
	if s.Sent > math.MaxInt64-s.Failed {
		return math.MaxInt64
	}
	return s.Sent + s.Failed
}

func (p Pace) most() (n int64) {
	for _, s := range p.Steps {
		n = max(n, s.whole())
	}
	return n
}

// kept leaves out the steps in which nothing came in.
func (p Pace) kept() (out []PaceStep) {
	for _, s := range p.Steps {
		if s.Sent != 0 || s.Failed != 0 || s.Back != 0 {
			out = append(out, s)
		}
	}
	return out
}

// The chart's size in its own units; it is stretched to the width there is.
const (
	paceWide = 600
	paceHigh = 96
	paceBar  = 40 // the widest bar
	paceLow  = 2  // the lowest that can be seen
)

// paceRect is one part of a bar.
type paceRect struct {
	X, Y, Width, Height string
	Failed              bool
}

// bars are the parts of all bars: failed ones stand on those that were sent.
func (p Pace) bars() (out []paceRect) {
	var most float64 // not most(), which a sum may go beyond
	for _, s := range p.Steps {
		most = max(most, max(float64(s.Sent), 0)+max(float64(s.Failed), 0))
	}
	if most <= 0 {
		return nil
	}
	slot := float64(paceWide) / float64(len(p.Steps))
	wide := min(slot*0.8, paceBar)
	for i, s := range p.Steps {
		x, top := float64(i)*slot+(slot-wide)/2, float64(paceHigh)
		for _, part := range []struct {
			n      int64
			failed bool
		}{{s.Sent, false}, {s.Failed, true}} {
			if part.n <= 0 {
				continue
			}
			high := max(float64(part.n)/most*(paceHigh-2*paceLow), paceLow)
			top -= high
			out = append(out, paceRect{decimal(x), decimal(top), decimal(wide), decimal(high), part.failed})
		}
	}
	return out
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

type paceText struct {
	Heading, Empty, Unkept, Table, Caption, From, Sent, Failed, Back string
}

func paceWords() paceText {
	return paceText{
		Heading: "Sent over time", Empty: "Nothing has been sent.", Unkept: "It was sent before this was kept.",
		Table: "The same as a table", Caption: "What came in, step by step; steps in which nothing did are left out",
		From: "From", Sent: "Accepted by the vendor", Failed: "Failed", Back: "Put back by a replay",
	}
}

// paceSays is the chart in one sentence.
func paceSays(p Pace) string {
	var sent, failed int64
	for _, s := range p.Steps {
		sent, failed = sent+s.Sent, failed+s.Failed
	}
	return "Bar chart of " + ui.Num(sent) + " accepted by the vendor and " + ui.Num(failed) + " failed, in " +
		ui.Of(int64(len(p.Steps)), "step", "steps") + " of " + ui.Span(p.Width) + " from " + ui.UTC(p.From) +
		", with at most " + ui.Num(p.most()) + " in one."
}

func paceMost(p Pace) string { return "at most " + ui.Num(p.most()) + " in " + ui.Span(p.Width) }
