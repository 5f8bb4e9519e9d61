package jobs

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"bongsu/db"
)

// retryPayload is what a retry task carries: not which deliveries, but that some
// of the notice are due. The ledger knows which.
type retryPayload struct {
	Notice int64  `json:"notice"`
	Scope  string `json:"scope"`
	Ring   int64  `json:"ring"`
}

func (p retryPayload) String() string {
	return fmt.Sprintf("notice %d %s retry %d", p.Notice, p.Scope, p.Ring)
}

// retryTask calls for up to 200 deliveries of a notice in one scope whose time has come, the
// longest waiting first, and tells how many. Running it again claims only what
// is due then.
func (w *Worker) retryTask(ctx context.Context, p retryPayload) (n int, err error) {
	start := time.Now()
	text, err := w.texts.get(ctx, p.Notice)
	if err != nil {
		return 0, err
	}
	ctx, cancel := w.workTime(ctx)
	defer cancel()
	w.exchange.expectRetries(poolOf(p.Scope), time.Now().Add(retryExpected))
	task := w.beginTask("tell retries", text.traceparent, start, attribute.Int64("bongsu.notice.id", p.Notice), attribute.String("bongsu.scope", p.Scope))
	defer func() { task.end(err) }()
	c := &calls{w: w, class: retry, task: task}
	defer c.group.Wait()
	for seen := 0; seen < retrySize; {
		want := min(claimSize, retrySize-seen)
		g := w.claim(ctx, &ask{class: retry, pool: poolOf(p.Scope), task: task, want: db.Want{Notice: p.Notice, Scope: p.Scope, Due: true, Limit: want}})
		if g.err != nil || g.batch.Seen == 0 {
			return n, g.err
		}
		c.begin(g.batch.Claims, text, g.asked)
		n, seen = n+len(g.batch.Claims), seen+g.batch.Seen
	}
	return n, nil
}
