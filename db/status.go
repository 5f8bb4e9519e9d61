package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Status is how the parts stand, as the ledger knows it, in one snapshot.
type Status struct {
	Now            time.Time
	FeederHolder   string
	FeederLease    time.Time  // lies in the past where no feeder works
	QueueOKAt      *time.Time // Redis answered a feeder last
	QueueDownSince *time.Time // and has not since; nil: it is up
	QueueError     string
	ReadOnly       bool     // the database takes no writes: a standby, or set so
	Workers        []Worker // alive ones
	Lost           []Worker // those that did not sign off and were last seen within a day
	LastWorkerAt   *time.Time
	Vendors        []VendorState
	OpenNotices    int64      // neither finished nor cancelled
	Backlog        int64      // deliveries that wait or are under way
	AheadNotices   int64      // notices of which some devices have no delivery yet
	AheadDevices   int64      // about how many those are, as far as they are known
	OldestDue      *time.Time // the longest overdue retry
	OldestAccepted *time.Time // the oldest notice that has not begun
	Stalled        []Stalled  // notices that do not move, the longest first
}

// aheadSQL counts the open notices that are not gone through yet, and the devices of
// their audience, as it was estimated at their start, that have no delivery.
const aheadSQL = `
	SELECT count(*) AS notices, coalesce(sum(greatest(0, coalesce(n.estimate, 0)
		- (SELECT coalesce(sum(total), 0) FROM notice_counter WHERE notice_id = n.id))), 0)::bigint AS devices
	FROM notice n
	WHERE n.settled_at IS NULL AND n.state IN ('accepted', 'sending', 'paused') AND (n.cut_at IS NULL OR EXISTS (
		SELECT FROM notice_range r WHERE r.notice_id = n.id AND r.done_at IS NULL AND r.filled_at IS NULL))`

// Status reads how the parts stand. It takes a handful of short index reads.
func (db *DB) Status(ctx context.Context) (s Status, err error) {
	defer wrap(&err, "Status")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	opts := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db.pool, opts, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			SELECT now(), pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean, f.holder, f.lease_until, f.redis_ok_at, f.redis_down_at, coalesce(f.redis_error, ''),
				(SELECT max(seen_at) FROM worker),
				(SELECT count(*) FROM notice WHERE settled_at IS NULL AND state <> 'cancelled'),
				(SELECT coalesce(sum(c.pending + c.retrying + c.sending), 0)::bigint
					FROM notice n JOIN notice_counter c ON c.notice_id = n.id WHERE n.settled_at IS NULL),
				(SELECT min(w.wake_at) FROM notice n JOIN notice_counter l ON l.notice_id = n.id AND l.shard = 0 CROSS JOIN LATERAL (
					SELECT wake_at FROM delivery d WHERE d.notice_id = n.id AND d.scope = l.scope AND d.wake_at <= now() AND d.status = 'pending'
					ORDER BY wake_at LIMIT 1) w WHERE n.settled_at IS NULL AND n.state = 'sending'),
				(SELECT min(accepted_at) FROM notice WHERE settled_at IS NULL AND state = 'accepted'), a.notices, a.devices
			FROM feeder f, (`+aheadSQL+`) a`).Scan(&s.Now, &s.ReadOnly, &s.FeederHolder, &s.FeederLease, &s.QueueOKAt, &s.QueueDownSince, &s.QueueError,
			&s.LastWorkerAt, &s.OpenNotices, &s.Backlog, &s.OldestDue, &s.OldestAccepted,
			&s.AheadNotices, &s.AheadDevices)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT id, started_at, seen_at, in_flight, slots, version FROM worker
			WHERE seen_at > now() - interval '1 day' ORDER BY id`)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Worker])
		if err != nil {
			return err
		}
		for _, w := range all {
			if s.Now.Sub(w.SeenAt) < WorkerAlive {
				s.Workers = append(s.Workers, w)
			} else {
				s.Lost = append(s.Lost, w)
			}
		}
		if s.Stalled, err = stalled(ctx, tx); err != nil {
			return err
		}
		s.Vendors, err = vendors(ctx, tx)
		return err
	})
	return s, db.noticed(err)
}

// StateCounts adds up the counts of all notices in one
// snapshot: what the metrics show.
func (db *DB) StateCounts(ctx context.Context) (c Counts, err error) {
	defer wrap(&err, "StateCounts")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `
		SELECT coalesce(sum(total), 0)::bigint AS total, coalesce(sum(pending), 0)::bigint AS pending,
			coalesce(sum(retrying), 0)::bigint AS retrying, coalesce(sum(sending), 0)::bigint AS sending,
			coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(failed), 0)::bigint AS failed,
			coalesce(sum(skipped), 0)::bigint AS skipped, coalesce(sum(unknown), 0)::bigint AS unknown,
			coalesce(sum(twice), 0)::bigint AS twice, coalesce(sum(attempts), 0)::bigint AS attempts
		FROM notice_counter`)
	if err != nil {
		return c, db.noticed(err)
	}
	c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Counts])
	return c, db.noticed(err)
}
