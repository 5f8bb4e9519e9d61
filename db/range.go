package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// matches is the condition that device v is in the audience of notice n.
const matches = `v.consent AND v.disabled_at IS NULL AND v.erased_at IS NULL
	AND (n.platforms = '{}' OR v.platform = ANY(n.platforms)) AND (n.tags = '{}' OR v.tags && n.tags)`

// cutWindow is how many device ids one cut looks at, at most, so that a rare tag
// cannot hold the feeder up.
const cutWindow = 200_000

// CutRanges cuts the next slices of notice's audience: up to size × count matching
// devices, from the point that was reached, which it saves, into ranges of at most
// size devices of one scope.
func (db *DB) CutRanges(ctx context.Context, t Term, notice int64, size, count int) (err error) {
	defer wrap(&err, "CutRanges(%d)", notice)
	return db.exec(ctx, `
		WITH n AS MATERIALIZED (
			SELECT id, platforms, tags, audience_max, cut_to, next_seq, least(audience_max, cut_to + @window::bigint) AS upper
			FROM notice WHERE id = @notice AND state = 'sending' AND cut_at IS NULL AND `+leads+`
		), ids AS MATERIALIZED (
			SELECT v.id, v.scope, (row_number() OVER (PARTITION BY v.scope ORDER BY v.id) - 1) / @size::int AS part
			FROM n, LATERAL (SELECT v.id, v.scope FROM device v WHERE v.id > n.cut_to AND v.id <= n.upper AND `+matches+`
				ORDER BY v.id LIMIT @size::int * @count::int) v
		), parts AS MATERIALIZED (
			SELECT scope, min(id) AS first, max(id) AS last, count(*) AS devices,
				row_number() OVER (ORDER BY part, min(id)) - 1 AS place
			FROM ids GROUP BY scope, part
		), met AS (
			INSERT INTO vendor (scope) SELECT DISTINCT scope FROM parts ORDER BY scope ON CONFLICT DO NOTHING
		), counters AS (
			INSERT INTO notice_counter (notice_id, scope, shard)
			SELECT @notice, scope, shard FROM (SELECT DISTINCT scope FROM parts) s, generate_series(0, @shards - 1) shard
			ORDER BY scope, shard ON CONFLICT DO NOTHING
		), cut AS (
			INSERT INTO notice_range (notice_id, seq, scope, first_id, last_id, devices)
			SELECT @notice, (SELECT next_seq FROM n) + place, scope, first, last, devices FROM parts
			ON CONFLICT DO NOTHING
		), reached AS (
			SELECT n.id, n.cut_to AS was, n.audience_max,
				(SELECT count(*) FROM parts) AS parts,
				CASE WHEN (SELECT count(*) FROM ids) < @size::int * @count::int THEN n.upper ELSE (SELECT max(id) FROM ids) END AS cut_to
			FROM n
		)
		UPDATE notice SET cut_to = r.cut_to, next_seq = next_seq + r.parts,
			cut_at = CASE WHEN r.cut_to >= r.audience_max THEN now() END
		FROM reached r WHERE notice.id = r.id AND notice.cut_to = r.was`,
		pgx.StrictNamedArgs{"term": t, "notice": notice, "size": size, "count": count, "window": cutWindow, "shards": shards})
}

// Ring names the asynq task of a range.
type Ring struct {
	NoticeID int64
	Seq      int
	Ring     int64
}

// lanesOf are the scopes that there are devices of notice n in, as far as it is cut;
// each with its vendor's row x.
const lanesOf = `notice_counter l LEFT JOIN vendor x ON x.scope = l.scope`

