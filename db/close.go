package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// closeBatch is how many device ids one CloseRest looks at.
const closeBatch = 5_000

// CloseRest settles the next part of a notice that is cancelled or has expired:
// what waits there, and what was not even fanned out, becomes skipped
// (cancelled) or failed (expired). Calls under way are left to end. more says
// that the end of the audience is not reached.
func (db *DB) CloseRest(ctx context.Context, t Term, notice int64) (more bool, err error) {
	defer wrap(&err, "CloseRest(%d)", notice)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, closeRestSQL, pgx.StrictNamedArgs{"term": t, "notice": notice, "batch": closeBatch}).Scan(&more)
	return more, db.noticed(orNotFound(err))
}

const closeRestSQL = `
	WITH n AS MATERIALIZED (
		SELECT id, platforms, tags, audience_max, close_to, least(audience_max, close_to + @batch::bigint) AS upper,
			CASE state WHEN 'cancelled' THEN 'skipped' ELSE 'failed' END AS status,
			CASE state WHEN 'cancelled' THEN 'cancelled' ELSE 'expired' END AS reason
		FROM notice
		WHERE id = @notice AND settled_at IS NULL AND (state = 'cancelled' OR expires_at <= now()) AND ` + leads + `
	), waiting AS MATERIALIZED (
		SELECT d.notice_id, d.device_id, d.scope, d.charged > 0 AS retrying FROM n JOIN delivery d
			ON d.notice_id = n.id AND d.device_id > n.close_to AND d.device_id <= n.upper AND d.status = 'pending'
		FOR UPDATE OF d SKIP LOCKED
	), moved AS (
		UPDATE delivery d SET status = n.status, reason = n.reason, code = NULL, message = NULL, wake_at = NULL,
			failed_at = CASE n.status WHEN 'failed' THEN now() END, updated_at = now()
		FROM waiting w, n
		WHERE d.notice_id = w.notice_id AND d.device_id = w.device_id AND d.status = 'pending'
		RETURNING d.scope, w.retrying
	), made AS (
		INSERT INTO delivery (notice_id, device_id, scope, status, reason, failed_at)
		SELECT n.id, v.id, v.scope, n.status, n.reason, CASE n.status WHEN 'failed' THEN now() END
		FROM n, device v
		WHERE v.id > n.close_to AND v.id <= n.upper AND ` + matches + `
			-- those that are there are not waited for: who holds them may wait for us
			AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.notice_id = n.id AND d.device_id = v.id)
		ORDER BY v.id
		ON CONFLICT DO NOTHING
		RETURNING scope
	), sum AS (
		SELECT scope, sum(made) AS made, sum(moved) AS moved, sum(retrying) AS retrying FROM (
			SELECT scope, 1 AS made, 0 AS moved, 0 AS retrying FROM made
			UNION ALL SELECT scope, 0, 1, retrying::int FROM moved) x
		GROUP BY scope
	), counted AS (
		INSERT INTO notice_counter AS c (notice_id, scope, shard, total, pending, retrying, skipped, failed)
		SELECT n.id, s.scope, 0, s.made, s.retrying - s.moved, -s.retrying,
			CASE n.status WHEN 'skipped' THEN s.made + s.moved ELSE 0 END,
			CASE n.status WHEN 'failed' THEN s.made + s.moved ELSE 0 END
		FROM sum s, n ORDER BY s.scope
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = c.total + excluded.total,
			pending = c.pending + excluded.pending, retrying = c.retrying + excluded.retrying,
			skipped = c.skipped + excluded.skipped, failed = c.failed + excluded.failed
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT n.id, 0, n.status, n.reason, sum(s.made + s.moved) FROM sum s, n GROUP BY n.id, n.status, n.reason
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	), over AS MATERIALIZED ( -- ranges that nobody is at, with no claim in them or about to commit
		SELECT r.notice_id, r.seq FROM n JOIN notice_range r
			ON r.notice_id = n.id AND r.done_at IS NULL AND r.last_id <= n.upper
		WHERE NOT EXISTS (SELECT 1 FROM delivery d
				WHERE d.notice_id = r.notice_id AND d.device_id BETWEEN r.first_id AND r.last_id
					AND d.wake_at IS NULL AND d.status = 'sending')
			AND (SELECT count(*) FROM delivery d
				WHERE d.notice_id = r.notice_id AND d.device_id BETWEEN r.first_id AND r.last_id AND d.status = 'pending')
				= (SELECT count(*) FROM waiting w WHERE w.device_id BETWEEN r.first_id AND r.last_id)
		FOR UPDATE OF r SKIP LOCKED
	), ended AS (
		UPDATE notice_range r SET done_at = now() FROM over o
		WHERE r.notice_id = o.notice_id AND r.seq = o.seq AND r.done_at IS NULL
	)
	UPDATE notice SET
		close_to = CASE WHEN n.upper >= n.audience_max THEN 0 ELSE n.upper END,
		cut_to = greatest(cut_to, n.upper),
		cut_at = CASE WHEN n.upper >= n.audience_max THEN coalesce(cut_at, now()) ELSE cut_at END
	FROM n WHERE notice.id = n.id AND notice.close_to = n.close_to
	RETURNING n.upper < n.audience_max`

// NeedsClosing says whether CloseRest has something left to do for f.
func (f Feed) NeedsClosing() bool {
	return (f.State == Cancelled || f.Expired) && (!f.Cut || f.Ranges > 0 || f.Open > f.Sending)
}
