package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	barWidth  = 30
	lineEvery = 2 * time.Second // between lines where there is no terminal
)

// A progress shows how far a notice is: a bar that stays in its line on a
// terminal, plain lines elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time
	last     time.Time // when a line was written
	note     string    // what is going on besides
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, terminal: isTerminal(out)}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show shows n, where it is time. of is how many devices there will be, and
// note is shown until another comes.
func (p *progress) show(n apiNotice, of int, note string) {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	ended := n.State == "finished"
	if !p.terminal && time.Since(p.last) < lineEvery && note == p.note && !ended {
		return
	}
	p.last, p.note = time.Now(), note
	line := progressLine(n.Counts, of, time.Since(p.began), note)
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	if ended {
		fmt.Fprintln(p.out)
	}
}

func progressLine(c apiCounts, of int, took time.Duration, note string) string {
	final := c.Sent + c.Failed + c.Skipped
	full := barWidth * final / of
	return strings.TrimRight(fmt.Sprintf("[%s%s] %3d %%  %s sent  %d retrying  %d failed  %.0f s  %s",
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*final/of,
		thousands(c.Sent), c.Retrying, c.Failed, took.Seconds(), note), " ")
}

// thousands writes n with commas: 10,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
