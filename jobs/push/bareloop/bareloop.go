// Package bareloop is what a sender is measured against: calls to a vendor with
// a number of them in flight, and nothing else. It keeps no ledger, retries
// nothing and remembers nobody.
package bareloop

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bongsu/jobs/push"
)

// Loop tells n devices one notice by n calls, inFlight of them at once, and
// gives the time from the first call to the last answer and how many were sent.
// It ends early with ctx.
func Loop(ctx context.Context, vendor push.Vendor, n, inFlight int) (elapsed time.Duration, sent int) {
	var next, ok atomic.Int64
	var workers sync.WaitGroup
	start := time.Now()
	for range min(inFlight, n) {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n) && ctx.Err() == nil; i = next.Add(1) {
				if r := push.ResultOf(vendor.Send(ctx, message(i, start))); r.Outcome == push.Sent {
					ok.Add(1)
				}
			}
		})
	}
	workers.Wait()
	return time.Since(start), int(ok.Load())
}

// message is of the size of an ordinary notice.
func message(device int64, start time.Time) push.Message {
	number := strconv.FormatInt(device, 10)
	return push.Message{
		NoticeID: 1, DeviceID: device, Key: "n1-d" + number + "-k1",
		Address: push.Address{Kind: push.KindHTTP, Token: "bare-loop-device-token-" + number}, Platform: "android",
		Title: "점검 안내", Body: "오늘 밤 2시부터 4시까지 점검이 있습니다. 그동안 이용할 수 없습니다.",
		Link: "https://example.com/notices/1", ExpiresAt: start.Add(24 * time.Hour), CollapseID: "1",
	}
}
