package jobs

import (
	"context"
	"sync"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// probeFirst is the time from the breaker's opening to the first probe.
const probeFirst = 500 * time.Millisecond

// heard is what this process has heard of the vendor since it last told the
// ledger.
type heard struct {
	mu       sync.Mutex
	ok, wait time.Time
}

// saw takes an answer.
func (h *heard) saw(v verdict, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.result.Outcome == push.Sent {
		h.ok = now
	}
	if v.result.Outcome == push.Wait {
		h.wait = later(h.wait, now.Add(v.result.RetryAfter))
	}
}

// take gives what was heard, once.
func (h *heard) take() (ok, wait time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ok, wait = h.ok, h.wait
	h.ok, h.wait = time.Time{}, time.Time{}
	return ok, wait
}

// first says whether it answers a first attempt: the guards judge by these. After a
// replay, and after calls that were not charged, the next one is a first attempt too.
func (v verdict) first() bool { return v.claim.Charged == 0 && !v.probe }

// watchVendors looks at the vendors' rows again and again: what an admin said of
// each, whether its credential is another one now, and whether a probe is due.
func (w *Worker) watchVendors() {
	tick := time.NewTicker(VendorLook)
	defer tick.Stop()
	probes := &calls{w: w, class: retry, probe: true}
	defer probes.group.Wait()
	for {
		list, _ := w.cfg.DB.Vendors(w.draining) // while the ledger is away there is nothing to say
		for _, v := range list {
			w.lanes.of(v.Scope).watch(v, probes)
		}
		select {
		case <-tick.C:
		case <-w.draining.Done():
			return
		}
	}
}

func (l *lane) watch(v db.VendorState, probes *calls) {
	l.refusals.learn(v.Version, v.State == "ok", v.KeepDevices, v.Agreed)
	vendor, configured := l.w.cfg.Vendors.For(kindOf(l.scope))
	switch {
	case !configured:
		return
	case v.State == "paused" && l.mended(v, vendor.Credential().Fingerprint):
		l.tryAgain(v)
	case v.State == "probing":
		l.try(probes)
	}
}

// mended tells whether what the vendor was paused for is not so any more, as far as
// this process knows: it has the vendor's settings, or another credential than the
// one that was refused.
func (l *lane) mended(v db.VendorState, fingerprint string) bool {
	switch wordOr(v.Reason) {
	case "not_configured":
		return true
	case "credentials_refused":
		return v.Fingerprint != nil && *v.Fingerprint != fingerprint
	}
	return false
}

func wordOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tryAgain has a paused vendor probed: the first answer decides.
func (l *lane) tryAgain(v db.VendorState) {
	began, err := l.w.cfg.DB.ProbeVendor(l.w.draining, l.scope, v.Version)
	switch {
	case err != nil && l.w.draining.Err() == nil:
		l.w.log.Warn("a vendor with another credential could not be probed", "vendor", l.scope, "error", err)
	case began:
		l.w.log.Info("the vendor's credential is another one; it is probed", "vendor", l.scope)
	}
}

// try makes the next probe if it is due. Its call ends beside.
func (l *lane) try(c *calls) {
	w := l.w
	g := w.exchange.claim(w.draining, &ask{class: c.class, pool: poolOf(l.scope), bare: true, want: db.Want{Limit: 1}})
	if g.err != nil {
		return
	}
	asked := time.Now()
	p, err := w.cfg.DB.ClaimProbe(w.draining, l.scope, ProbeEvery, w.cfg.Lease, w.nextShard())
	w.exchange.free(poolOf(l.scope), c.class, g.slots-len(p.Claims))
	switch {
	case err != nil && w.draining.Err() == nil:
		w.log.Warn("the vendor could not be probed", "vendor", l.scope, "error", err)
	case p.Closed:
		w.log.Info("nothing waits for the vendor any more; it is called again", "vendor", l.scope)
	}
	for _, claim := range p.Claims {
		text, err := w.texts.get(context.WithoutCancel(w.draining), claim.NoticeID)
		if err != nil {
			w.release(claim)
			w.exchange.free(poolOf(l.scope), c.class, 1)
			continue
		}
		c.begin([]db.Claim{claim}, text, asked)
	}
}
