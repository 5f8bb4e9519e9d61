package jobs

import (
	"context"
	"errors"
	"time"

	"bongsu/db"
)

// Sizes of what one round of keeping takes on.
const (
	freeAtOnce  = 1000
	moveAtOnce  = 1000
	replayBatch = 1000
	replaySteps = 10
	closeSteps  = 10
	endQuiet    = 1500 * time.Millisecond
	testStale   = 10 * time.Second
	importStale = time.Minute
	tidyEvery   = time.Minute
)

// keep puts the ledger in order: each step does nothing where there is nothing
// to do, and the next round goes on where this one ended. One that fails keeps none
// of the others from its turn.
func (f *Feeder) keep(ctx context.Context, t db.Term) error {
	steps := []func(context.Context, db.Term) error{f.freeLeases, f.followMoves, f.endRanges, f.replays, f.testSends, f.imports, f.cfg.DB.KeepPace, f.closeAndFinish,
		f.cfg.DB.CleanImports, f.cfg.DB.EstimateAudience, f.tidy}
	var failed error
	for _, step := range steps {
		err := step(ctx, t)
		failed = errors.Join(failed, err)
		if db.CauseOf(err) != db.NoCause { // nor can the others do anything
			break
		}
	}
	return failed
}

// freeLeases takes back the claims of workers that died. After trouble with
// Postgres it waits, so that live workers can record what they know.
func (f *Feeder) freeLeases(ctx context.Context, t db.Term) error {
	if f.rest.lasts() {
		return nil
	}
	s, err := f.cfg.DB.FreeLeases(ctx, t, f.cfg.Lease, f.cfg.Hold, freeAtOnce)
	if err == nil && s != (db.Swept{}) {
		f.log.Warn("claims of a worker that died were taken back", "waiting_again", s.Freed, "failed", s.Failed, "unknown", s.Unknown)
	}
	return err
}

// followMoves takes what waits for devices that went to another scope there.
func (f *Feeder) followMoves(ctx context.Context, t db.Term) error {
	_, err := f.cfg.DB.FollowMoves(ctx, t, moveAtOnce)
	return err
}

// endRanges closes quiet ranges that are through and rings the others again.
func (f *Feeder) endRanges(ctx context.Context, t db.Term) error {
	if err := f.cfg.DB.EndQuietRanges(ctx, t, endQuiet); err != nil {
		return err
	}
	n, err := f.cfg.DB.RingStale(ctx, t, quiet, false)
	if n > 0 {
		f.log.Info("ranges that nobody worked on were rung again", "ranges", n)
	}
	return err
}

// replays puts the next archived deliveries back, the oldest replay first.
func (f *Feeder) replays(ctx context.Context, t db.Term) error {
	ids, err := f.cfg.DB.OpenReplays(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	for range replaySteps {
		done, err := f.cfg.DB.StepReplay(ctx, t, ids[0], replayBatch)
		if errors.Is(err, db.ErrNotFound) { // paused or cancelled meanwhile
			return nil
		}
		if err != nil || done {
			return err
		}
	}
	return nil
}

// testSends rings test sends that have calls to make.
func (f *Feeder) testSends(ctx context.Context, t db.Term) error {
	rings, err := f.cfg.DB.OpenTestSends(ctx, t, testStale)
	if err != nil || len(rings) == 0 {
		return err
	}
	for _, r := range rings {
		p := testPayload{ID: r.ID, Ring: r.Ring}
		if err := f.bell.ring(ctx, queuePush, typeTest, testID(p), p); err != nil {
			return nil //nolint:nilerr // Redis is away: listen says so, and the next round tries again
		}
	}
	return f.cfg.DB.MarkTestSendsRung(ctx, t, rings)
}

// imports rings imports that have work.
func (f *Feeder) imports(ctx context.Context, t db.Term) error {
	rings, err := f.cfg.DB.OpenImports(ctx, t, importStale)
	if err != nil {
		return err
	}
	for _, r := range rings {
		p := importPayload{ID: r.ID, Ring: r.Ring}
		if err := f.bell.ring(ctx, queueImport, typeImport, importID(p), p); err != nil {
			return nil //nolint:nilerr // Redis is away: listen says so, and the next round tries again
		}
		if err := f.cfg.DB.MarkImportRung(ctx, t, r); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what has an end of its own and is looked at by nobody after it: sessions
// and tries of signing in. Running it again finds nothing left.
func (f *Feeder) tidy(ctx context.Context, _ db.Term) error {
	if time.Since(f.tidied) < tidyEvery {
		return nil
	}
	f.tidied = time.Now()
	_, sessions := f.cfg.DB.SweepSessions(ctx)
	_, tries := f.cfg.DB.SweepTries(ctx)
	return errors.Join(sessions, tries)
}

// closeAndFinish settles what is left of cancelled and expired notices, and
// finishes those that are through.
func (f *Feeder) closeAndFinish(ctx context.Context, t db.Term) error {
	feeds, err := f.cfg.DB.Feeds(ctx)
	if err != nil {
		return err
	}
	for _, n := range feeds {
		for i := 0; n.NeedsClosing() && i < closeSteps; i++ {
			more, err := f.cfg.DB.CloseRest(ctx, t, n.ID)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if !n.Cut || n.Ranges > 0 || n.Open > 0 {
			continue
		}
		if _, err := f.cfg.DB.FinishNotice(ctx, t, n.ID, n.Version); err != nil {
			return err
		}
	}
	return nil
}
