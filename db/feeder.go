package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Term is a feeder's turn. Every write of a feeder names it and does nothing
// when another has taken over; each is one statement, so that a feeder that is
// frozen holds no lock.
type Term int64

// leads is the condition that the feeder of @term is still the one.
const leads = `EXISTS (SELECT 1 FROM feeder WHERE term = @term)`

// Lead makes holder the feeder for the time of lease, or prolongs its turn.
// ErrStale while another's lease lasts.
func (db *DB) Lead(ctx context.Context, holder string, lease time.Duration) (_ Term, err error) {
	defer wrap(&err, "Lead(%q)", holder)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	var t Term
	err = db.pool.QueryRow(ctx, `
		UPDATE feeder SET term = term + CASE WHEN holder = $1 AND lease_until > now() THEN 0 ELSE 1 END,
			holder = $1, lease_until = now() + $2::interval
		WHERE holder = $1 OR lease_until <= now()
		RETURNING term`, holder, lease).Scan(&t)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrStale
	}
	return t, db.noticed(err)
}

// StepDown ends holder's turn, so that another need not wait for its lease.
func (db *DB) StepDown(ctx context.Context, holder string) (err error) {
	defer wrap(&err, "StepDown(%q)", holder)
	return db.exec(ctx, `UPDATE feeder SET lease_until = 'epoch' WHERE holder = $1`, holder)
}

// SawQueue keeps whether Redis answered the feeder: cause is "" or its error.
func (db *DB) SawQueue(ctx context.Context, t Term, cause string) (err error) {
	defer wrap(&err, "SawQueue")
	return db.exec(ctx, `
		UPDATE feeder SET redis_error = nullif(@cause, ''),
			redis_ok_at = CASE WHEN @cause = '' THEN now() ELSE redis_ok_at END,
			redis_down_at = CASE WHEN @cause <> '' THEN coalesce(redis_down_at, now()) END
		WHERE term = @term`, pgx.StrictNamedArgs{"term": t, "cause": cause})
}

// Feed is a notice that the feeder has to do something for.
type Feed struct {
	ID      int64
	State   string
	Version int64
	Cut     bool // all its ranges exist
	Expired bool
	Ranges  int   // open ones
	Open    int64 // deliveries that are neither final nor unknown
	Sending int64
	Lanes   []Lane `db:"-"`
}

// Lane is what is due of one notice in one scope.
type Lane struct {
	NoticeID int64
	Scope    string
	Called   bool // calls are made there now
	Ranges   int  // open ones
	DueNow   int  // retries that are due; counted up to 2,000
}

// Feeds lists the notices that are not settled, oldest first.
func (db *DB) Feeds(ctx context.Context) (_ []Feed, err error) {
	defer wrap(&err, "Feeds")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `
		SELECT n.id, n.state, n.version, n.cut_at IS NOT NULL AS cut, n.expires_at <= now() AS expired,
			(SELECT count(*) FROM notice_range r WHERE r.notice_id = n.id AND r.done_at IS NULL) AS ranges,
			c.open, c.sending
		FROM notice n CROSS JOIN LATERAL (
			SELECT coalesce(sum(pending + retrying + sending), 0)::bigint AS open, coalesce(sum(sending), 0)::bigint AS sending
			FROM notice_counter WHERE notice_id = n.id) c
		WHERE n.settled_at IS NULL ORDER BY n.id`)
	if err != nil {
		return nil, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Feed])
	if err != nil || len(list) == 0 {
		return list, db.noticed(err)
	}
	return list, db.noticed(addLanes(ctx, db.pool, list))
}

// addLanes adds the lanes of feeds, which are sorted by their ids.
func addLanes(ctx context.Context, q querier, feeds []Feed) error {
	lanes, err := allRows[Lane](q.Query(ctx, `
		SELECT n.id AS notice_id, l.scope, coalesce(x.state, 'ok') = 'ok' AS called,
			(SELECT count(*) FROM notice_range r WHERE r.notice_id = n.id AND r.scope = l.scope AND r.done_at IS NULL) AS ranges,
			(SELECT count(*) FROM (SELECT FROM delivery d WHERE d.notice_id = n.id AND d.scope = l.scope AND d.wake_at <= now()
				AND d.status = 'pending' LIMIT 2000) due) AS due_now
		FROM notice n JOIN `+lanesOf+` ON l.notice_id = n.id AND l.shard = 0
		WHERE n.settled_at IS NULL ORDER BY n.id, l.scope`))
	for _, l := range lanes {
		i, found := slices.BinarySearchFunc(feeds, l.NoticeID, func(f Feed, id int64) int { return cmp.Compare(f.ID, id) })
		if found {
			feeds[i].Lanes = append(feeds[i].Lanes, l)
		}
	}
	return err
}

// StartNotice takes an accepted notice to sending.
func (db *DB) StartNotice(ctx context.Context, t Term, id int64) (err error) {
	defer wrap(&err, "StartNotice(%d)", id)
	return db.exec(ctx, `
		UPDATE notice SET state = 'sending', state_at = now(), started_at = now()
		WHERE id = @id AND state = 'accepted' AND `+leads, pgx.StrictNamedArgs{"term": t, "id": id})
}

// EstimateAudience counts, once, the devices that a started notice is for.
func (db *DB) EstimateAudience(ctx context.Context, t Term) (err error) {
	defer wrap(&err, "EstimateAudience")
	return db.exec(ctx, `
		UPDATE notice n SET estimate = (SELECT count(*) FROM device v WHERE v.id <= n.audience_max AND `+matches+`)
		WHERE n.estimate IS NULL AND n.settled_at IS NULL AND n.state <> 'accepted' AND `+leads,
		pgx.StrictNamedArgs{"term": t})
}

// FinishNotice settles a notice that is fanned out and has nothing open, if no
// act of a person came between: version is the one that Feeds showed. The last counts
// are kept for the chart with it.
func (db *DB) FinishNotice(ctx context.Context, t Term, id, version int64) (finished bool, err error) {
	defer wrap(&err, "FinishNotice(%d)", id)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, finishNoticeSQL, paceArgs(pgx.StrictNamedArgs{"term": t, "id": id, "version": version})).Scan(&finished)
	return finished, db.noticed(err)
}

var finishNoticeSQL = `
	WITH n AS (
		UPDATE notice SET state = CASE state WHEN 'cancelled' THEN state ELSE 'finished' END,
			state_at = CASE state WHEN 'cancelled' THEN state_at ELSE now() END,
			finished_at = coalesce(CASE state WHEN 'cancelled' THEN finished_at END, now()), settled_at = now()
		WHERE id = @id AND version = @version AND settled_at IS NULL AND cut_at IS NOT NULL
			AND state IN ('sending', 'paused', 'cancelled')
			AND NOT EXISTS (SELECT 1 FROM notice_range WHERE notice_id = @id AND done_at IS NULL)
			AND (SELECT sum(pending + retrying + sending) FROM notice_counter WHERE notice_id = @id) = 0
			AND ` + leads + `
		RETURNING id, started_at, first_call_at
	), kept AS (` + keepPace("n") + `
	)
	SELECT EXISTS (SELECT 1 FROM n)`

// exec runs one statement within the pool's limits.
func (db *DB) exec(ctx context.Context, sql string, args ...any) error {
	ctx, cancel := db.bound(ctx)
	defer cancel()
	_, err := db.pool.Exec(ctx, sql, args...)
	return db.noticed(err)
}
