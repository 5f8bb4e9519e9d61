package jobs

import (
	"context"
	"fmt"
	"time"

	"bongsu/db"
)

// rangePayload is what a range task carries.
type rangePayload struct {
	Notice int64 `json:"notice"`
	Seq    int   `json:"seq"`
	Ring   int64 `json:"ring"`
}

func (p rangePayload) String() string {
	return fmt.Sprintf("notice %d range %d ring %d", p.Notice, p.Seq, p.Ring)
}

// rangeTask tells the devices of one range: it creates their deliveries, claims
// as many as there are free call slots, calls, and goes on until none is left.
// It tells how many calls it made. It ends early, without harm, when the notice
// is not being sent any more, the vendor is paused, the worker stops or its time
// is up. Running it again creates nothing twice and claims only what still waits.
func (w *Worker) rangeTask(ctx context.Context, p rangePayload) (n int, err error) {
	ring := db.Ring{NoticeID: p.Notice, Seq: p.Seq, Ring: p.Ring}
	work, err := w.cfg.DB.TakeRange(ctx, ring, w.nextShard())
	if err != nil {
		return 0, err
	}
	ctx, cancel := w.workTime(ctx)
	defer cancel()
	defer w.touching(ring)()

	c := &calls{w: w, class: first}
	n, err = w.tellRange(ctx, c, work)
	c.group.Wait()
	after := context.WithoutCancel(ctx)
	done, endErr := w.cfg.DB.EndRange(after, ring)
	if endErr != nil {
		return n, endErr
	}
	if !done && ctx.Err() != nil {
		return n, w.cfg.DB.LeaveRange(after, ring)
	}
	return n, err
}

// tellRange claims and calls from the start of the range to its end.
func (w *Worker) tellRange(ctx context.Context, c *calls, work db.RangeWork) (n int, err error) {
	text := contentOf(work.Notice)
	after := work.FirstID - 1
	for after < work.LastID {
		b, err := w.claim(ctx, first, claimSize, func(limit int) (db.Batch, error) {
			return w.cfg.DB.ClaimRange(context.WithoutCancel(ctx), work.Notice.ID, after, work.LastID, limit, w.cfg.Lease, w.nextShard())
		}, func(claims []db.Claim, asked time.Time) { c.begin(claims, text, asked) })
		if err != nil || b.Seen == 0 {
			return n, err
		}
		n, after = n+len(b.Claims), b.Last
	}
	return n, nil
}

// claim waits for the rate and for call slots, claims with ask as many as it got,
// and hands the claims to begin. What was not needed goes back.
func (w *Worker) claim(ctx context.Context, c class, want int, ask func(limit int) (db.Batch, error),
	begin func([]db.Claim, time.Time)) (db.Batch, error) {
	allowed, err := w.rate.take(ctx, want)
	if err != nil {
		return db.Batch{}, err
	}
	got, err := w.slots.take(ctx, c, allowed)
	if err != nil {
		w.rate.giveBack(allowed)
		return db.Batch{}, err
	}
	asked := time.Now()
	b, err := ask(got)
	w.rate.giveBack(allowed - len(b.Claims))
	w.slots.free(c, got-len(b.Claims))
	if err == nil {
		begin(b.Claims, asked)
	}
	return b, err
}

// workTime gives a task the time in which it may claim: it ends before asynq
// would end the task, and when the worker stops.
func (w *Worker) workTime(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.TaskLimit-2*w.cfg.CallTimeout)
	stop := context.AfterFunc(w.draining, cancel)
	return ctx, func() { stop(); cancel() }
}

// touching keeps saying that a worker is at the range, until the returned
// function is called.
func (w *Worker) touching(ring db.Ring) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(touchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := w.cfg.DB.TouchRange(ctx, ring); err != nil && ctx.Err() == nil {
					w.log.Warn("a range was not touched", "notice", ring.NoticeID, "range", ring.Seq, "error", err)
				}
			}
		}
	}()
	return cancel
}

// touchEvery is how often a task says that it is at its range. A range that
// nobody touched for quiet is rung again.
const (
	touchEvery = time.Second
	quiet      = 4 * time.Second
)
