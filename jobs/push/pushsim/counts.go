package pushsim

import (
	"slices"
	"sync/atomic"
	"time"
)

// Counts gives what was counted so far. While calls come in, its numbers may
// be those of moments a few microseconds apart, but Unique is never above
// Delivered.
func (s *Server) Counts() Counts {
	b := s.book
	unique := b.unique.Load() // before delivered, which is counted first
	c := Counts{
		Calls:       b.calls.Load(),
		Delivered:   b.delivered.Load(),
		Unique:      unique,
		ByStatus:    make(map[int]int64),
		FirstCallAt: timeOf(&b.first),
		LastCallAt:  timeOf(&b.last),
		MaxInFlight: b.maxInFlight.Load(),
		Connections: b.connections.Load(),
		Tokens:      b.tokens.Load(),
	}
	c.Duplicates = c.Delivered - c.Unique
	for status := range b.statuses {
		if n := b.statuses[status].Load(); n > 0 {
			c.ByStatus[status] = n
		}
	}
	return c
}

func timeOf(v *atomic.Int64) *time.Time {
	n := v.Load()
	if n == 0 {
		return nil
	}
	t := time.Unix(0, n).UTC()
	return &t
}

// Delivered tells how often the notice was taken for the token.
func (s *Server) Delivered(token string, notice int64) int {
	h := pairHash(token, notice)
	sh := s.book.shard(h)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return int(sh.told[h])
}

// Calls gives the calls for the token and notice in the order in which they
// were decided, also the refused ones. It is empty without Config.KeepCalls.
func (s *Server) Calls(token string, notice int64) []Call {
	h := pairHash(token, notice)
	sh := s.book.shard(h)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return slices.Clone(sh.calls[h])
}

// Twice gives the first 1,000 pairs that were delivered more than once.
func (s *Server) Twice() []Pair {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return slices.Clone(s.book.twice)
}

// Reset forgets the counts, deliveries, keys and kept calls, and which busy-
// and drop- tokens had their turn. Switches and mended prefixes stay. Calls
// under way while it runs may count before or after it.
func (s *Server) Reset() {
	b := s.book
	for i := range b.shards {
		sh := &b.shards[i]
		sh.mu.Lock()
		sh.clear()
		sh.mu.Unlock()
	}
	for _, v := range []*atomic.Int64{&b.calls, &b.unique, &b.delivered, &b.first, &b.last, &b.maxInFlight, &b.connections, &b.tokens} {
		v.Store(0)
	}
	for i := range b.statuses {
		b.statuses[i].Store(0)
	}
	b.mu.Lock()
	b.twice = nil
	b.mu.Unlock()
	s.habits.forget()
}
