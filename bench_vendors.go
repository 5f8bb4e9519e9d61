package main

import (
	"context"
	"fmt"
	"time"
)

// The latency of the slow vendor.
const (
	slowLatency = 30 * time.Millisecond
	slowJitter  = 10 * time.Millisecond
)

// slowVendor compares at 30±10 ms.
func (b *bench) slowVendor(ctx context.Context) error {
	if err := b.seed(ctx, b.sizes.slow); err != nil {
		return err
	}
	if err := b.sim.latency(ctx, slowLatency, slowJitter); err != nil {
		return err
	}
	c, err := b.compare(ctx, "slow", b.sizes.slow)
	if err != nil {
		return err
	}
	b.report.atLeast("ratio_slow", fmt.Sprintf("30±10 ms vendor, %d in flight, %d devices: share of the bare loop", b.sizes.inFlight, c.n),
		c.ratio(), "", 0.80, 0.95, "%s", c.detail())
	return b.sequential(ctx, "sequential_slow", "30±10 ms", c.bare())
}

// fastVendor compares at a vendor that answers at once.
func (b *bench) fastVendor(ctx context.Context) error {
	if err := b.seed(ctx, b.sizes.fast); err != nil {
		return err
	}
	if err := b.sim.latency(ctx, 0, 0); err != nil {
		return err
	}
	c, err := b.compare(ctx, "fast", b.sizes.fast)
	if err != nil {
		return err
	}
	b.fastRatio, b.large = c.ratio(), c.run
	b.report.atLeast("ratio_fast", fmt.Sprintf("instant vendor, %d in flight, %d devices: share of the bare loop", b.sizes.inFlight, c.n),
		c.ratio(), "", 0.35, 0.60, "%s", c.detail())
	if err := b.sequential(ctx, "sequential_fast", "instant", c.bare()); err != nil {
		return err
	}
	return b.memory(ctx, fmt.Sprintf("after %d devices", c.n), "")
}

// millionDevices compares with a large audience. The bare loop, which takes the
// same time for each call however many there are, is run with fewer.
func (b *bench) millionDevices(ctx context.Context) error {
	const what = "1,000,000 devices, instant vendor: share of the bare loop"
	if b.sizes.million == 0 {
		why := "not measured: ask with --million"
		b.report.absent("ratio_million", what, why)
		b.report.absent("memory_million", "memory of the process at 1,000,000", why)
		b.report.absent("memory_ever_million", "memory of the process since its start, at 1,000,000", why)
		b.report.absent("redis_million", "Redis memory at 1,000,000", why)
		return nil
	}
	if err := b.seed(ctx, b.sizes.million); err != nil {
		return err
	}
	c, err := b.compare(ctx, "million", b.sizes.fast)
	if err != nil {
		return err
	}
	b.large = c.run
	b.report.atLeast("ratio_million", what, c.ratio(), "", 0.75*b.fastRatio, b.fastRatio,
		"%d devices, bare loop with %d calls; %s", c.n, b.sizes.fast, c.detail())
	return b.memory(ctx, fmt.Sprintf("at %d devices", c.n), "_million")
}

// sequential is a sender with one call at a time, for scale.
func (b *bench) sequential(ctx context.Context, key, vendor string, bare float64) error {
	perSecond, err := b.bare(ctx, b.sizes.sequential, 1)
	if err == nil {
		b.report.add(key, vendor+" vendor: one call after another", perSecond, "/s",
			"%d calls; %.4f of the bare loop", b.sizes.sequential, perSecond/bare)
	}
	return err
}
