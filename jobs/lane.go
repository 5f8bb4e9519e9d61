package jobs

import (
	"context"
	"sync"
	"time"

	"bongsu/jobs/push"
)

// lane is what a process knows of one scope: its guards, and what was heard there.
// Trouble in one lane is none in another.
type lane struct {
	w        *Worker
	scope    string
	guard    *guard
	breaker  *breaker
	refusals *refusals
	heard    heard
}

func newLane(w *Worker, scope string) *lane {
	l := &lane{w: w, scope: scope}
	l.guard = &guard{pause: func(reason, detail string) { l.pause(reason, detail) }, record: l.answered}
	l.breaker = &breaker{now: time.Now}
	if w.cfg.Backlog > 0 {
		l.breaker.trip = l.trip
	}
	l.refusals = &refusals{share: w.cfg.RefusalShare, now: time.Now, keep: l.keepDevices,
		pause: func(detail string) bool { return l.pause("refusals", detail) }}
	return l
}

// lanes are those of a worker, made when they are first asked for.
type lanes struct {
	w  *Worker
	mu sync.Mutex
	by map[string]*lane
}

func (s *lanes) of(scope string) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.by[scope]
	if !ok {
		if s.by == nil {
			s.by = make(map[string]*lane)
		}
		l = newLane(s.w, scope)
		s.by[scope] = l
	}
	return l
}

func (s *lanes) all() (list []*lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.by {
		list = append(list, l)
	}
	return list
}

// pause stops all calls in the scope, in every process, and tells whether they are
// stopped.
func (l *lane) pause(reason, detail string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.w.cfg.CallTimeout)
	defer cancel()
	var fingerprint string
	if v, ok := l.w.cfg.Vendors.For(kindOf(l.scope)); ok {
		fingerprint = v.Credential().Fingerprint
	}
	paused, err := l.w.cfg.DB.PauseVendor(ctx, l.scope, reason, detail, fingerprint)
	switch {
	case err != nil:
		l.w.log.Error("the vendor could not be paused", "vendor", l.scope, "reason", reason, "error", err)
	case paused:
		l.w.log.Error("the vendor was paused", "vendor", l.scope, "reason", reason, "detail", detail)
	}
	return err == nil
}

// trip asks the ledger to stop the calls of all processes in the scope, and tells
// whether they are stopped.
func (l *lane) trip(detail string) (open bool) {
	ctx, cancel := context.WithTimeout(context.Background(), l.w.cfg.CallTimeout)
	defer cancel()
	open, err := l.w.cfg.DB.TripVendor(ctx, l.scope, l.w.cfg.Backlog, probeFirst, detail)
	switch {
	case err != nil:
		l.w.log.Error("the breaker could not be opened", "vendor", l.scope, "error", err)
	case open:
		l.w.log.Error("the vendor does not work; calls stop but for one probe every 2 s", "vendor", l.scope, "detail", detail)
	}
	return open
}

// keepDevices stops refusals from disabling devices, in every process, and tells
// whether the ledger sees to that now.
func (l *lane) keepDevices(detail string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.w.cfg.CallTimeout)
	defer cancel()
	kept, err := l.w.cfg.DB.KeepDevices(ctx, l.scope, detail)
	switch {
	case err != nil:
		l.w.log.Error("devices could not be kept in the ledger; this process keeps them", "vendor", l.scope, "error", err)
	case kept:
		l.w.log.Error("refusals disable no device until an admin agrees", "vendor", l.scope, "detail", detail)
	}
	return err == nil
}

// answered takes an answer that the guard has let through: the other guards look
// at it, and it goes to the ledger.
func (l *lane) answered(v verdict) {
	free := l.breaker.saw(v) || v.probe
	keep := l.refusals.saw(v)
	l.heard.saw(v, time.Now())
	out := l.w.settle(v, free)
	out.Disable = out.Disable && !keep
	l.w.exchange.record(entry{result: out, class: v.class, pool: poolOf(l.scope), task: v.task, recorded: v.recorded})
	if v.probe {
		l.probed(v)
	}
}

// probed takes the answer to a probe: any word of the vendor that is not a failure
// closes the breaker. A refusal of our credentials has paused it already.
func (l *lane) probed(v verdict) {
	if o := v.result.Outcome; o == push.Transient || o == push.Settings {
		l.w.log.Info("the vendor does not work yet", "vendor", l.scope, "says", wordsOf(v.result))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.w.cfg.CallTimeout)
	defer cancel()
	closed, err := l.w.cfg.DB.CloseVendor(ctx, l.scope)
	switch {
	case err != nil:
		l.w.log.Warn("the vendor is back and could not be marked so; the next probe tries again", "vendor", l.scope, "error", err)
	case closed:
		l.w.log.Info("the vendor is back; sending goes on", "vendor", l.scope)
	}
}
