package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// one is the audience of a single device.
var one = map[string]any{"tags": []string{"one"}}

// firstCalls measures how soon the first device of a notice is called.
func (b *bench) firstCalls(ctx context.Context) error {
	var waits []time.Duration
	for range b.sizes.rounds {
		r, err := b.tell(ctx, everybody, b.sizes.small, b.refused())
		if err != nil {
			return err
		}
		waits = append(waits, r.firstCall.Sub(r.AcceptedAt))
	}
	b.reportFirstCall("first_call", fmt.Sprintf("a notice to %d", b.sizes.small), waits)
	return nil
}

func (b *bench) reportFirstCall(key, whom string, waits []time.Duration) {
	b.report.atMost(key, "first call after acceptance, idle system, "+whom, quantile(waits, 0.5).Seconds(), "s", 0.5, 0.1,
		"median of %d; at most %.3f s; by the stand-in's clock", len(waits), slices.Max(waits).Seconds())
}

// acceptIdle measures acceptance, each on an idle system, and the first call of
// a notice whose one device is among many.
func (b *bench) acceptIdle(ctx context.Context) error {
	var waits []time.Duration
	accept := func() (time.Duration, error) {
		r, err := b.tell(ctx, one, 1, 0)
		waits = append(waits, r.firstCall.Sub(r.AcceptedAt))
		return r.answer, err
	}
	if err := b.acceptance(ctx, "accept_idle", "idle system", accept); err != nil {
		return err
	}
	b.reportFirstCall("first_call_one", fmt.Sprintf("a notice to 1 of %d", b.seeded), waits)
	return nil
}

// acceptBusy measures acceptance while others are told.
func (b *bench) acceptBusy(ctx context.Context) error {
	return b.acceptance(ctx, "accept_busy", "while sending at full rate", func() (time.Duration, error) {
		content := b.content(one)
		start := time.Now()
		_, err := b.api.submit(ctx, content)
		return time.Since(start), err
	})
}

// acceptance reports the median of accept, with a one-row INSERT after each as
// the measure of what the database can do in the same phase.
func (b *bench) acceptance(ctx context.Context, key, when string, accept func() (time.Duration, error)) error {
	var accepts, inserts []time.Duration
	for range b.sizes.accepts {
		d, err := accept()
		if err != nil {
			return err
		}
		accepts = append(accepts, d)
		start := time.Now()
		if _, err := b.pool.Exec(ctx, "INSERT INTO bench_row (note) VALUES ('one row')"); err != nil {
			return err
		}
		inserts = append(inserts, time.Since(start))
	}
	insert := millis(quantile(inserts, 0.5))
	b.report.atMost(key, "accept through the API, "+when, millis(quantile(accepts, 0.5)), "ms", max(5*insert, 10), 3*insert,
		"median of %d, p99 %.1f ms; a one-row INSERT and commit beside it took %.2f ms", len(accepts), millis(quantile(accepts, 0.99)), insert)
	return nil
}

// quantile gives the value below which the share q of all lies.
func quantile(all []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
