package jobs

import "time"

// class says for what a call slot is wanted.
type class int

const (
	first class = iota // a first attempt
	retry              // any later one
)

// slots counts the call slots of one pool in one process: how many calls may be under
// way at once there. A slot is taken together with the claim and is free again only when the
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

// pools are the slots by pool (see poolOf), of size each: a vendor that keeps its
// calls waiting holds up no other.
type pools struct {
	size int
	by   map[string]*slots
}

func (p *pools) of(pool string) *slots {
	s, ok := p.by[pool]
	if !ok {
		if p.by == nil {
			p.by = make(map[string]*slots)
		}
		s = &slots{size: p.size}
		p.by[pool] = s
	}
	return s
}

// inUse tells how many are taken, and of how many.
func (p *pools) inUse() (taken, all int) {
	for _, s := range p.by {
		taken, all = taken+s.inUse(), all+s.size
	}
	return taken, max(all, p.size)
}

// copy gives the same slots to reckon with.
func (p *pools) copy() *pools {
	c := &pools{size: p.size, by: make(map[string]*slots, len(p.by))}
	for name, s := range p.by {
		same := *s
		c.by[name] = &same
	}
	return c
}
