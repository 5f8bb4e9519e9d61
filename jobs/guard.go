package jobs

import (
	"fmt"
	"sync"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// suspects is how many devices in a row must be refused with 403 until the
// refusal is taken for one of our credentials.
const suspects = 5

// suspectWait is how long a 403 waits for the answer of another device before it
// is taken for a refusal of its own.
const suspectWait = time.Second

// verdict is a vendor's answer to one claim.
type verdict struct {
	claim    db.Claim
	result   push.Result
	started  time.Time
	took     time.Duration
	class    class
	probe    bool // the call tried whether the vendor is back
	task     *taskSpan
	recorded func()
}

// guard reads the answers in the order in which they come and finds those that
// speak of us and not of a device: it pauses the vendor, and nobody is charged.
// A 403 alone is held back until it is clear whether it is one of a row. Another
// answer ends the row only for calls that were begun before its own, and shows
// that they were refused for themselves only if its own was begun after they had
// been answered: of two calls at once nobody knows which the vendor judged first.
type guard struct {
	pause  func(reason, detail string)
	record func(verdict)

	mu      sync.Mutex
	held    []suspect
	timer   *time.Timer
	refused time.Time // when the last answer came that refused our credentials; zero: they are not refused
	paused  time.Time // when the vendor was last paused for it, or is being so
}

// suspect is a 403 that is held back.
type suspect struct {
	verdict
	inRow bool // no later call has had another answer
}

// answered is when the answer was there.
func (v verdict) answered() time.Time { return v.started.Add(v.took) }

// judge takes one answer. Sooner or later it is recorded.
func (g *guard) judge(v verdict) {
	g.mu.Lock()
	ready, why := g.sort(v)
	// Calls that were begun before the pause ask for no other; one begun after it
	// shows that somebody let the vendor go on, and that all is as before.
	if why != "" && v.started.After(g.paused) {
		g.paused = time.Now()
		g.mu.Unlock()
		g.pause(reasonOf(v.result), why)
		g.mu.Lock()
		g.paused = time.Now()
	}
	g.mu.Unlock()
	for _, v := range ready {
		g.record(v)
	}
}

// sort says which verdicts can be recorded now, and why the vendor has to be
// paused, if it has to be and is not. The mutex is held.
func (g *guard) sort(v verdict) (ready []verdict, pause string) {
	switch r := v.result; {
	case r.Outcome == push.Suspect && !g.refused.IsZero():
		g.refused = later(g.refused, v.answered())
		return []verdict{refusedOurs(v)}, "devices are still refused with 403: " + r.Message
	case r.Outcome == push.Suspect:
		if g.holds(v.claim.DeviceID) {
			return []verdict{v}, ""
		}
		g.held = append(g.held, suspect{verdict: v, inRow: true})
		if g.row() < suspects {
			g.rearm()
			return nil, ""
		}
		return g.refuse(v), fmt.Sprintf("%d devices in a row were refused with 403: %s", suspects, r.Message)
	case r.Outcome == push.Settings:
		return append(g.refuse(v), v), settingsWords(r)
	case r.Status == 0: // nobody answered: it says nothing about us
		return []verdict{v}, ""
	}
	if v.started.After(g.refused) {
		g.refused = time.Time{}
	}
	return append(g.cleared(v.started), v), ""
}

// reasonOf says why a vendor is paused for an answer that speaks of our settings.
func reasonOf(r push.Result) string {
	if r.Code == codeNotConfigured {
		return "not_configured"
	}
	return "credentials_refused"
}

func settingsWords(r push.Result) string {
	if r.Status == 0 {
		return r.Message
	}
	return fmt.Sprintf("the vendor answered %d: %s", r.Status, r.Message)
}

// refuse takes what is held for refusals of our credentials, v being the last.
func (g *guard) refuse(v verdict) (ready []verdict) {
	g.refused = later(g.refused, v.answered())
	for _, h := range g.take() {
		g.refused = later(g.refused, h.answered())
		ready = append(ready, refusedOurs(h))
	}
	return ready
}

// cleared ends the row for the calls that were begun before the time began, and
// lets those go as they are that were answered before it.
func (g *guard) cleared(began time.Time) (ready []verdict) {
	kept := g.held[:0]
	for _, h := range g.held {
		h.inRow = h.inRow && h.started.After(began)
		if h.answered().Before(began) {
			ready = append(ready, h.verdict)
		} else {
			kept = append(kept, h)
		}
	}
	g.held = kept
	return ready
}

// row is how many of those that are held make up the row.
func (g *guard) row() (n int) {
	for _, h := range g.held {
		if h.inRow {
			n++
		}
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (g *guard) holds(device int64) bool {
	for _, h := range g.held {
		if h.claim.DeviceID == device {
			return true
		}
	}
	return false
}

// take empties what is held.
func (g *guard) take() (held []verdict) {
	for _, h := range g.held {
		held = append(held, h.verdict)
	}
	g.held = nil
	if g.timer != nil {
		g.timer.Stop()
	}
	return held
}

// rearm lets what is held go after a while in which no other answer came.
func (g *guard) rearm() {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(suspectWait, g.flush)
}

// flush records what is held as it is.
func (g *guard) flush() {
	g.mu.Lock()
	held := g.take()
	g.mu.Unlock()
	for _, v := range held {
		g.record(v)
	}
}

// refusedOurs makes of a device's refusal one of our credentials.
func refusedOurs(v verdict) verdict {
	v.result.Outcome, v.result.Reason = push.Settings, push.CredentialsRefused
	return v
}
