package jobs

import (
	"context"
	"sync"
	"time"
)

// class says for what a call slot is wanted.
type class int

const (
	first class = iota // a first attempt
	retry              // any later one
)

// slots hands out the call slots of one process: how many calls may be under
// way at once. A slot is taken before the claim and is free again only when the
// call's result is committed, so that after a crash no more deliveries can be in
// doubt than there are slots.
//
// While retries are expected, an eighth is out of reach for first attempts, so
// that a retry never waits behind a million of them; at other times first
// attempts use all.
type slots struct {
	mu      sync.Mutex
	size    int
	reserve int
	used    int
	byFirst int
	until   time.Time // retries are expected until then
	waiting [2][]*wait
}

type wait struct {
	want int
	got  chan int
}

func newSlots(size int) *slots { return &slots{size: size, reserve: size / 8} }

// take waits for a free slot and takes up to want of those that are free. It
// fails only when ctx ends. Those who wait are served in their order, retries
// before first attempts.
func (s *slots) take(ctx context.Context, c class, want int) (int, error) {
	w := &wait{want: want, got: make(chan int, 1)}
	s.mu.Lock()
	s.waiting[c] = append(s.waiting[c], w)
	s.serve()
	s.mu.Unlock()
	select {
	case n := <-w.got:
		return n, nil
	case <-ctx.Done():
		s.leave(c, w)
		return 0, context.Cause(ctx)
	}
}

// leave takes w out of the queue, and gives back what it was served meanwhile.
func (s *slots) leave(c class, w *wait) {
	s.mu.Lock()
	for i, other := range s.waiting[c] {
		if other == w {
			s.waiting[c] = append(s.waiting[c][:i], s.waiting[c][i+1:]...)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.free(c, <-w.got)
}

// free gives n slots back.
func (s *slots) free(c class, n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
	if c == first {
		s.byFirst -= n
	}
	s.serve()
}

// expectRetries keeps the reserve for retries until t, at least.
func (s *slots) expectRetries(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.After(s.until) {
		s.until = t
	}
}

// inUse tells how many slots are taken.
func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// serve hands free slots to those who wait. The mutex is held.
func (s *slots) serve() {
	for _, c := range []class{retry, first} {
		for len(s.waiting[c]) > 0 {
			n := min(s.waiting[c][0].want, s.open(c))
			if n < 1 {
				break
			}
			s.used += n
			if c == first {
				s.byFirst += n
			}
			s.waiting[c][0].got <- n
			s.waiting[c] = s.waiting[c][1:]
		}
	}
}

// open tells how many slots c may take now. The mutex is held.
func (s *slots) open(c class) int {
	n := s.size - s.used
	if c == first && time.Now().Before(s.until) {
		n = min(n, s.size-s.reserve-s.byFirst)
	}
	return n
}
