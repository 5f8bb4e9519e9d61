package jobs

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"

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
	start := time.Now()
	work, err := w.cfg.DB.TakeRange(ctx, ring, w.nextShard())
	if err != nil {
		return 0, err
	}
	task := w.beginTask("tell range", work.Notice.Traceparent, start,
		attribute.Int64("bongsu.notice.id", p.Notice), attribute.Int("bongsu.range.seq", p.Seq), attribute.String("bongsu.scope", work.Scope))
	defer func() { task.end(err) }()
	ctx, cancel := w.workTime(ctx)
	defer cancel()
	defer w.touching(ring)()

	c := &calls{w: w, class: first, task: task}
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
		g := w.claim(ctx, &ask{class: first, pool: poolOf(work.Scope), task: c.task, want: db.Want{Notice: work.Notice.ID, Scope: work.Scope, After: after, Last: work.LastID, Limit: claimSize}})
		if g.err != nil || g.batch.Seen == 0 {
			return n, g.err
		}
		c.begin(g.batch.Claims, text, g.asked)
		n, after = n+len(g.batch.Claims), g.batch.Last
	}
	return n, nil
}

// claim waits for the rate, for call slots and for claims. Calls that the rate
// allowed and that are not needed go back.
func (w *Worker) claim(ctx context.Context, a *ask) grant {
	rate := w.rates.of(a.pool)
	allowed, err := rate.take(ctx, a.want.Limit)
	if err != nil {
		return grant{err: err}
	}
	a.want.Limit = allowed
	g := w.exchange.claim(ctx, a)
	rate.giveBack(allowed - g.slots)
	return g
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
	touchEvery = RangeTouch
	quiet      = RangeQuiet
)
