package web

import (
	"context"
	"sync"
	"time"

	"bongsu/db"
)

// fullFor is how long the disk counts as full after a write met that: reads go
// on succeeding, so that no success says that it is over.
const fullFor = time.Minute

// watch knows how the parts are as far as this process saw it. One look serves
// all pages for a moment; it is made beside them, so that none waits for it for
// long and none fails with it. It looks only when somebody asks.
type watch struct {
	look  func(context.Context) (db.Status, error)
	now   func() time.Time
	limit time.Duration // of one look
	wait  time.Duration // a page waits for it, at most
	fresh time.Duration // how long it serves

	mu      sync.Mutex
	last    db.Status // of the last look that succeeded
	asked   time.Time // when the last look ended, however it did
	known   bool      // the last look succeeded
	looking chan struct{}
	behind  *sync.WaitGroup // looks under way

	trouble db.Cause  // of the database; NoCause: none
	since   time.Time // of the trouble
	fullAt  time.Time // a write met a full disk last
	fullOf  time.Time // and first
}

// outlook is what the watch knows at a moment.
type outlook struct {
	st      db.Status // as the last look that succeeded found it
	known   bool      // the last look succeeded
	trouble db.Cause  // of the database
	since   time.Time
}

// see gives how the parts are, not older than fresh where a look that is made
// now ends within wait; else what is known.
func (w *watch) see(ctx context.Context) outlook {
	if done := w.begin(ctx); done != nil {
		timer := time.NewTimer(w.wait)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return w.outlook()
}

// begin starts a look unless the last one serves still or one is under way, and
// gives what is closed at its end; nil where there is nothing to wait for.
func (w *watch) begin(ctx context.Context) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looking != nil {
		return w.looking
	}
	if !w.asked.IsZero() && w.now().Sub(w.asked) < w.fresh {
		return nil
	}
	done := make(chan struct{})
	w.looking = done
	ctx = context.WithoutCancel(ctx) // others wait for it too
	w.behind.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, w.limit)
		defer cancel()
		st, err := w.look(ctx)
		w.saw(st, err)
		w.mu.Lock()
		w.looking = nil
		w.mu.Unlock()
	})
	return done
}

// saw keeps what a look found.
func (w *watch) saw(st db.Status, err error) {
	w.noted(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.known = w.now(), err == nil
	if err != nil {
		return
	}
	w.last = st
	if st.ReadOnly {
		w.troubled(db.ReadOnly)
	} else if w.trouble == db.ReadOnly {
		w.trouble = db.NoCause
	}
}

// noted learns from the end of any question to the database: err is its error.
func (w *watch) noted(err error) {
	cause := db.CauseOf(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case cause == db.DiskFull:
		if w.now().Sub(w.fullAt) > fullFor {
			w.fullOf = w.now()
		}
		w.fullAt = w.now()
	case cause != db.NoCause:
		w.troubled(cause)
	case err == nil && w.trouble != db.ReadOnly: // a read says nothing of writes
		w.trouble = db.NoCause
	}
}

// troubled begins a trouble, or goes on with it. The mutex is held.
func (w *watch) troubled(cause db.Cause) {
	if w.trouble == db.NoCause {
		w.since = w.now()
	}
	w.trouble = cause
}

// forget has the next page look anew: somebody has just acted.
func (w *watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Time{}
}

func (w *watch) outlook() outlook {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := outlook{st: w.last, known: w.known, trouble: w.trouble, since: w.since}
	if o.trouble == db.NoCause && !w.fullAt.IsZero() && w.now().Sub(w.fullAt) < fullFor {
		o.trouble, o.since = db.DiskFull, w.fullOf
	}
	return o
}
