package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
)

// exchange is where a worker meets the ledger: results come in, claims go out.
// What has come in while one transaction was being committed goes into the next,
// and the slots that it frees carry new claims in the same commit. So batches
// grow with the load by themselves, and no slot waits for a second round trip.
//
// It writes on a context of its own and keeps trying while Postgres is away: no
// end of a task loses a result that is known.
type exchange struct {
	db     *db.DB
	log    *slog.Logger
	tracer trace.Tracer
	lease  time.Duration

	mu      sync.Mutex
	slots   pools
	results []entry
	asks    [2][]*ask // by class, in the order they came
	stopped bool
	wake    chan struct{}
	lane    sync.WaitGroup
}

// entry is a result on its way, and what to do once it is written.
type entry struct {
	result   db.Result
	class    class
	pool     string    // whose slot it frees
	task     *taskSpan // may be nil
	recorded func()
}

// ask is somebody who waits for slots and claims.
type ask struct {
	class class
	pool  string    // whose slots it wants
	want  db.Want   // Limit is how many it can use
	bare  bool      // slots alone: the claims are made elsewhere
	task  *taskSpan // may be nil
	reply chan grant
}

// grant is the answer to an ask: as many slots are taken as there are claims, or
// Limit of a bare ask.
type grant struct {
	batch db.Batch
	slots int
	asked time.Time // before the claims were asked for
	err   error
}

const (
	recordMax = 256 // results in one transaction
	asksMax   = 6   // claim statements in one transaction
	asksWorth = 32  // claims that are worth a second statement
)

func newExchange(store *db.DB, log *slog.Logger, tracer trace.Tracer, size int, lease time.Duration) *exchange {
	return &exchange{db: store, log: log, tracer: tracer, lease: lease, slots: pools{size: size}, wake: make(chan struct{}, 1)}
}

func (x *exchange) start() { x.lane.Go(x.run) }

// stop waits until every slot is free, which is when all results are committed,
// and ends. Nobody may ask any more.
func (x *exchange) stop() {
	x.mu.Lock()
	x.stopped = true
	x.mu.Unlock()
	x.ring()
	x.lane.Wait()
}

// ring lets the lane look again.
func (x *exchange) ring() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// record hands a result in. recorded is called once it is committed and its slot
// is free.
func (x *exchange) record(e entry) {
	x.mu.Lock()
	x.results = append(x.results, e)
	x.mu.Unlock()
	x.ring()
}

// claim waits for slots and claims. It fails where the ledger does, and with
// ctx's cause where that ends before its turn has come.
func (x *exchange) claim(ctx context.Context, a *ask) grant {
	a.reply = make(chan grant, 1)
	x.mu.Lock()
	x.asks[a.class] = append(x.asks[a.class], a)
	x.mu.Unlock()
	x.ring()
	select {
	case g := <-a.reply:
		return g
	case <-ctx.Done():
		if x.withdraw(a) {
			return grant{err: context.Cause(ctx)}
		}
		return <-a.reply
	}
}

// withdraw takes an ask back whose turn has not come.
func (x *exchange) withdraw(a *ask) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, other := range x.asks[a.class] {
		if other == a {
			x.asks[a.class] = append(x.asks[a.class][:i], x.asks[a.class][i+1:]...)
			return true
		}
	}
	return false
}

// free gives slots back for which there is no result.
func (x *exchange) free(pool string, c class, n int) {
	x.mu.Lock()
	x.slots.of(pool).used[c] -= n
	x.mu.Unlock()
	x.ring()
}

// expectRetries keeps an eighth of a pool's slots for retries until t, at least.
func (x *exchange) expectRetries(pool string, t time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.slots.of(pool); t.After(s.until) {
		s.until = t
	}
}

// inUse tells how many slots are taken, and of how many.
func (x *exchange) inUse() (taken, all int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.slots.inUse()
}

// trade is what one transaction carries.
type trade struct {
	entries []entry
	asks    []*ask
	limits  []int // slots for each ask
}

func (x *exchange) run() {
	pause := time.Duration(0)
	for shard := 0; ; shard++ {
		t, ended := x.next()
		switch {
		case ended:
			return
		case len(t.entries) == 0 && len(t.asks) == 0:
			x.sleep()
			continue
		}
		if err := x.commit(t, shard); err != nil {
			pause = min(max(2*pause, 50*time.Millisecond), time.Second)
			x.log.Warn("results wait for the ledger", "results", len(t.entries), "again_ms", pause.Milliseconds(), "error", err)
			time.Sleep(pause)
			continue
		}
		pause = 0
	}
}

// sleep waits until something comes in, or until the reserve may have ended.
func (x *exchange) sleep() {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-x.wake:
	case <-timer.C:
	}
}

