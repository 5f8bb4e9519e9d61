package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// StepReplay puts the next batch of a replay back: deliveries that are in the
// archive since before it was asked for become pending, of the next generation,
// due now. Skipped are those whose device is disabled, erased or without
// consent, and whose notice is cancelled or has expired, and those that
// another replay has put back already. Batch, totals and the
// point reached are one transaction, so that going on after a crash counts
// nothing twice. done says that the end is reached. ErrNotFound: it is paused,
// has ended, or this feeder's term has.
func (db *DB) StepReplay(ctx context.Context, t Term, id int64, batch int) (done bool, err error) {
	defer wrap(&err, "StepReplay(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var r Replay
		var at Pair
		err := tx.QueryRow(ctx, `
			UPDATE replay SET state = 'running' WHERE id = $1 AND state IN ('pending', 'running')
				AND EXISTS (SELECT 1 FROM feeder WHERE term = $2)
			RETURNING filter, at_notice, at_device`, id, t).Scan(&r.Filter, &at.NoticeID, &at.DeviceID)
		if err != nil {
			return orNotFound(err)
		}
		notice, count, err := nextReplayed(ctx, tx, id, r.Filter, at)
		if err != nil {
			return err
		}
		if count == 0 {
			done = true
			return endReplay(ctx, tx, id)
		}
		if _, err := lockNotice(ctx, tx, notice); err != nil {
			return err
		}
		args := replayArgs(r.Filter, pgx.StrictNamedArgs{"replay": id, "notice": notice, "after": afterIn(at, notice), "batch": batch})
		var moved int64
		if err := tx.QueryRow(ctx, stepReplaySQL, args).Scan(&moved); err != nil {
			return err
		}
		if moved > 0 {
			return reopen(ctx, tx, notice)
		}
		return nil
	})
	return done, err
}

// endReplay closes a replay. What it matched and did not find any more has been put
// back by another one meanwhile.
func endReplay(ctx context.Context, tx pgx.Tx, id int64) error {
	_, err := tx.Exec(ctx, `
		WITH rest AS (
			SELECT r.matched - r.replayed - coalesce((SELECT sum(value::bigint) FROM jsonb_each_text(r.skipped)), 0) AS n
			FROM replay r WHERE id = $1
		)
		UPDATE replay SET state = 'done', finished_at = now(),
			skipped = CASE WHEN n > 0 THEN skipped || jsonb_build_object('replayed_already', n) ELSE skipped END
		FROM rest WHERE id = $1`, id)
	return err
}

// nextReplayed finds the notice of the next delivery of a replay, if there is one.
func nextReplayed(ctx context.Context, q querier, id int64, f *ArchiveFilter, at Pair) (notice int64, count int, err error) {
	args := replayArgs(f, pgx.StrictNamedArgs{"replay": id, "at_notice": at.NoticeID, "at_device": at.DeviceID})
	err = q.QueryRow(ctx, `
		SELECT coalesce(min(notice_id), 0), count(*) FROM (
			SELECT d.notice_id FROM delivery d, replay r
			WHERE r.id = @replay AND (d.notice_id, d.device_id) > (@at_notice, @at_device) AND d.notice_id <= `+replayEnd+` AND `+replayMatches+`
			ORDER BY d.notice_id, d.device_id LIMIT 1) x`, args).Scan(&notice, &count)
	return notice, count, err
}

// afterIn is where to begin within notice.
func afterIn(at Pair, notice int64) int64 {
	if at.NoticeID == notice {
		return at.DeviceID
	}
	return 0
}

// replayArgs are the arguments of replayMatches, beside others; f is nil where the
// deliveries are listed.
func replayArgs(f *ArchiveFilter, others pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	others["listed"] = f == nil
	if f == nil {
		f = &ArchiveFilter{}
	}
	return f.args(others)
}

// replayMatches is the condition that archived delivery d belongs to replay r.
const replayMatches = archiveMatches + ` AND d.failed_at <= r.asked_at
	AND (NOT @listed OR EXISTS (SELECT 1 FROM replay_item i
		WHERE i.replay_id = @replay AND i.notice_id = d.notice_id AND i.device_id = d.device_id))`

// replayEnd is the last notice that a replay can be about, and listedFrom and
// listedTo the devices of one that a list can be about: bounds by which an index is
// read, since all else of a condition is only looked at row by row.
const (
	replayEnd  = `coalesce(@by_notice::bigint, (SELECT max(i.notice_id) FROM replay_item i WHERE i.replay_id = @replay), 9223372036854775807)`
	listedFrom = `coalesce((SELECT min(i.device_id) FROM replay_item i
		WHERE i.replay_id = @replay AND i.notice_id = @notice AND i.device_id > @after), 0)`
	listedTo = `coalesce((SELECT max(i.device_id) FROM replay_item i
		WHERE i.replay_id = @replay AND i.notice_id = @notice), 9223372036854775807)`
)

// replayRefusal is why delivery d to device v of notice n is not put back; null
// where it is.
const replayRefusal = `CASE
			WHEN v.erased_at IS NOT NULL THEN 'device_erased'
			WHEN v.disabled_at IS NOT NULL THEN 'device_disabled'
			WHEN NOT v.consent THEN 'no_consent'
			WHEN n.state = 'cancelled' THEN 'cancelled'
			WHEN n.expires_at <= now() THEN 'expired' END`

const stepReplaySQL = `
	WITH picked AS MATERIALIZED (
		SELECT d.notice_id, d.device_id, d.reason AS was, ` + replayRefusal + ` AS refusal
		FROM replay r, delivery d JOIN device v ON v.id = d.device_id JOIN notice n ON n.id = d.notice_id
		WHERE r.id = @replay AND d.notice_id = @notice AND d.device_id > @after
			AND d.device_id >= ` + listedFrom + ` AND d.device_id <= ` + listedTo + ` AND ` + replayMatches + `
		ORDER BY d.device_id LIMIT @batch FOR UPDATE OF d
	), moved AS (
		UPDATE delivery d SET status = 'pending', reason = NULL, code = NULL, message = NULL, failed_at = NULL,
			wake_at = now(), replay_id = @replay, generation = d.generation + 1, charged = 0, lost = 0,
			key_no = d.key_no + CASE WHEN d.definite THEN 1 ELSE 0 END, updated_at = now()
		FROM picked p
		WHERE p.refusal IS NULL AND d.notice_id = p.notice_id AND d.device_id = p.device_id AND d.status = 'failed'
		RETURNING p.was, d.scope
	), counted AS (
		UPDATE notice_counter c SET failed = c.failed - m.n, pending = c.pending + m.n
		FROM (SELECT scope, count(*) AS n FROM moved GROUP BY scope) m
		WHERE c.notice_id = @notice AND c.scope = m.scope AND c.shard = 0
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT @notice, 0, 'failed', was, -count(*) FROM moved GROUP BY was
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	), told AS (
		UPDATE replay r SET replayed = replayed + (SELECT count(*) FROM moved),
			at_notice = @notice, at_device = (SELECT max(device_id) FROM picked),
			skipped = (SELECT coalesce(jsonb_object_agg(k, n), '{}') FROM (
				SELECT k, sum(n) AS n FROM (
					SELECT key AS k, value::bigint AS n FROM jsonb_each_text(r.skipped)
					UNION ALL SELECT refusal, 1 FROM picked WHERE refusal IS NOT NULL) s
				GROUP BY k) x)
		WHERE r.id = @replay AND EXISTS (SELECT 1 FROM picked)
	)
	SELECT count(*) FROM moved`
