package jobs

import (
	"sync"
	"time"

	"bongsu/db"
)

// rest is the time after an outage of Postgres in which no lease is freed: live
// workers know results that they could not write, and they may be stuck in a call
// for a while yet. It begins when Postgres answers again, not with the last error:
// a line that is silent gives its error late. Its length is a lease, and what it
// may take to record.
type rest struct {
	length time.Duration

	mu    sync.Mutex
	away  bool
	until time.Time
}

// saw takes the end of a call to Postgres. An error that says nothing of Postgres
// being away is none: one statement that always fails must not keep leases.
func (r *rest) saw(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && db.CauseOf(err) != db.NoCause:
		r.away = true
	case err == nil && r.away:
		r.away, r.until = false, time.Now().Add(r.length)
	}
}

// lasts says whether leases have to be left alone now.
func (r *rest) lasts() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away || time.Now().Before(r.until)
}
