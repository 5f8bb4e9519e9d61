package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ReasonCount is how many deliveries rest in Status for Reason.
type ReasonCount struct {
	Status string
	Reason string
	N      int64
	// Since when some ended so, and when the last did; nil where nobody noted it.
	FirstAt, LastAt *time.Time
}

// ScopeProgress is how far a notice is in one scope.
type ScopeProgress struct {
	Scope   string
	Total   int64
	Sent    int64
	Failed  int64
	Waiting int64  // or under way
	State   string // of the scope: ok, paused or probing
	Reason  string // why it is not ok
}

// Progress is what a notice's page shows, read in one snapshot.
type Progress struct {
	Notice  Notice
	Counts  Counts
	Reasons []ReasonCount // most frequent first
	Scopes  []ScopeProgress
	NextDue *time.Time // when the earliest waiting retry is due
	Now     time.Time  // by the database's clock
	Pace    Pace
}

// Progress reads how far notice id is; ErrNotFound. What it costs does not grow
// with the audience.
func (db *DB) Progress(ctx context.Context, id int64) (p Progress, err error) {
	defer wrap(&err, "Progress(%d)", id)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	opts := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db.pool, opts, func(tx pgx.Tx) error {
		r, err := noticeRow(ctx, tx, id)
		if err != nil {
			return err
		}
		p.Notice, p.Counts = r.Notice, r.Counts
		if p.Reasons, err = reasonCounts(ctx, tx, &id, ""); err != nil {
			return err
		}
		if p.Scopes, err = scopeProgress(ctx, tx, id); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `
			SELECT now(), (SELECT min(w.wake_at) FROM notice_counter l CROSS JOIN LATERAL (
				SELECT wake_at FROM delivery d WHERE d.notice_id = $1 AND d.scope = l.scope AND d.wake_at IS NOT NULL
					AND d.status = 'pending' -- for a retry under way it is the end of its lease
				ORDER BY wake_at LIMIT 1) w WHERE l.notice_id = $1 AND l.shard = 0)`,
			id).Scan(&p.Now, &p.NextDue); err != nil {
			return err
		}
		rows, err := paceRows(ctx, tx, id)
		p.Pace = paceOf(p.Notice, p.Counts, rows, p.Now)
		return err
	})
	return p, db.noticed(err)
}

// scopeProgress reads the counts of a notice by scope, without those that nobody of its
// audience is in.
func scopeProgress(ctx context.Context, q querier, id int64) ([]ScopeProgress, error) {
	return allRows[ScopeProgress](q.Query(ctx, `
		SELECT c.scope, sum(c.total)::bigint AS total, sum(c.sent)::bigint AS sent, sum(c.failed)::bigint AS failed,
			sum(c.pending + c.retrying + c.sending)::bigint AS waiting, coalesce(x.state, 'ok') AS state, coalesce(x.reason, '') AS reason
		FROM notice_counter c LEFT JOIN vendor x ON x.scope = c.scope
		WHERE c.notice_id = $1 GROUP BY c.scope, x.state, x.reason HAVING sum(c.total) > 0 ORDER BY c.scope`, id))
}

// reasonCounts reads the tallies of one notice, or of all; status "" is all.
func reasonCounts(ctx context.Context, q querier, notice *int64, status string) ([]ReasonCount, error) {
	rows, err := q.Query(ctx, `
		SELECT status, reason, sum(n)::bigint AS n, min(first_at) AS first_at, max(last_at) AS last_at FROM notice_reason
		WHERE ($1::bigint IS NULL OR notice_id = $1) AND ($2 = '' OR status = $2)
		GROUP BY status, reason HAVING sum(n) <> 0 ORDER BY n DESC, reason`, notice, status)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[ReasonCount])
}
