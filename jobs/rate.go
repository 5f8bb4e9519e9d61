package jobs

import (
	"context"
	"sync"
	"time"

	"bongsu/db"
)

// slice is the longest stretch of a vendor's time that a process reserves at once.
const slice = 100 * time.Millisecond

// rates are those of a worker, made when they are first asked for.
type rates struct {
	db        *db.DB
	perSecond float64 // 0: no limit
	mu        sync.Mutex
	by        map[string]*rate
}

func (s *rates) of(pool string) *rate {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.by[pool]
	if !ok {
		if s.by == nil {
			s.by = make(map[string]*rate)
		}
		r = &rate{db: s.db, name: pool, perSecond: s.perSecond}
		s.by[pool] = r
	}
	return r
}

// rate keeps calls to a vendor below a number per second over all processes, by
// slices reserved in the ledger.
type rate struct {
	db        *db.DB
	name      string
	perSecond float64 // 0: no limit

	mu    sync.Mutex
	left  int
	until time.Time // what is left is void then
}

// take waits until calls may be made and tells how many, at most want. It is
// called by one goroutine at a time to reserve; others wait for it.
func (r *rate) take(ctx context.Context, want int) (int, error) {
	if r.perSecond <= 0 {
		return want, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 || time.Now().After(r.until) {
		n := max(1, int(r.perSecond*slice.Seconds()))
		wait, err := r.db.TakeRate(ctx, r.name, n, r.perSecond)
		if err != nil {
			return 0, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		r.left, r.until = n, time.Now().Add(2*slice)
	}
	n := min(want, r.left)
	r.left -= n
	return n, nil
}

// giveBack returns calls that were not made.
func (r *rate) giveBack(n int) {
	if r.perSecond <= 0 || n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
}
