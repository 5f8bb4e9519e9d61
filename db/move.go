package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// moveKept is how long a move is remembered at least: longer than any transaction
// that may have seen the device where it was before.
const moveKept = `interval '2 minutes'`

// FollowMoves takes what waits for devices that went to another scope there too, up
// to limit devices at once, and tells for how many deliveries it did. What was to be
// tried later still is. A move is forgotten when no notice that may have seen the
// device where it was is open any more. Running it again moves nothing twice.
func (db *DB) FollowMoves(ctx context.Context, t Term, limit int) (n int64, err error) {
	defer wrap(&err, "FollowMoves")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, followMovesSQL, pgx.StrictNamedArgs{"term": t, "limit": limit, "shards": shards}).Scan(&n)
	return n, db.noticed(err)
}

const followMovesSQL = `
	WITH looked AS MATERIALIZED (
		SELECT device_id, moved_at FROM device_move WHERE look_at <= now() AND ` + leads + `
		ORDER BY look_at LIMIT @limit FOR UPDATE SKIP LOCKED
	), picked AS MATERIALIZED (
		SELECT d.notice_id, d.device_id, d.scope AS was, v.scope, d.charged > 0 AS retrying
		FROM looked l CROSS JOIN notice n
		JOIN delivery d ON d.notice_id = n.id AND d.device_id = l.device_id
		JOIN device v ON v.id = l.device_id
		WHERE n.settled_at IS NULL AND d.status = 'pending' AND d.scope <> v.scope AND v.token IS NOT NULL
		ORDER BY d.notice_id, d.device_id FOR UPDATE OF d SKIP LOCKED
	), moved AS (
		UPDATE delivery d SET scope = p.scope, wake_at = coalesce(d.wake_at, now()), updated_at = now()
		FROM picked p WHERE d.notice_id = p.notice_id AND d.device_id = p.device_id AND d.status = 'pending'
		RETURNING p.notice_id, p.was, p.scope, p.retrying
	), change AS (
		SELECT notice_id, scope, sum(n)::bigint AS total, coalesce(sum(n) FILTER (WHERE retrying), 0)::bigint AS retrying FROM (
			SELECT notice_id, was AS scope, -1 AS n, retrying FROM moved
			UNION ALL SELECT notice_id, scope, 1, retrying FROM moved) x
		GROUP BY notice_id, scope
	), counted AS ( -- a scope that is new to the notice gets all its rows
		INSERT INTO notice_counter AS c (notice_id, scope, shard, total, pending, retrying)
		SELECT notice_id, scope, shard, CASE shard WHEN 0 THEN total ELSE 0 END,
			CASE shard WHEN 0 THEN total - retrying ELSE 0 END, CASE shard WHEN 0 THEN retrying ELSE 0 END
		FROM change, generate_series(0, @shards - 1) shard ORDER BY notice_id, scope, shard
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = c.total + excluded.total,
			pending = c.pending + excluded.pending, retrying = c.retrying + excluded.retrying
	), open AS MATERIALIZED (
		SELECT min(accepted_at) AS since FROM notice WHERE settled_at IS NULL
	), forgotten AS (
		DELETE FROM device_move m USING looked l, open o
		WHERE m.device_id = l.device_id AND l.moved_at < now() - ` + moveKept + `
			AND (o.since IS NULL OR o.since > l.moved_at + ` + moveKept + `)
	), later AS (
		UPDATE device_move m SET look_at = now() + CASE WHEN o.since IS NULL THEN ` + moveKept + ` ELSE interval '2 seconds' END
		FROM looked l, open o
		WHERE m.device_id = l.device_id AND NOT (l.moved_at < now() - ` + moveKept + `
			AND (o.since IS NULL OR o.since > l.moved_at + ` + moveKept + `))
	)
	SELECT count(*) FROM moved`
