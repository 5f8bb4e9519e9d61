package jobs

import "time"

// class says for what a call slot is wanted.
type class int

const (
	first class = iota // a first attempt
	retry              // any later one
)

// slots counts the call slots of one process: how many calls may be under way at
// once. A slot is taken together with the claim and is free again only when the
// call's result is committed, so that after a crash no more deliveries can be in
// doubt than there are slots.
//
// While retries are expected, an eighth is out of reach for first attempts, so
// that a retry never waits behind a million of them; at other times first
// attempts use all. The exchange guards it.
type slots struct {
	size  int
	used  [2]int    // by class
	until time.Time // retries are expected until then
}

// inUse tells how many are taken.
func (s *slots) inUse() int { return s.used[first] + s.used[retry] }

// open tells how many a class may take at the time now.
func (s *slots) open(c class, now time.Time) int {
	n := s.size - s.inUse()
	if c == first && now.Before(s.until) {
		n = min(n, s.size-s.size/8-s.used[first])
	}
	return n
}
