package web

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// throttledError says that there were too many failures, and how long to wait.
type throttledError struct{ wait time.Duration }

func (e *throttledError) Error() string {
	return fmt.Sprintf("too many failed tries: wait %d seconds and try again", int((e.wait+time.Second-1)/time.Second))
}

// maxBudgets bounds the memory of one set of budgets.
const maxBudgets = 50_000

// budgets gives each key a number of tries that fills up again with time.
type budgets struct {
	mu    sync.Mutex
	size  float64
	every time.Duration // one try comes back in this time
	now   func() time.Time
	kept  map[string]budget
}

type budget struct {
	left float64
	at   time.Time
}

func newBudgets(size int, every time.Duration, now func() time.Time) *budgets {
	return &budgets{size: float64(size), every: every, now: now, kept: map[string]budget{}}
}

// take spends one try of key, or says how long it takes until there is one.
func (b *budgets) take(key string) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.current(key)
	if k.left < 1 {
		return time.Duration((1 - k.left) * float64(b.every))
	}
	k.left--
	if len(b.kept) >= maxBudgets {
		b.forget()
	}
	b.kept[key] = k
	return 0
}

// refund gives one try of key back.
func (b *budgets) refund(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.current(key)
	k.left = min(k.left+1, b.size)
	b.kept[key] = k
}

// current gives key's budget as it is now.
func (b *budgets) current(key string) budget {
	now := b.now()
	k, ok := b.kept[key]
	if !ok {
		return budget{b.size, now}
	}
	k.left = min(k.left+float64(now.Sub(k.at))/float64(b.every), b.size)
	k.at = now
	return k
}

// forget drops the budgets that are full again, and where that is not enough
// all of them: a flood of made-up accounts shall not fill the memory.
func (b *budgets) forget() {
	maps.DeleteFunc(b.kept, func(key string, _ budget) bool { return b.current(key).left >= b.size })
	if len(b.kept) >= maxBudgets {
		clear(b.kept)
	}
}
