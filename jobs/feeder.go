package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"bongsu/db"
)

// Times of the feeder.
const (
	leaderLease = FeederLease
	leadEvery   = FeederTurn
	feedEvery   = 40 * time.Millisecond  // how often due work is looked for
	keepEvery   = 250 * time.Millisecond // how often the ledger is put in order
	ringAtOnce  = 64
)

// Feeder turns what the ledger says is due into asynq tasks, and keeps the
// ledger in order: it frees ended leases, closes cancelled and expired notices,
// finishes those that are through, and steps replays. Feeders may run in any
// number; one at a time has the turn.
type Feeder struct {
	cfg    Config
	log    *slog.Logger
	bell   *bell
	stop   context.CancelFunc
	wg     sync.WaitGroup
	term   atomic.Int64 // 0: another has the turn
	rest   rest         // after trouble with Postgres no lease is freed for a while
	rung   map[retryLane]retryMark
	tidied time.Time // expired rows were removed last
}

// retryLane is a notice in one scope.
type retryLane struct {
	notice int64
	scope  string
}

// retryMark is when the retries of one were rung last.
type retryMark struct{ at time.Time }

// NewFeeder makes a feeder. It does nothing until Start.
func NewFeeder(cfg Config) *Feeder {
	return &Feeder{cfg: cfg, log: cfg.Log.With("part", "feeder"), bell: newBell(cfg), rung: make(map[retryLane]retryMark),
		rest: rest{length: cfg.Lease + RecordLimit}}
}

// Start begins to feed whenever it has the turn.
func (f *Feeder) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	f.wg.Go(func() { f.every(ctx, leadEvery, f.lead) })
	f.wg.Go(func() { f.every(ctx, feedEvery, f.withTurn(f.feed)) })
	f.wg.Go(func() { f.every(ctx, keepEvery, f.withTurn(f.keep)) })
	f.wg.Go(func() { f.every(ctx, time.Second, f.withTurn(f.listen)) })
}

// Stop gives the turn away and returns when nothing of it runs any more.
func (f *Feeder) Stop() {
	f.stop()
	f.wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), StepDownLimit)
	defer cancel()
	if err := f.cfg.DB.StepDown(ctx, f.cfg.Name); err != nil {
		f.log.Warn("the turn was not given away; it ends by itself", "error", err)
	}
}

// every calls f at once and then again and again, until ctx ends.
func (f *Feeder) every(ctx context.Context, d time.Duration, do func(context.Context)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// withTurn calls do only while this feeder has the turn. An error is logged, and
// the next round tries again; since the ledger may have been away, no lease is
// freed for a while.
func (f *Feeder) withTurn(do func(context.Context, db.Term) error) func(context.Context) {
	failing := false
	return func(ctx context.Context) {
		t := db.Term(f.term.Load())
		if t == 0 {
			return
		}
		err := do(ctx, t)
		switch {
		case err != nil && ctx.Err() == nil:
			f.rest.saw(err)
			if !failing {
				f.log.Warn("feeding failed and is tried again", "error", err)
			}
			failing = true
		case err == nil && failing:
			f.log.Info("feeding works again")
			failing = false
		}
	}
}

// lead takes or prolongs the turn.
func (f *Feeder) lead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaderLease)
	defer cancel()
	t, err := f.cfg.DB.Lead(ctx, f.cfg.Name, leaderLease)
	switch {
	case errors.Is(err, db.ErrStale):
		f.term.Store(0)
		f.rest.saw(nil)
	case err != nil:
		f.rest.saw(err)
	default:
		f.rest.saw(nil)
		if f.term.Swap(int64(t)) != int64(t) {
			f.log.Info("this process feeds now", "term", int64(t))
		}
	}
}

// listen finds out whether Redis answers, and whether it has lost the tasks that
// were rung; then all are rung again.
func (f *Feeder) listen(ctx context.Context, t db.Term) error {
	empty, err := f.bell.emptied(ctx)
	if err != nil {
		return f.cfg.DB.SawQueue(ctx, t, err.Error())
	}
	if err := f.cfg.DB.SawQueue(ctx, t, ""); err != nil {
		return err
	}
	if !empty {
		return nil
	}
	n, err := f.cfg.DB.RingStale(ctx, t, quiet, true)
	f.log.Info("redis is new to us; what was rung is rung again", "ranges", n)
	if err != nil {
		return err
	}
	return f.cfg.DB.RingImports(ctx, t)
}
