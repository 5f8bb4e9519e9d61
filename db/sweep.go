package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Swept is what FreeLeases did.
type Swept struct {
	Freed   int // are pending again
	Failed  int // lost their last holder
	Unknown int // wait for a person
}

// FreeLeases takes back claims whose lease has ended: their holder died. With
// hold they become unknown, otherwise due at once, and nothing is charged; the
// last holder that a delivery may lose fails it. It does nothing while Postgres
// is younger than one lease, so that live workers can record what they know.
func (db *DB) FreeLeases(ctx context.Context, t Term, lease time.Duration, hold bool, limit int) (s Swept, err error) {
	defer wrap(&err, "FreeLeases")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, freeLeasesSQL, pgx.StrictNamedArgs{
		"term": t, "lease": lease, "hold": hold, "limit": limit, "max_lost": MaxLost,
	}).Scan(&s.Freed, &s.Failed, &s.Unknown)
	return s, db.noticed(err)
}

const freeLeasesSQL = `
	WITH busy AS MATERIALIZED (
		SELECT n.id FROM notice n
		WHERE n.settled_at IS NULL AND ` + leads + `
			AND now() - pg_postmaster_start_time() >= @lease::interval
			AND (SELECT sum(sending) FROM notice_counter WHERE notice_id = n.id) > 0
	), over AS (
		SELECT notice_id, device_id FROM busy b CROSS JOIN LATERAL (
			SELECT d.notice_id, d.device_id FROM notice_counter l JOIN delivery d
				ON d.notice_id = b.id AND d.scope = l.scope
			WHERE l.notice_id = b.id AND l.shard = 0 AND d.wake_at <= now() AND d.status = 'sending' AND d.lease_until <= now()
			UNION ALL
			SELECT d.notice_id, d.device_id FROM notice_range r JOIN delivery d
				ON d.notice_id = r.notice_id AND d.device_id BETWEEN r.first_id AND r.last_id
			WHERE r.notice_id = b.id AND r.done_at IS NULL
				AND d.scope = r.scope AND d.wake_at IS NULL AND d.status = 'sending' AND d.lease_until <= now()
		) x LIMIT @limit
	), locked AS MATERIALIZED (
		SELECT d.notice_id, d.device_id FROM over JOIN delivery d USING (notice_id, device_id)
		WHERE d.status = 'sending' AND d.lease_until <= now()
		FOR UPDATE OF d SKIP LOCKED
	), moved AS (
		UPDATE delivery d SET
			status = CASE WHEN @hold THEN 'unknown' WHEN d.lost + 1 >= @max_lost THEN 'failed' ELSE 'pending' END,
			reason = CASE WHEN NOT @hold AND d.lost + 1 >= @max_lost THEN 'outcome_unknown' ELSE 'holder_lost' END,
			code = NULL, message = NULL, lease_until = NULL,
			wake_at = CASE WHEN NOT @hold AND d.lost + 1 < @max_lost THEN now() END,
			failed_at = CASE WHEN NOT @hold AND d.lost + 1 >= @max_lost THEN now() END,
			lost = d.lost + 1, doubts = d.doubts + 1, twice = d.twice OR d.doubts > 0, definite = false,
			updated_at = now()
		FROM locked l
		WHERE d.notice_id = l.notice_id AND d.device_id = l.device_id AND d.status = 'sending' AND d.lease_until <= now()
		RETURNING d.notice_id, d.device_id, d.scope, d.fence, d.generation, d.status, d.reason, d.charged, d.doubts = 2 AS newly_twice
	), tried AS (
		INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, outcome, charged, doubt, reason)
		SELECT notice_id, device_id, fence, generation, now() - @lease::interval, extract(milliseconds FROM @lease::interval),
			'lost', false, true, 'holder_lost' FROM moved
		ON CONFLICT DO NOTHING
	), counted AS (
		UPDATE notice_counter c SET
			sending = c.sending - m.n, unknown = c.unknown + m.unknown, failed = c.failed + m.failed,
			pending = c.pending + m.pending, retrying = c.retrying + m.retrying, twice = c.twice + m.twice
		FROM (SELECT notice_id, scope, count(*) AS n, count(*) FILTER (WHERE status = 'unknown') AS unknown,
				count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE newly_twice) AS twice,
				count(*) FILTER (WHERE status = 'pending' AND charged = 0) AS pending,
				count(*) FILTER (WHERE status = 'pending' AND charged > 0) AS retrying
			FROM moved GROUP BY notice_id, scope) m
		WHERE c.notice_id = m.notice_id AND c.scope = m.scope AND c.shard = 0
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT notice_id, 0, status, reason, count(*) FROM moved WHERE status <> 'pending' GROUP BY notice_id, status, reason
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	)
	SELECT count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'failed'),
		count(*) FILTER (WHERE status = 'unknown') FROM moved`

// EndQuietRanges closes ranges that no worker has touched for the time of quiet
// and in which nothing waits or is under way: their worker died at the very end.
func (db *DB) EndQuietRanges(ctx context.Context, t Term, quiet time.Duration) (err error) {
	defer wrap(&err, "EndQuietRanges")
	return db.exec(ctx, `
		UPDATE notice_range r SET done_at = now()
		FROM notice n
		WHERE n.settled_at IS NULL AND r.notice_id = n.id AND r.done_at IS NULL AND r.filled_at IS NOT NULL
			AND r.touched_at < now() - @quiet::interval AND NOT EXISTS (
				SELECT 1 FROM delivery d WHERE d.notice_id = r.notice_id AND d.device_id BETWEEN r.first_id AND r.last_id
					AND d.scope = r.scope AND d.wake_at IS NULL AND d.status IN ('pending', 'sending'))
			AND `+leads, pgx.StrictNamedArgs{"term": t, "quiet": quiet})
}

// Release takes back claims that nobody has called for: they are due again and
// the attempt is not counted. It writes only where the claim still holds.
func (db *DB) Release(ctx context.Context, claims []Claim, shard int) (err error) {
	defer wrap(&err, "Release(%d claims)", len(claims))
	n := len(claims)
	notice, device, fence := make([]int64, n), make([]int64, n), make([]int32, n)
	for i, c := range claims {
		notice[i], device[i], fence[i] = c.NoticeID, c.DeviceID, int32(c.Fence)
	}
	return db.exec(ctx, `
		WITH moved AS (
			UPDATE delivery d SET status = 'pending', lease_until = NULL, attempts = d.attempts - 1,
				wake_at = now(), updated_at = now()
			FROM unnest(@notice::bigint[], @device::bigint[], @fence::int[]) AS x (notice_id, device_id, fence)
			WHERE d.notice_id = x.notice_id AND d.device_id = x.device_id AND d.fence = x.fence AND d.status = 'sending'
			RETURNING d.notice_id, d.scope, d.charged
		)
		UPDATE notice_counter c SET sending = c.sending - m.n, attempts = c.attempts - m.n,
			pending = c.pending + m.pending, retrying = c.retrying + m.n - m.pending
		FROM (SELECT notice_id, scope, count(*) AS n, count(*) FILTER (WHERE charged = 0) AS pending
			FROM moved GROUP BY notice_id, scope) m
		WHERE c.notice_id = m.notice_id AND c.scope = m.scope AND c.shard = @shard`,
		pgx.StrictNamedArgs{"notice": notice, "device": device, "fence": fence, "shard": shard % shards})
}
