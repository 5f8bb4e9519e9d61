package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/jobs/push"
)

// taskPerDevice measures the other shape that a sender can have: one task for
// each device, and around each call two commits of one row.
func (b *bench) taskPerDevice(ctx context.Context) error {
	for _, v := range []struct {
		key, name       string
		latency, jitter time.Duration
	}{{"slow", "30±10 ms", slowLatency, slowJitter}, {"fast", "instant", 0, 0}} {
		if err := b.sim.latency(ctx, v.latency, v.jitter); err != nil {
			return err
		}
		bare, err := b.bare(ctx, b.sizes.perDevice, b.sizes.inFlight)
		if err != nil {
			return err
		}
		took, err := b.runShape(ctx)
		if err != nil {
			return err
		}
		perSecond := float64(b.sizes.perDevice) / took.Seconds()
		b.report.add("per_device_"+v.key, v.name+" vendor, the other shape: a task for each device, two commits around each call",
			perSecond, "/s", "%d devices; %.3f of the bare loop", b.sizes.perDevice, perSecond/bare)
	}
	return nil
}

// shapeQueue is a queue that the product's workers do not look at.
const shapeQueue = "bench"

// A shape is one run of that sender, with a table and a queue of its own.
type shape struct {
	pool   *pgxpool.Pool
	vendor push.Vendor
	left   atomic.Int64
	done   chan error // one value: nil when all are told
	failed sync.Once
}

// runShape tells all devices of that sender and gives the time from the first
// row made to the last one recorded.
func (b *bench) runShape(ctx context.Context) (took time.Duration, err error) {
	if err := b.sim.reset(ctx); err != nil {
		return 0, err
	}
	cfg := b.pool.Config().Copy()
	cfg.MaxConns = workConns
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, `
		DROP TABLE IF EXISTS bench_delivery;
		CREATE TABLE bench_delivery (device_id bigint PRIMARY KEY, status text NOT NULL, fence int NOT NULL DEFAULT 0,
			updated_at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 45)`); err != nil {
		return 0, err
	}
	s := &shape{pool: pool, vendor: b.vendor, done: make(chan error, 1)}
	s.left.Store(int64(b.sizes.perDevice))
	srv := asynq.NewServerFromRedisClient(b.redis, asynq.Config{
		Concurrency: b.sizes.inFlight, Queues: map[string]int{shapeQueue: 1}, TaskCheckInterval: 50 * time.Millisecond, LogLevel: asynq.FatalLevel,
	})
	if err := srv.Start(asynq.HandlerFunc(s.handle)); err != nil {
		return 0, err
	}
	defer srv.Shutdown()
	start := time.Now()
	if err := s.fill(ctx, asynq.NewClientFromRedisClient(b.redis), b.sizes.perDevice); err != nil {
		return 0, err
	}
	select {
	case err := <-s.done:
		return time.Since(start), err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// fill makes the rows and enqueues a task for each, several at a time.
func (s *shape) fill(ctx context.Context, client *asynq.Client, n int) error {
	if _, err := s.pool.Exec(ctx, `
		INSERT INTO bench_delivery (device_id, status) SELECT i, 'pending' FROM generate_series(1, $1::bigint) i`, n); err != nil {
		return err
	}
	const enqueuers = 8
	problems := make([]error, enqueuers)
	var group sync.WaitGroup
	for e := range enqueuers {
		group.Go(func() {
			for i := e + 1; i <= n && problems[e] == nil; i += enqueuers {
				payload := binary.BigEndian.AppendUint64(nil, uint64(i))
				_, problems[e] = client.EnqueueContext(ctx, asynq.NewTask("bench:device", payload), asynq.Queue(shapeQueue), asynq.MaxRetry(0))
			}
		})
	}
	group.Wait()
	return cmp.Or(problems...)
}

// handle claims one device, calls, and records. Running it again claims nothing.
func (s *shape) handle(ctx context.Context, t *asynq.Task) error {
	err := s.tell(ctx, int64(binary.BigEndian.Uint64(t.Payload())))
	if err != nil {
		s.failed.Do(func() { s.done <- err })
	}
	return err
}

func (s *shape) tell(ctx context.Context, device int64) error {
	claimed, err := s.pool.Exec(ctx, `
		UPDATE bench_delivery SET status = 'sending', fence = fence + 1, updated_at = now()
		WHERE device_id = $1 AND status = 'pending'`, device)
	if err != nil || claimed.RowsAffected() == 0 {
		return err
	}
	number := strconv.FormatInt(device, 10)
	result, err := s.vendor.Send(ctx, push.Message{
		NoticeID: 1, DeviceID: device, Key: "n1-d" + number + "-k1",
		Address:  push.Address{Kind: push.KindHTTP, Token: "bench-device-token-" + number},
		Platform: "android", Title: "점검 안내",
		Body:      "오늘 밤 2시부터 4시까지 점검이 있습니다. 그동안 이용할 수 없습니다.",
		ExpiresAt: time.Now().Add(time.Hour), CollapseID: "1",
	})
	if err == nil && result.Outcome != push.Sent {
		err = fmt.Errorf("device %d was not sent: %s", device, result.Outcome)
	}
	if err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, `
		UPDATE bench_delivery SET status = 'sent', updated_at = now()
		WHERE device_id = $1 AND status = 'sending'`, device); err != nil {
		return err
	}
	if s.left.Add(-1) == 0 {
		s.failed.Do(func() { s.done <- nil })
	}
	return nil
}
