package jobs

import (
	"context"
	"errors"
	"time"

	"bongsu/db"
)

// feed starts notices, cuts their ranges, and rings what is due: ranges by turns
// between the notices and scopes, a few of each ahead of the workers, and retries.
// Cutting does not wait for the workers, so that a scope whose devices come late in
// the audience is not held up by one that is slow.
func (f *Feeder) feed(ctx context.Context, t db.Term) error {
	feeds, err := f.cfg.DB.Feeds(ctx)
	if err != nil {
		return err
	}
	for _, n := range feeds {
		if err := f.cut(ctx, t, n); err != nil {
			return err
		}
	}
	if len(feeds) == 0 {
		return nil
	}
	// Both are tried: Redis may refuse one and take the other.
	return errors.Join(f.ringRanges(ctx, t, aheadFor(feeds)), f.ringRetries(ctx, t, feeds))
}

// aheadFor shares the tasks that workers run at once between the notices and scopes
// that have first attempts left, so that none waits behind another's.
func aheadFor(feeds []db.Feed) int {
	sharing := 0
	for _, n := range feeds {
		for _, l := range n.Lanes {
			if l.Called && l.Ranges > 0 {
				sharing++
			}
		}
	}
	return max(1, min(rangeAhead, pushTasks/max(1, sharing)))
}

// cut starts a notice and cuts its next ranges.
func (f *Feeder) cut(ctx context.Context, t db.Term, n db.Feed) error {
	if n.State == db.Accepted {
		if err := f.cfg.DB.StartNotice(ctx, t, n.ID); err != nil {
			return err
		}
		n.State = db.Sending
	}
	if n.State != db.Sending || n.Cut || n.Expired {
		return nil
	}
	return f.cfg.DB.CutRanges(ctx, t, n.ID, rangeSize, rangeAhead)
}

// ringRanges enqueues the tasks of ranges that have none.
func (f *Feeder) ringRanges(ctx context.Context, t db.Term, ahead int) error {
	rings, err := f.cfg.DB.Unrung(ctx, ahead, ringAtOnce)
	if err != nil || len(rings) == 0 {
		return err
	}
	var failed error
	rung := rings[:0]
	for _, r := range rings {
		p := rangePayload{Notice: r.NoticeID, Seq: r.Seq, Ring: r.Ring}
		if failed = f.bell.ring(ctx, queuePush, typeRange, rangeID(p), p); failed != nil {
			break
		}
		rung = append(rung, r)
	}
	if len(rung) == 0 {
		return failed
	}
	return errors.Join(failed, f.cfg.DB.MarkRung(ctx, t, rung))
}

// Ringing of retries: a notice's are rung again after a moment while some are
// still due, and more slowly while many tasks wait.
const (
	retryAgain     = 100 * time.Millisecond
	retryAgainBusy = 2 * time.Second
	retryMany      = 4 * retryTasks
	retryBurst     = 4 // tasks for one notice and scope at once
)

// ringRetries enqueues tasks for the retries that are due, for each notice and scope
// by itself, so that one with a mass of them does not hold up another.
func (f *Feeder) ringRetries(ctx context.Context, t db.Term, feeds []db.Feed) error {
	again := time.Duration(0)
	for _, n := range feeds {
		for _, l := range n.Lanes {
			key := retryLane{l.NoticeID, l.Scope}
			if l.DueNow == 0 || !l.Called || n.State != db.Sending {
				delete(f.rung, key)
				continue
			}
			if again == 0 {
				waiting, err := f.bell.waiting(queueRetry)
				if err != nil {
					return err
				}
				again = retryAgain
				if waiting > retryMany {
					again = retryAgainBusy
				}
			}
			if time.Since(f.rung[key].at) < again {
				continue
			}
			if err := f.ringLane(ctx, t, l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Feeder) ringLane(ctx context.Context, t db.Term, l db.Lane) error {
	count := min(retryBurst, (l.DueNow+retrySize-1)/retrySize)
	last, err := f.cfg.DB.RingRetries(ctx, t, l.NoticeID, count)
	if err != nil {
		return err
	}
	key := retryLane{l.NoticeID, l.Scope}
	f.rung[key] = retryMark{time.Now()}
	for i := range count {
		p := retryPayload{Notice: l.NoticeID, Scope: l.Scope, Ring: last - int64(i)}
		if err := f.bell.ring(ctx, queueRetry, typeRetry, retryID(p), p); err != nil {
			delete(f.rung, key)
			return err
		}
	}
	return nil
}
