package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// StalledAfter is how long a notice may have something to do that nobody does
// until it counts as stalled.
const StalledAfter = time.Minute

// stalledMost is how many stalled notices are named.
const stalledMost = 20

// Stalled is a notice that should be under way and does not move.
type Stalled struct {
	ID    int64
	Title string
	Since time.Time // when it moved last, as far as the ledger tells
}

// stalled finds notices that are accepted or being sent, and in which either no
// range was touched, or a retry has been due with nothing under way, for
// StalledAfter. A notice that waits for its retries moves.
func stalled(ctx context.Context, q querier) ([]Stalled, error) {
	rows, err := q.Query(ctx, `
		SELECT n.id, n.title, m.since FROM notice n CROSS JOIN LATERAL (
			SELECT CASE
				WHEN n.state = 'accepted' THEN n.accepted_at
				WHEN n.cut_at IS NULL OR o.open THEN greatest(n.started_at, n.state_at, o.touched, l.moved)
				WHEN (SELECT sum(sending) FROM notice_counter WHERE notice_id = n.id) = 0
					THEN (SELECT min(w.wake_at) FROM notice_counter l CROSS JOIN LATERAL (
						SELECT wake_at FROM delivery d WHERE d.notice_id = n.id AND d.scope = l.scope AND d.wake_at <= now() AND d.status = 'pending'
						ORDER BY wake_at LIMIT 1) w WHERE l.notice_id = n.id AND l.shard = 0)
				END AS since
			FROM (SELECT count(*) > 0 AS open, max(touched_at) AS touched
				FROM notice_range WHERE notice_id = n.id AND done_at IS NULL) o
			LEFT JOIN LATERAL (SELECT greatest(touched_at, done_at) AS moved
				FROM notice_range WHERE notice_id = n.id ORDER BY seq DESC LIMIT 1) l ON true
		) m
		WHERE n.settled_at IS NULL AND n.state IN ('accepted', 'sending') AND n.expires_at > now()
			AND m.since < now() - $1::interval
		ORDER BY m.since, n.id LIMIT $2`, StalledAfter, stalledMost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Stalled])
}