// Unrung lists ranges whose task has to be enqueued, a few of each notice and scope
// first. Of one notice and scope no more are given than leave ahead ranges rung and
// not done, and none where the vendor is not called.
func (db *DB) Unrung(ctx context.Context, ahead, limit int) (_ []Ring, err error) {
	defer wrap(&err, "Unrung")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `
		SELECT r.notice_id, r.seq, r.ring
		FROM notice n JOIN `+lanesOf+` ON l.notice_id = n.id AND l.shard = 0 CROSS JOIN LATERAL (
			SELECT notice_id, seq, ring, row_number() OVER (ORDER BY seq) AS place FROM notice_range
			WHERE notice_id = n.id AND scope = l.scope AND done_at IS NULL AND rung_at IS NULL
			ORDER BY seq
			LIMIT greatest(0, $1 - (SELECT count(*) FROM notice_range o
				WHERE o.notice_id = n.id AND o.scope = l.scope AND o.done_at IS NULL AND o.rung_at IS NOT NULL))) r
		WHERE n.settled_at IS NULL AND n.state = 'sending' AND coalesce(x.state, 'ok') = 'ok'
		ORDER BY r.place, r.notice_id, l.scope LIMIT $2`, ahead, limit)
	if err != nil {
		return nil, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Ring])
	return list, db.noticed(err)
}

// MarkRung keeps that these rings were enqueued.
func (db *DB) MarkRung(ctx context.Context, t Term, rings []Ring) (err error) {
	defer wrap(&err, "MarkRung")
	n := len(rings)
	notice, seq, ring := make([]int64, n), make([]int32, n), make([]int64, n)
	for i, r := range rings {
		notice[i], seq[i], ring[i] = r.NoticeID, int32(r.Seq), r.Ring
	}
	return db.exec(ctx, `
		UPDATE notice_range r SET rung_at = now()
		FROM unnest(@notice::bigint[], @seq::int[], @ring::bigint[]) AS x (notice_id, seq, ring)
		WHERE r.notice_id = x.notice_id AND r.seq = x.seq AND r.ring = x.ring AND r.rung_at IS NULL AND `+leads,
		pgx.StrictNamedArgs{"term": t, "notice": notice, "seq": seq, "ring": ring})
}

// RingStale has those ranges enqueued again, under a new number, that no worker
// has touched for the time of quiet. With all set it takes every range that was
// rung: the queue has lost its tasks.
func (db *DB) RingStale(ctx context.Context, t Term, quiet time.Duration, all bool) (n int64, err error) {
	defer wrap(&err, "RingStale")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	tag, err := db.pool.Exec(ctx, `
		UPDATE notice_range r SET ring = ring + 1, rung_at = NULL
		FROM notice n
		WHERE n.settled_at IS NULL AND n.state = 'sending' AND r.notice_id = n.id AND r.done_at IS NULL
			AND r.rung_at IS NOT NULL AND (@all OR greatest(r.touched_at, r.rung_at) < now() - @quiet::interval)
			AND `+leads, pgx.StrictNamedArgs{"term": t, "quiet": quiet, "all": all})
	return tag.RowsAffected(), db.noticed(err)
}

// RangeWork is what a range task needs to know.
type RangeWork struct {
	Notice  Notice
	Scope   string
	FirstID int64
	LastID  int64
}

