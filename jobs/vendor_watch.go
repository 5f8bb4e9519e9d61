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

// watchVendor looks at the vendor's row again and again: what an admin said of it,
// and whether a probe is due.
func (w *Worker) watchVendor() {
	tick := time.NewTicker(VendorLook)
	defer tick.Stop()
	probes := &calls{w: w, class: retry, probe: true}
	defer probes.group.Wait()
	for {
		v, err := w.vendorState(w.draining)
		if err == nil {
			w.refusals.learn(v.Version, v.State == "ok", v.KeepDevices, v.Agreed)
			if v.State == "probing" {
				w.tryVendor(probes)
			}
		}
		select {
		case <-tick.C:
		case <-w.draining.Done():
			return
		}
	}
}

func (w *Worker) vendorState(ctx context.Context) (db.VendorState, error) {
	list, err := w.cfg.DB.Vendors(ctx)
	for _, v := range list {
		if v.Kind == string(w.cfg.Vendor.Kind()) {
			return v, nil
		}
	}
	return db.VendorState{}, err
}

// tryVendor makes the next probe if it is due. Its call ends beside.
func (w *Worker) tryVendor(c *calls) {
	g := w.exchange.claim(w.draining, &ask{class: c.class, bare: true, want: db.Want{Limit: 1}})
	if g.err != nil {
		return
	}
	kind := string(w.cfg.Vendor.Kind())
	asked := time.Now()
	p, err := w.cfg.DB.ClaimProbe(w.draining, kind, ProbeEvery, w.cfg.Lease, w.nextShard())
	w.exchange.free(c.class, g.slots-len(p.Claims))
	switch {
	case err != nil && w.draining.Err() == nil:
		w.log.Warn("the vendor could not be probed", "error", err)
	case p.Closed:
		w.log.Info("nothing waits for the vendor any more; it is called again", "vendor", kind)
	}
	for _, claim := range p.Claims {
		text, err := w.texts.get(context.WithoutCancel(w.draining), claim.NoticeID)
		if err != nil {
			w.release(claim)
			w.exchange.free(c.class, 1)
			continue
		}
		c.begin([]db.Claim{claim}, text, asked)
	}
}

// probed takes the answer to a probe: any word of the vendor that is not a failure
// closes the breaker. A refusal of our credentials has paused it already.
func (w *Worker) probed(v verdict) {
	if o := v.result.Outcome; o == push.Transient || o == push.Settings {
		w.log.Info("the vendor does not work yet", "vendor", w.cfg.Vendor.Kind(), "says", wordsOf(v.result))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.CallTimeout)
	defer cancel()
	closed, err := w.cfg.DB.CloseVendor(ctx, string(w.cfg.Vendor.Kind()))
	switch {
	case err != nil:
		w.log.Warn("the vendor is back and could not be marked so; the next probe tries again", "error", err)
	case closed:
		w.log.Info("the vendor is back; sending goes on", "vendor", w.cfg.Vendor.Kind())
	}
}

// tripVendor asks the ledger to stop the calls of all processes, and tells whether
// they are stopped.
func (w *Worker) tripVendor(detail string) (open bool) {
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.CallTimeout)
	defer cancel()
	open, err := w.cfg.DB.TripVendor(ctx, string(w.cfg.Vendor.Kind()), w.cfg.Backlog, probeFirst, detail)
	switch {
	case err != nil:
		w.log.Error("the breaker could not be opened", "error", err)
	case open:
		w.log.Error("the vendor does not work; calls stop but for one probe every 2 s", "vendor", w.cfg.Vendor.Kind(), "detail", detail)
	}
	return open
}

// keepDevices stops 410s from disabling devices, in every process, and tells
// whether the ledger sees to that now.
func (w *Worker) keepDevices(detail string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.CallTimeout)
	defer cancel()
	kept, err := w.cfg.DB.KeepDevices(ctx, string(w.cfg.Vendor.Kind()), detail)
	switch {
	case err != nil:
		w.log.Error("devices could not be kept in the ledger; this process keeps them", "error", err)
	case kept:
		w.log.Error("410s disable no device until an admin agrees", "vendor", w.cfg.Vendor.Kind(), "detail", detail)
	}
	return err == nil
}
