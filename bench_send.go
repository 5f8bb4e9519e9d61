package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bongsu/db"
	"bongsu/jobs/push/bareloop"
)

// seed adds good devices until there are n of them. Every tenth of the first
// ones is refused for good by the vendor, so that the archive has something.
func (b *bench) seed(ctx context.Context, n int) error {
	from := b.seeded
	err := b.ledger.SeedDevices(ctx, n-from, func(i int) db.DeviceInput {
		i += from
		d := db.DeviceInput{Token: fmt.Sprintf("bench-device-token-%07d", i), Platform: "android"}
		if i < b.sizes.small && i%10 == 9 {
			d.Token = "bad-" + d.Token
		}
		if i == 0 {
			d.Tags = &[]string{"one"}
		}
		return d
	})
	b.seeded = n
	return err
}

// refused is how many of the seeded devices the vendor refuses for good.
func (b *bench) refused() int { return b.sizes.small / 10 }

// content is a notice of ordinary size that was not sent before.
func (b *bench) content(audience map[string]any) map[string]any {
	b.tells++
	return map[string]any{
		"title": fmt.Sprintf("점검 안내 %d", b.tells),
		"body":  "오늘 밤 2시부터 4시까지 점검이 있습니다. 그동안 이용할 수 없습니다.",
		"link":  "https://example.com/notices/1", "audience": audience,
	}
}

// everybody is the audience of the seeded devices.
var everybody = map[string]any{"platforms": []string{"android"}}

// A noticeRun is one notice from acceptance to its end.
type noticeRun struct {
	benchNotice
	answer    time.Duration // until the submit was answered
	firstCall time.Time     // by the stand-in
	lastCall  time.Time
	recorded  time.Time // the last delivery, by the ledger
}

// whole is the product's time; calls is from the first call to the last one.
func (r noticeRun) whole() time.Duration { return r.recorded.Sub(r.AcceptedAt) }
func (r noticeRun) calls() time.Duration { return r.lastCall.Sub(r.firstCall) }

// tell sends a notice to audience and waits until it is finished. It fails where
// the result is not what it must be: everybody told once, but for refused ones.
func (b *bench) tell(ctx context.Context, audience map[string]any, total, refused int) (r noticeRun, err error) {
	if err := b.sim.reset(ctx); err != nil {
		return r, err
	}
	start := time.Now()
	if r.benchNotice, err = b.api.submit(ctx, b.content(audience)); err != nil {
		return r, err
	}
	r.answer = time.Since(start)
	if err := b.finished(ctx, r.ID); err != nil {
		return r, err
	}
	counts, err := b.sim.counts(ctx)
	if err != nil {
		return r, err
	}
	if r.benchNotice, err = b.api.notice(ctx, r.ID); err != nil {
		return r, err
	}
	if c := r.Counts; c.Total != total || c.Sent != total-refused || c.Failed != refused || counts.Duplicates != 0 || counts.Unique != int64(c.Sent) {
		return r, fmt.Errorf("notice %d to %d devices ended wrong: %+v; the vendor counted %+v", r.ID, total, c, counts)
	}
	r.firstCall, r.lastCall = *counts.FirstCallAt, *counts.LastCallAt
	err = b.pool.QueryRow(ctx, "SELECT max(updated_at) FROM delivery WHERE notice_id = $1", r.ID).Scan(&r.recorded)
	return r, err
}

// stalled is how long a notice may stand still until the benchmark gives up.
const stalled = 2 * time.Minute

// finished waits until a notice has ended and nothing of it is under way.
func (b *bench) finished(ctx context.Context, id int64) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	moved := time.Now()
	for last := int64(-1); ; {
		var settled bool
		var done int64
		if err := b.pool.QueryRow(ctx, `
			SELECT n.settled_at IS NOT NULL, coalesce(sum(c.sent + c.failed + c.skipped + c.attempts), 0)::bigint
			FROM notice n LEFT JOIN notice_counter c ON c.notice_id = n.id WHERE n.id = $1 GROUP BY n.id`, id).Scan(&settled, &done); err != nil {
			return err
		}
		if settled {
			return nil
		}
		if done != last {
			moved, last = time.Now(), done
		}
		if time.Since(moved) > stalled {
			return fmt.Errorf("notice %d has stood still for %v", id, stalled)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// bare gives the calls per second of the bare loop.
func (b *bench) bare(ctx context.Context, n, inFlight int) (perSecond float64, err error) {
	if err := b.sim.reset(ctx); err != nil {
		return 0, err
	}
	elapsed, sent := bareloop.Loop(ctx, b.vendor, n, inFlight)
	if sent != n {
		return 0, errors.Join(ctx.Err(), fmt.Errorf("the bare loop sent %d of %d", sent, n))
	}
	return float64(n) / elapsed.Seconds(), nil
}

// A comparison is the product between two bare loops.
type comparison struct {
	run           noticeRun
	n             int
	before, after float64 // calls per second of the bare loops
	cpu           string  // what the parts took for the product's run
}

func (c comparison) bare() float64    { return (c.before + c.after) / 2 }
func (c comparison) product() float64 { return float64(c.n) / c.run.whole().Seconds() }

// ratio is the bare loop's time through the product's, for the same calls.
func (c comparison) ratio() float64 { return c.product() / c.bare() }

// compare tells all n seeded devices, between two bare loops of bareN calls.
func (b *bench) compare(ctx context.Context, name string, bareN int) (c comparison, err error) {
	c.n = b.seeded
	if c.before, err = b.bare(ctx, bareN, b.sizes.inFlight); err != nil {
		return c, err
	}
	if err := b.forgetPeak(); err != nil {
		return c, err
	}
	started, err := b.cpuTimes()
	if err != nil {
		return c, err
	}
	err = b.profile.during(ctx, name, func() error {
		c.run, err = b.tell(ctx, everybody, c.n, b.refused())
		return err
	})
	if err != nil {
		return c, err
	}
	ended, err := b.cpuTimes()
	if err != nil {
		return c, err
	}
	c.cpu = ended.since(started)
	c.after, err = b.bare(ctx, bareN, b.sizes.inFlight)
	return c, err
}

func (c comparison) detail() string {
	return fmt.Sprintf("%.0f/s (from first to last call %.0f/s) where the bare loop reached %.0f/s before and %.0f/s after; %s",
		c.product(), float64(c.n)/c.run.calls().Seconds(), c.before, c.after, c.cpu)
}