// TakeRange begins a range task: it creates the range's deliveries, which adds
// nothing the second time, and gives what is to be told to whom. ErrStale when
// the ring was followed by a newer one, the range is done, or its notice is not
// being sent now.
func (db *DB) TakeRange(ctx context.Context, r Ring, shard int) (w RangeWork, err error) {
	defer wrap(&err, "TakeRange(%d, %d)", r.NoticeID, r.Seq)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			UPDATE notice_range SET touched_at = now(), filled_at = coalesce(filled_at, now())
			WHERE notice_id = $1 AND seq = $2 AND ring = $3 AND done_at IS NULL
				AND EXISTS (SELECT 1 FROM notice WHERE id = $1 AND state = 'sending')
			RETURNING scope, first_id, last_id`, r.NoticeID, r.Seq, r.Ring).Scan(&w.Scope, &w.FirstID, &w.LastID)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrStale
		}
		if err != nil {
			return err
		}
		if err := fill(ctx, tx, r.NoticeID, w.Scope, w.FirstID, w.LastID, shard); err != nil {
			return err
		}
		row, err := noticeRow(ctx, tx, r.NoticeID)
		w.Notice = row.Notice
		return err
	})
	return w, err
}

// fill creates the deliveries of one range. Who has left its scope since it was cut
// may be in no other range: those are due at once where they are now.
func fill(ctx context.Context, q querier, notice int64, scope string, first, last int64, shard int) error {
	_, err := q.Exec(ctx, `
		WITH made AS (
			INSERT INTO delivery (notice_id, device_id, scope, status, wake_at)
			SELECT n.id, v.id, v.scope, 'pending', CASE WHEN v.scope <> @scope THEN now() END FROM notice n, device v
			WHERE n.id = @notice AND v.id BETWEEN @first AND @last AND v.id <= n.audience_max AND `+matches+`
				AND (v.scope = @scope OR EXISTS (SELECT FROM device_move m WHERE m.device_id = v.id))
			ORDER BY v.id
			ON CONFLICT DO NOTHING
			RETURNING scope
		), elsewhere AS (
			INSERT INTO notice_counter AS c (notice_id, scope, shard, total, pending)
			SELECT @notice, m.scope, g, CASE g WHEN @shard THEN m.n ELSE 0 END, CASE g WHEN @shard THEN m.n ELSE 0 END
			FROM (SELECT scope, count(*) AS n FROM made WHERE scope <> @scope GROUP BY scope) m,
				generate_series(0, @shards - 1) g ORDER BY m.scope, g
			ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = c.total + excluded.total, pending = c.pending + excluded.pending
		)
		UPDATE notice_counter c SET total = c.total + m.n, pending = c.pending + m.n
		FROM (SELECT count(*) AS n FROM made WHERE scope = @scope) m
		WHERE c.notice_id = @notice AND c.scope = @scope AND c.shard = @shard AND m.n > 0`,
		pgx.StrictNamedArgs{"notice": notice, "scope": scope, "first": first, "last": last, "shard": shard % shards, "shards": shards})
	return err
}

// TouchRange says that a worker is still at it.
func (db *DB) TouchRange(ctx context.Context, r Ring) (err error) {
	defer wrap(&err, "TouchRange")
	return db.exec(ctx, `
		UPDATE notice_range SET touched_at = now() WHERE notice_id = $1 AND seq = $2 AND ring = $3 AND done_at IS NULL`,
		r.NoticeID, r.Seq, r.Ring)
}

// EndRange closes a range in which no first attempt waits or is under way. done
// is false where there still is one: it has to be rung again.
func (db *DB) EndRange(ctx context.Context, r Ring) (done bool, err error) {
	defer wrap(&err, "EndRange(%d, %d)", r.NoticeID, r.Seq)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	tag, err := db.pool.Exec(ctx, `
		UPDATE notice_range r SET done_at = now()
		WHERE notice_id = $1 AND seq = $2 AND done_at IS NULL AND filled_at IS NOT NULL AND NOT EXISTS (
			SELECT 1 FROM delivery d WHERE d.notice_id = $1 AND d.device_id BETWEEN r.first_id AND r.last_id
				AND d.scope = r.scope AND d.wake_at IS NULL AND d.status IN ('pending', 'sending'))`, r.NoticeID, r.Seq)
	return err == nil && tag.RowsAffected() == 1, db.noticed(err)
}

// LeaveRange gives a range that is not done back to the feeder, to be rung anew.
func (db *DB) LeaveRange(ctx context.Context, r Ring) (err error) {
	defer wrap(&err, "LeaveRange(%d, %d)", r.NoticeID, r.Seq)
	return db.exec(ctx, `
		UPDATE notice_range SET ring = ring + 1, rung_at = NULL
		WHERE notice_id = $1 AND seq = $2 AND ring = $3 AND done_at IS NULL`, r.NoticeID, r.Seq, r.Ring)
}
