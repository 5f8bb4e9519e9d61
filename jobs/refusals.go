package jobs

import (
	"fmt"
	"sync"
	"time"

	"bongsu/jobs/push"
)

// The window of the guard against mass refusals, in first attempts, and the share
// of 410s in it above which devices are kept.
const (
	refusalWindow = 1000
	goneShare     = 0.2
	guardedLeast  = 50 // first attempts, from which on their share says something
)

// refusals finds that the vendor refuses so many devices for good that a wrong
// setting of ours is likelier: above a fifth of 410s no device is disabled, and
// above the set share of refusals calls are paused, both until an admin has
// looked. Answers that a wrong setting would bring too (push.Result.Guarded) disable
// nobody before they are known to be few; above a fifth of them calls are paused. Notices up to the one that an admin agreed to are left alone.
type refusals struct {
	share float64 // 0: there is no guard
	pause func(detail string) bool
	keep  func(detail string) bool
	now   func() time.Time

	mu      sync.Mutex
	window  [refusalWindow]refusal
	n       int // answers since the window was emptied
	refused int // of them in the window
	gone    int
	guarded int
	kept    bool // 410s disable nobody
	told    bool // the ledger knows that, and sees to it from then on
	telling bool
	tell    time.Time // the ledger is not told before
	paused  bool      // calls are stopped until an admin has looked
	asking  bool
	next    time.Time // the ledger is not asked before
	called  bool      // as the ledger said last
	agreed  int64
	version int64 // of the vendor's row when it was seen last
}

// refusal is what an answer was.
type refusal struct{ refused, gone, guarded bool }

// saw takes an answer. keep says that the device is not to be disabled for it,
// whatever the ledger says: it has not been told yet, or could not be.
func (g *refusals) saw(v verdict) (keep bool) {
	if g.share == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.claim.NoticeID <= g.agreed {
		return false
	}
	if v.first() {
		g.push(refusal{refused: permanent(v.result.Outcome), gone: v.result.Outcome == push.Dead, guarded: v.result.Guarded})
	}
	if float64(g.gone) > goneShare*refusalWindow && !g.told && !g.telling && !g.now().Before(g.tell) {
		g.kept, g.telling = true, true
		g.told = g.ask(g.keep, "%d of the last %d first attempts were answered by 410", g.gone, min(g.n, refusalWindow))
		g.telling, g.tell = false, g.now().Add(guardAgain)
	}
	if float64(g.refused) > g.share*refusalWindow && !g.paused && !g.asking && !g.now().Before(g.next) {
		g.asking = true
		g.paused = g.ask(g.pause, "%d of the last %d first attempts were refused for good; the last one: %s",
			g.refused, min(g.n, refusalWindow), wordsOf(v.result))
		g.asking, g.next = false, g.now().Add(guardAgain)
	}
	if g.unsure() && !g.paused && !g.asking && !g.now().Before(g.next) && g.n >= guardedLeast {
		g.asking = true
		g.paused = g.ask(g.pause, "%d of the last %d first attempts were refused in a way that a wrong setting of ours brings; the last one: %s",
			g.guarded, min(g.n, refusalWindow), wordsOf(v.result))
		g.asking, g.next = false, g.now().Add(guardAgain)
	}
	return g.kept && !g.told || v.result.Guarded && g.unsure()
}

// unsure: too few answers are known, or too many of them may be for a setting of ours.
func (g *refusals) unsure() bool {
	return g.n < guardedLeast || float64(g.guarded) > goneShare*float64(min(g.n, refusalWindow))
}

// ask asks the ledger without the mutex, which is held before and after.
func (g *refusals) ask(ledger func(string) bool, detail string, args ...any) bool {
	g.mu.Unlock()
	defer g.mu.Lock()
	return ledger(fmt.Sprintf(detail, args...))
}

func permanent(o push.Outcome) bool {
	return o == push.Permanent || o == push.Dead || o == push.Suspect
}

// push puts an answer into the window, in the place of the oldest.
func (g *refusals) push(r refusal) {
	i := g.n % refusalWindow
	if old := g.window[i]; g.n >= refusalWindow {
		g.refused -= count(old.refused)
		g.gone -= count(old.gone)
		g.guarded -= count(old.guarded)
	}
	g.refused += count(r.refused)
	g.gone += count(r.gone)
	g.guarded += count(r.guarded)
	g.window[i] = r
	g.n++
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// learn takes what the ledger says: whether the vendor is called, whether devices
// are kept, up to which notice an admin agreed. When an admin has let calls go on,
// or has agreed, the window begins anew.
func (g *refusals) learn(version int64, called, kept bool, agreed int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if version == g.version {
		return
	}
	if agreed != g.agreed || called && (!g.called || g.paused) {
		g.n, g.refused, g.gone, g.guarded, g.paused = 0, 0, 0, 0, false
	}
	g.version, g.called, g.kept, g.told, g.agreed = version, called, kept, kept, agreed
}
