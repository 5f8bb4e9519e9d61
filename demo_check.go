package main

import (
	"context"
	"fmt"
	"time"
)

// Reasons as the archive gives them.
const (
	reasonExpired = "token_expired"
	reasonDown    = "vendor_error"
	refusedReplay = "device_disabled"
)

// deviceRows adds what the devices and the archive show after the run.
func (d *demo) deviceRows(ctx context.Context, t *demoTable, x *incident) error {
	c := d.sim.Counts()
	t.add("devices told twice", c.Duplicates == 0, "0", "%d; the ledger marks %d as possibly",
		c.Duplicates, x.final.PossiblyTwice)
	never := demoGood - d.told(kindGood)
	t.add("good devices never told", never == 0, "0 of "+thousands(demoGood), "%d of %s", never, thousands(demoGood))
	failed, err := d.api.archive(ctx, d.notice)
	if err != nil {
		return err
	}
	expired, down := x.count(failed, reasonExpired, 1), x.count(failed, reasonDown, 4)
	t.add("failed devices in the archive", len(failed) == demoExpired+demoDown && expired == demoExpired && down == demoDown,
		fmt.Sprintf("%d: %d after one call, %d after four", demoExpired+demoDown, demoExpired, demoDown),
		"%d: %d %s after one call, %d %s after four", len(failed), expired, reasonExpired, down, reasonDown)
	return nil
}

// count counts the failed with this reason and number of calls. A call that
// died with the worker comes on top.
func (x *incident) count(failed []apiArchived, reason string, calls int) (n int) {
	for _, f := range failed {
		lost := x.crash != nil && x.crash.orphans[f.DeviceID]
		if f.Reason == reason && (f.Attempts == calls || lost && f.Attempts == calls+1) {
			n++
		}
	}
	return n
}

// told counts the devices of a kind that the stand-in told of the notice, each
// once however often that was.
func (d *demo) told(of string) (n int) {
	for i := range demoDevices {
		if kind(i) == of && d.sim.Delivered(d.token(i), d.notice) > 0 {
			n++
		}
	}
	return n
}

// replayRows mends the devices that were down, replays what failed, and adds
// what came of it.
func (d *demo) replayRows(ctx context.Context, t *demoTable) error {
	fmt.Fprintf(d.app.stderr, "mending the %d devices that were down, and replaying all that match\n", demoDown)
	if err := d.sim.Mend(kindDown); err != nil {
		return err
	}
	down, err := d.api.replay(ctx, d.notice, reasonDown)
	if err != nil {
		return err
	}
	err = poll(ctx, time.Minute, 50*time.Millisecond, "the notice is finished again", func() (bool, error) {
		n, err := d.api.notice(ctx, d.notice)
		return n.State == "finished", err
	})
	if err != nil {
		return err
	}
	expired, err := d.api.replay(ctx, d.notice, reasonExpired)
	if err != nil {
		return err
	}
	arrived, twice := d.told(kindDown), d.sim.Counts().Duplicates
	t.add(fmt.Sprintf("replay of all %d %s, mended", down.Matched, reasonDown),
		down.Matched == demoDown && down.Replayed == demoDown && arrived == demoDown && twice == 0,
		fmt.Sprintf("%d arrive, once", demoDown), "%d replayed, %d arrived, %d twice", down.Replayed, arrived, twice)
	refused := expired.Skipped[refusedReplay]
	t.add(fmt.Sprintf("replay of all %d %s", expired.Matched, reasonExpired),
		expired.Replayed == 0 && refused == demoExpired,
		fmt.Sprintf("%d refused: %s", demoExpired, refusedReplay), "%d refused: %s; %d replayed", refused, refusedReplay, expired.Replayed)
	return nil
}
