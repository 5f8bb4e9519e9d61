package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What an operator decides about deliveries whose end nobody knows.
const (
	Resend   = "resend"    // they wait again, under the vendor's old key
	MarkSent = "mark_sent" // they count as sent
)

// ResolveUnknown settles unknown deliveries of a notice, all of them where
// devices is nil, and tells how many. ErrNotFound; *InvalidError for another
// action. Several who press at once move each delivery once.
func (db *DB) ResolveUnknown(ctx context.Context, notice int64, action string, devices []int64, by Actor) (n int64, err error) {
	defer wrap(&err, "ResolveUnknown(%d, %q)", notice, action)
	if action != Resend && action != MarkSent {
		return 0, Invalid("action", "must be resend or mark_sent")
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		state, err := lockNotice(ctx, tx, notice)
		if err != nil {
			return err
		}
		if action == Resend && state == Cancelled {
			return &ConflictError{Code: "wrong_state", ID: notice,
				Message: fmt.Sprintf("notice %d is cancelled: nothing of it can be sent again", notice)}
		}
		if err := tx.QueryRow(ctx, resolveUnknownSQL, notice, action == Resend, devices).Scan(&n); err != nil || n == 0 {
			return err
		}
		if err := afterResolve(ctx, tx, notice, action); err != nil {
			return err
		}
		return addAudit(ctx, tx, by, "notice.unknown."+action, fmt.Sprintf("notice:%d", notice), map[string]any{"deliveries": n})
	})
	return n, err
}

// afterResolve has the notice go on, or keeps for its chart what counts as sent now:
// the feeder does not look at a notice that is settled.
func afterResolve(ctx context.Context, tx pgx.Tx, notice int64, action string) error {
	if action == Resend {
		return reopen(ctx, tx, notice)
	}
	_, err := tx.Exec(ctx, keepPace(`(SELECT * FROM notice WHERE id = @id) n`), paceArgs(pgx.StrictNamedArgs{"id": notice}))
	return err
}

// reopen takes a finished notice back to sending. The notice is locked.
func reopen(ctx context.Context, q querier, notice int64) error {
	_, err := q.Exec(ctx, `
		UPDATE notice SET version = version + 1, settled_at = NULL,
			state_at = CASE state WHEN 'finished' THEN now() ELSE state_at END,
			finished_at = CASE state WHEN 'finished' THEN NULL ELSE finished_at END,
			state = CASE state WHEN 'finished' THEN 'sending' ELSE state END
		WHERE id = $1`, notice)
	return err
}

const resolveUnknownSQL = `
	WITH moved AS (
		UPDATE delivery d SET
			status = CASE WHEN $2 THEN 'pending' ELSE 'sent' END, reason = NULL, code = NULL, message = NULL,
			wake_at = CASE WHEN $2 THEN now() END, sent_at = CASE WHEN NOT $2 THEN now() END, updated_at = now()
		WHERE notice_id = $1 AND status = 'unknown' AND ($3::bigint[] IS NULL OR device_id = ANY($3))
		RETURNING d.scope, d.charged
	), was AS (
		SELECT reason, count(*) AS n FROM delivery
		WHERE notice_id = $1 AND status = 'unknown' AND ($3::bigint[] IS NULL OR device_id = ANY($3)) GROUP BY reason
	), counted AS (
		UPDATE notice_counter c SET unknown = c.unknown - m.n,
			sent = c.sent + CASE WHEN $2 THEN 0 ELSE m.n END,
			pending = c.pending + CASE WHEN $2 THEN m.pending ELSE 0 END,
			retrying = c.retrying + CASE WHEN $2 THEN m.n - m.pending ELSE 0 END
		FROM (SELECT scope, count(*) AS n, count(*) FILTER (WHERE charged = 0) AS pending FROM moved GROUP BY scope) m
		WHERE c.notice_id = $1 AND c.scope = m.scope AND c.shard = 0
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT $1, 0, 'unknown', reason, -n FROM was
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	)
	SELECT count(*) FROM moved`