// next picks what the next transaction carries: all results there are, and asks
// for the slots that are free after it, retries first.
func (x *exchange) next() (t trade, ended bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if taken, _ := x.slots.inUse(); x.stopped && taken == 0 {
		return t, true
	}
	n := min(len(x.results), recordMax)
	t.entries = append(t.entries, x.results[:n]...)
	x.results = append(x.results[:0], x.results[n:]...)
	after := x.slots.copy()
	for _, e := range t.entries {
		after.of(e.pool).used[e.class]--
	}
	now := time.Now()
	for _, c := range []class{retry, first} {
		waiting := x.asks[c][:0]
		for _, a := range x.asks[c] {
			n := min(a.want.Limit, after.of(a.pool).open(c, now))
			if n < 1 || len(t.asks) == asksMax || len(t.asks) > 0 && c == first && n < min(asksWorth, a.want.Limit) {
				waiting = append(waiting, a)
				continue
			}
			after.of(a.pool).used[c] += n
			t.asks, t.limits = append(t.asks, a), append(t.limits, n)
		}
		x.asks[c] = waiting
	}
	// What the asks take is taken now, what the results free is free when they
	// are committed.
	for i, a := range t.asks {
		x.slots.of(a.pool).used[a.class] += t.limits[i]
	}
	return t, false
}

// commit carries a trade out. Where it fails the results are kept for the next
// one, and the asks are told.
func (x *exchange) commit(t trade, shard int) error {
	results := make([]db.Result, len(t.entries))
	for i, e := range t.entries {
		results[i] = e.result
	}
	var wants []db.Want
	for i, a := range t.asks {
		if !a.bare {
			a.want.Limit = t.limits[i]
			wants = append(wants, a.want)
		}
	}
	asked := time.Now()
	var stale []db.Claim
	var batches []db.Batch
	var err error
	if len(results)+len(wants) > 0 {
		stale, batches, err = x.db.Exchange(context.Background(), results, wants, x.lease, shard)
		x.traded(t, batches, asked, err)
	}
	if err != nil {
		x.undo(t, err)
		if len(results) > 0 && !db.Unavailable(err) {
			return x.isolate(shard)
		}
		return err
	}
	for _, c := range stale {
		x.log.Warn("a result was not written: it was already, or its claim was taken over",
			"notice", c.NoticeID, "device", c.DeviceID, "fence", c.Fence)
	}
	x.settle(t, batches, asked)
	return nil
}

// settle frees the slots of what was written, and answers the asks.
func (x *exchange) settle(t trade, batches []db.Batch, asked time.Time) {
	grants := make([]grant, len(t.asks))
	x.mu.Lock()
	for _, e := range t.entries {
		x.slots.of(e.pool).used[e.class]--
	}
	for i, a := range t.asks {
		grants[i] = grant{slots: t.limits[i], asked: asked}
		if !a.bare {
			grants[i].batch, batches = batches[0], batches[1:]
			grants[i].slots = len(grants[i].batch.Claims)
		}
		x.slots.of(a.pool).used[a.class] -= t.limits[i] - grants[i].slots
	}
	x.mu.Unlock()
	for i, a := range t.asks {
		a.reply <- grants[i]
	}
	for _, e := range t.entries {
		e.recorded()
	}
}

func (x *exchange) undo(t trade, err error) {
	x.mu.Lock()
	x.results = append(t.entries, x.results...)
	for i, a := range t.asks {
		x.slots.of(a.pool).used[a.class] -= t.limits[i]
	}
	x.mu.Unlock()
	for _, a := range t.asks {
		a.reply <- grant{err: err}
	}
}

// isolate writes the results that wait one by one, since the ledger refused them
// together and one must not hold up the others. One that it refuses alone is
// written without the vendor's words, and if that fails too it is given up: its
// lease ends by itself.
func (x *exchange) isolate(shard int) error {
	x.mu.Lock()
	entries := x.results
	x.results = nil
	x.mu.Unlock()
	for i, e := range entries {
		err := x.writeAlone(e.result, shard)
		if db.Unavailable(err) {
			x.mu.Lock()
			x.results = append(entries[i:], x.results...)
			x.mu.Unlock()
			return err
		}
		if err != nil {
			x.log.Error("a result could not be written and is given up", "notice", e.result.Claim.NoticeID,
				"device", e.result.Claim.DeviceID, "outcome", e.result.Outcome, "error", err)
		}
		x.free(e.pool, e.class, 1)
		e.recorded()
	}
	return nil
}

func (x *exchange) writeAlone(r db.Result, shard int) error {
	_, _, err := x.db.Exchange(context.Background(), []db.Result{r}, nil, x.lease, shard)
	if err == nil || db.Unavailable(err) {
		return err
	}
	x.log.Warn("a result is written without the vendor's words", "notice", r.Claim.NoticeID, "device", r.Claim.DeviceID, "error", err)
	r.Code, r.Message, r.MessageID = "", "", ""
	_, _, err = x.db.Exchange(context.Background(), []db.Result{r}, nil, x.lease, shard)
	return err
}

// errDraining is why work stops when the process ends in order.
var errDraining = errors.New("the worker is stopping")
