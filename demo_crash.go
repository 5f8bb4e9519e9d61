package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
)

// When the worker is killed, and how long it stays away.
const (
	killAbove = 3_000 // devices told
	killPause = 5 * time.Second
	killSlack = 2 * time.Second // for what must follow a restart, and the end of a lease
)

// A crash is what followed when the worker was killed.
type crash struct {
	says    atomic.Pointer[string]
	orphans map[int64]bool // devices whose claim died with the worker
	resumed time.Duration  // from the restart to the first call
	freed   time.Duration  // from the kill to the end of the last orphan's doubt
}

func (c *crash) say(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	c.says.Store(&s)
}

// note says what is going on.
func (c *crash) note() string {
	if s := c.says.Load(); s != nil {
		return *s
	}
	return ""
}

// crash kills the worker in the middle, starts another after a pause, and
// watches what comes of it.
func (d *demo) crash(ctx context.Context, c *crash) error {
	err := poll(ctx, runLimit, 5*time.Millisecond, "enough devices are told", func() (bool, error) { return d.sim.Counts().Unique > killAbove, nil })
	if err != nil {
		return err
	}
	d.worker.Signal(syscall.SIGKILL)
	killed := time.Now()
	<-d.worker.Done()
	c.say("the worker was killed at %s told", thousands(int(d.sim.Counts().Unique)))
	select {
	case <-time.After(killPause):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	fences, err := d.claims(ctx) // now, since the dead worker's last commit may have come after it
	if err != nil {
		return err
	}
	c.orphans = map[int64]bool{}
	for device := range fences {
		c.orphans[device] = true
	}
	calls, restarted := d.sim.Counts().Calls, time.Now()
	if err := d.startWorker(ctx); err != nil {
		return err
	}
	err = poll(ctx, time.Minute, 5*time.Millisecond, "a call follows the restart", func() (bool, error) { return d.sim.Counts().Calls > calls, nil })
	if err != nil {
		return err
	}
	c.resumed = time.Since(restarted)
	c.say("the worker is back; %d claims died with the first", len(fences))
	err = poll(ctx, time.Minute, 5*time.Millisecond, "orphaned claims are done", func() (bool, error) {
		left, err := d.undecided(ctx, fences)
		return left == 0, err
	})
	c.freed = time.Since(killed)
	return err
}

// claims gives the claims that are held, by device: the fence of each.
func (d *demo) claims(ctx context.Context) (map[int64]int32, error) {
	rows, err := d.pool.Query(ctx, "SELECT device_id, fence FROM delivery WHERE notice_id = $1 AND status = 'sending'", d.notice)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	fences := map[int64]int32{}
	for rows.Next() {
		var device int64
		var fence int32
		if err := rows.Scan(&device, &fence); err != nil {
			return nil, err
		}
		fences[device] = fence
	}
	return fences, rows.Err()
}

// undecided counts the claims after which no call has had an answer yet.
func (d *demo) undecided(ctx context.Context, fences map[int64]int32) (left int, err error) {
	var devices []int64
	var old []int32
	for device, fence := range fences {
		devices, old = append(devices, device), append(old, fence)
	}
	err = d.pool.QueryRow(ctx, `
		SELECT count(*) FROM unnest($2::bigint[], $3::int[]) o (device_id, fence)
		WHERE NOT EXISTS (SELECT FROM attempt a
			WHERE a.notice_id = $1 AND a.device_id = o.device_id AND a.fence >= o.fence AND a.outcome <> 'lost')`,
		d.notice, devices, old).Scan(&left)
	return left, err
}

// rows adds what followed the kill.
func (c *crash) rows(t *demoTable, lease time.Duration) {
	t.add("sending again after the worker's restart", c.resumed <= killSlack, "at most "+seconds(killSlack), "%s", seconds(c.resumed))
	t.add("orphaned claims done after the kill", c.freed <= lease+killSlack, "at most "+seconds(lease+killSlack),
		"%s, %d claims", seconds(c.freed), len(c.orphans))
}
