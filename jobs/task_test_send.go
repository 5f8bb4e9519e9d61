package jobs

import (
	"context"
	"fmt"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// testPayload is what the task of a test send carries.
type testPayload struct {
	ID   int64 `json:"id"`
	Ring int64 `json:"ring"`
}

func (p testPayload) String() string { return fmt.Sprintf("test send %d ring %d", p.ID, p.Ring) }

// testPool is the pool of test sends: their devices are in any scope.
const testPool = "test"

// testTask makes the calls of a test send, one to each device and none again.
// Running it again calls only those that nobody has claimed.
func (w *Worker) testTask(ctx context.Context, p testPayload) (n int, err error) {
	ctx, cancel := w.workTime(ctx)
	defer cancel()
	for {
		g := w.claim(ctx, &ask{class: retry, pool: testPool, bare: true, want: db.Want{Limit: 1}})
		if g.err != nil {
			return n, g.err
		}
		told, err := w.testOne(context.WithoutCancel(ctx), p.ID)
		w.exchange.free(testPool, retry, g.slots)
		if err != nil || !told {
			return n, err
		}
		n++
	}
}

// testOne claims one device of a test send, calls and records.
func (w *Worker) testOne(ctx context.Context, id int64) (told bool, err error) {
	claims, err := w.cfg.DB.ClaimTestSend(ctx, id, 1, w.cfg.Lease)
	if err != nil || len(claims) == 0 {
		return false, err
	}
	c := claims[0]
	r := push.ResultOf(w.send(push.Message{
		DeviceID: c.DeviceID, Key: fmt.Sprintf("t%d-d%d-k1", c.TestSendID, c.DeviceID), Address: addressOf(c.Address),
		Platform: c.Platform, Title: c.Title, Body: c.Body, Link: c.Link,
		ExpiresAt: time.Now().Add(time.Hour), CollapseID: fmt.Sprintf("test-%d", c.TestSendID),
	}))
	out := db.TestResult{TestSendID: c.TestSendID, DeviceID: c.DeviceID, Fence: c.Fence, Status: "failed",
		Reason: string(r.Reason), Code: r.Code, Message: r.Message}
	switch {
	case r.Outcome == push.Sent:
		out.Status = "sent"
	case r.Doubt:
		out.Status = "unknown"
	}
	return true, w.cfg.DB.RecordTestSend(ctx, []db.TestResult{out})
}
