package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// bell enqueues tasks. A task's id ends in a ring number that the ledger keeps:
// the same ring twice is one task, and to ring again is to raise the number.
type bell struct {
	redis     redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
	limit     time.Duration // one word with Redis
	taskLimit time.Duration
}

func newBell(cfg Config) *bell {
	return &bell{
		redis: cfg.Redis, client: asynq.NewClientFromRedisClient(cfg.Redis),
		inspector: asynq.NewInspectorFromRedisClient(cfg.Redis), limit: cfg.Enqueue, taskLimit: cfg.TaskLimit,
	}
}

// ring enqueues one task. That its id is taken already is success: the same ring
// was enqueued before, and only the answer was lost.
func (b *bell) ring(ctx context.Context, queue, kind, id string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	_, err = b.client.EnqueueContext(ctx, asynq.NewTask(kind, raw), asynq.Queue(queue), asynq.TaskID(id),
		asynq.MaxRetry(0), asynq.Timeout(b.taskLimit))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// waiting tells how many tasks of a queue are not done.
func (b *bell) waiting(queue string) (int, error) {
	info, err := queueInfo(b.inspector, queue)
	if err != nil {
		return 0, fmt.Errorf("redis: %v", err) //nolint:errorlint // as a word alone: trouble with Redis must not pass for Postgres being away
	}
	if info == nil {
		return 0, nil
	}
	return info.Pending + info.Active, nil
}

// queueInfo reads the state of a queue; nil where Redis does not know it, which
// asynq's own error does not tell apart from others.
func queueInfo(i *asynq.Inspector, queue string) (*asynq.QueueInfo, error) {
	known, err := i.Queues()
	if err != nil || !slices.Contains(known, queue) {
		return nil, err
	}
	return i.GetQueueInfo(queue)
}

// epochKey is a key of our own in Redis: where it is missing, Redis was emptied
// or is another one, and the tasks that were rung are gone.
const epochKey = "bongsu:epoch"

// emptied tells whether Redis has lost what was rung, and marks it as known.
func (b *bell) emptied(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	fresh, err := b.redis.SetNX(ctx, epochKey, time.Now().UTC().Format(time.RFC3339Nano), 0).Result()
	return fresh, err
}

func rangeID(p rangePayload) string   { return fmt.Sprintf("range:%d:%d:%d", p.Notice, p.Seq, p.Ring) }
func retryID(p retryPayload) string   { return fmt.Sprintf("retry:%d:%d", p.Notice, p.Ring) }
func testID(p testPayload) string     { return fmt.Sprintf("test:%d:%d", p.ID, p.Ring) }
func importID(p importPayload) string { return fmt.Sprintf("import:%d:%d", p.ID, p.Ring) }
