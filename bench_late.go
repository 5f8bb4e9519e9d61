package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"bongsu/db"
)

// latePrefix begins tokens that are answered 503 until they are mended.
const latePrefix = "down-"

// lateAudience is those who are answered 503 once.
var lateAudience = map[string]any{"platforms": []string{"web"}}

// lateIdle adds devices that fail once and measures how late their retries are.
func (b *bench) lateIdle(ctx context.Context) error {
	err := b.ledger.SeedDevices(ctx, b.sizes.late, func(i int) db.DeviceInput {
		return db.DeviceInput{Token: fmt.Sprintf("%sbench-device-token-%07d", latePrefix, i), Platform: "web"}
	})
	if err != nil {
		return err
	}
	return b.lateness(ctx, "late_idle", "idle system")
}

// lateness sends a notice whose devices all fail at first, and compares when
// each was called again with when it was due.
func (b *bench) lateness(ctx context.Context, key, when string) error {
	if err := b.sim.spoil(ctx, latePrefix); err != nil {
		return err
	}
	n, err := b.api.submit(ctx, b.content(lateAudience))
	if err != nil {
		return err
	}
	due, err := b.dueTimes(ctx, n.ID)
	if err != nil {
		return err
	}
	if err := b.sim.mend(ctx, latePrefix); err != nil {
		return err
	}
	if err := b.finished(ctx, n.ID); err != nil {
		return err
	}
	late, err := b.lateBy(ctx, n.ID, due)
	if err != nil {
		return err
	}
	least, most := slices.Min(late), slices.Max(late)
	b.report.atMost(key, "retry later than due, at most, "+when, most.Seconds(), "s", 0.5, 0.1,
		"%d devices; p50 %.3f s, p99 %.3f s, least %.3f s", len(late), quantile(late, 0.5).Seconds(), quantile(late, 0.99).Seconds(), least.Seconds())
	b.report.atLeast(key+"_never_early", "retry later than due, at least, "+when, least.Seconds(), "s", 0, 0, "never early")
	return nil
}

// dueTimes reads when the first retry of each device is due, as the ledger says
// while it waits for it; zero where it was read too late for that. A retry that is
// made while the breaker is open may be put off, and has a new time after it.
func (b *bench) dueTimes(ctx context.Context, notice int64) (map[int64]time.Time, error) {
	due := make(map[int64]time.Time)
	deadline := time.Now().Add(stalled)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(due) < b.sizes.late {
		rows, err := b.pool.Query(ctx, `
			SELECT device_id, CASE WHEN attempts = 1 THEN wake_at END FROM delivery
			WHERE notice_id = $1 AND status = 'pending' AND charged = 1`, notice)
		if err != nil {
			return nil, err
		}
		var id int64
		var at *time.Time
		_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
			if _, known := due[id]; !known {
				due[id] = timeOf(at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d of %d devices failed at first", len(due), b.sizes.late)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return due, nil
}

// timeOf gives the time, or zero for none.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// lateBy gives how long after its due time each device was called again.
func (b *bench) lateBy(ctx context.Context, notice int64, due map[int64]time.Time) (late []time.Duration, err error) {
	rows, err := b.pool.Query(ctx, `
		SELECT device_id, started_at FROM (
			SELECT device_id, started_at, row_number() OVER (PARTITION BY device_id ORDER BY fence) AS nth
			FROM attempt WHERE notice_id = $1) a
		WHERE nth = 2`, notice)
	if err != nil {
		return nil, err
	}
	var id int64
	var at time.Time
	again := 0
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		again++
		if first := due[id]; !first.IsZero() {
			late = append(late, at.Sub(first))
		}
		return nil
	})
	switch {
	case err != nil:
	case again != len(due):
		err = fmt.Errorf("%d of %d devices were called again", again, len(due))
	case len(late) < len(due)/2:
		err = fmt.Errorf("the due times of %d of %d devices were read too late", len(due)-len(late), len(due))
	}
	return late, err
}

// underLoad measures retries and acceptance while everybody is being told.
func (b *bench) underLoad(ctx context.Context) error {
	return b.whileSending(ctx, func(ctx context.Context) error {
		if err := b.lateness(ctx, "late_busy", "while sending at full rate"); err != nil {
			return err
		}
		return b.acceptBusy(ctx)
	})
}

// whileSending tells everybody, over and over, while f runs, and reports how
// fast that went.
func (b *bench) whileSending(ctx context.Context, f func(context.Context) error) error {
	if err := b.sim.reset(ctx); err != nil {
		return err
	}
	load, cancel := context.WithCancel(ctx)
	defer cancel()
	var contents []map[string]any // made here: the texts have one counter
	for range 50 {
		contents = append(contents, b.content(everybody))
	}
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- b.tellAgain(load, contents, started) }()
	select {
	case <-started:
	case err := <-ended:
		return err
	}
	start := time.Now()
	err := f(ctx)
	took := time.Since(start)
	counts, countErr := b.sim.counts(ctx)
	cancel()
	if err := errors.Join(err, countErr, <-ended); err != nil {
		return err
	}
	b.report.add("busy_rate", "full rate meanwhile", float64(counts.Calls)/took.Seconds(), "/s", "instant vendor, %.1f s", took.Seconds())
	return nil
}

// tellAgain submits one notice after another until ctx ends, then cancels the
// last one and waits for its end. It closes started with the first.
func (b *bench) tellAgain(ctx context.Context, contents []map[string]any, started chan struct{}) error {
	after := context.WithoutCancel(ctx)
	for i, content := range contents {
		n, err := b.api.submit(after, content)
		if err != nil {
			return err
		}
		if i == 0 {
			close(started)
		}
		err = b.finished(ctx, n.ID)
		if ctx.Err() != nil {
			if err := b.api.cancel(after, n.ID); err != nil && !b.isOver(after, n.ID) {
				return err
			}
			return b.finished(after, n.ID)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the load ended before the measurement")
}

// isOver tells whether a notice has ended by itself.
func (b *bench) isOver(ctx context.Context, id int64) bool {
	n, err := b.api.notice(ctx, id)
	return err == nil && n.State == db.Finished
}
