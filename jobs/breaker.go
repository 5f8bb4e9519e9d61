package jobs

import (
	"fmt"
	"sync"
	"time"

	"bongsu/jobs/push"
)

// The breaker's window: so many first attempts, and how many of them have to have
// failed. It is judged on first attempts alone, since retries are of those that
// have failed already.
const (
	breakerWindow = 40
	breakerFailed = 36
)

// guardAgain is how long a guard lets the ledger alone after it asked.
const guardAgain = 250 * time.Millisecond

// breaker finds an outage of the vendor: nearly all of the last first attempts
// failed, and many deliveries wait. The ledger knows how many, and it is the
// ledger that stops the calls of all processes. Failures of calls that were under
// way when the breaker opened are not charged.
type breaker struct {
	trip func(detail string) (open bool) // asks the ledger; nil: there is no breaker
	now  func() time.Time

	mu     sync.Mutex
	failed [breakerWindow]bool
	n      int // answers since it opened last
	bad    int // failed ones in the window
	asking bool
	next   time.Time // the ledger is not asked before
	opened time.Time
}

// saw takes an answer. free says that a failure is not to be charged.
func (b *breaker) saw(v verdict) (free bool) {
	if b.trip == nil {
		return false
	}
	failed := v.result.Outcome == push.Transient
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.started.Before(b.opened) {
		return failed
	}
	if !v.first() {
		return false
	}
	b.push(failed)
	now := b.now()
	if !failed || b.n < breakerWindow || b.bad < breakerFailed || b.asking || now.Before(b.next) {
		return false
	}
	b.asking = true
	detail := fmt.Sprintf("%d of the last %d first attempts failed; the last one: %s", b.bad, breakerWindow, wordsOf(v.result))
	b.mu.Unlock()
	open := b.trip(detail)
	b.mu.Lock()
	b.asking, b.next = false, b.now().Add(guardAgain)
	if open {
		b.opened, b.n, b.bad = b.now(), 0, 0
	}
	return open
}

// push puts an answer into the window, in the place of the oldest.
func (b *breaker) push(failed bool) {
	i := b.n % breakerWindow
	if b.n >= breakerWindow && b.failed[i] {
		b.bad--
	}
	if failed {
		b.bad++
	}
	b.failed[i] = failed
	b.n++
}

// wordsOf is what a vendor's answer says, for people.
func wordsOf(r push.Result) string {
	if r.Status == 0 {
		return r.Message
	}
	return fmt.Sprintf("%d %s", r.Status, r.Message)
}
