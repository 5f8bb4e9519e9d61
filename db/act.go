package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// PauseNotice stops new calls of an accepted or sending notice. Calls under way
// end and are recorded. ErrNotFound; *ConflictError wrong_state.
func (db *DB) PauseNotice(ctx context.Context, id int64, by Actor) (Notice, Counts, error) {
	return db.moveNotice(ctx, id, Paused, "notice.pause", []string{Accepted, Sending}, by)
}

// ResumeNotice lets a paused notice go on. ErrNotFound; *ConflictError wrong_state.
func (db *DB) ResumeNotice(ctx context.Context, id int64, by Actor) (Notice, Counts, error) {
	return db.moveNotice(ctx, id, Sending, "notice.resume", []string{Paused}, by)
}

// CancelNotice ends a notice: what was not told is skipped with the reason
// cancelled, soon after. ErrNotFound; *ConflictError wrong_state.
func (db *DB) CancelNotice(ctx context.Context, id int64, by Actor) (Notice, Counts, error) {
	return db.moveNotice(ctx, id, Cancelled, "notice.cancel", []string{Accepted, Sending, Paused}, by)
}

func (db *DB) moveNotice(ctx context.Context, id int64, to, act string, from []string, by Actor) (_ Notice, _ Counts, err error) {
	defer wrap(&err, "%s(%d)", act, id)
	var r NoticeRow
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		was, err := lockNotice(ctx, tx, id)
		if err != nil {
			return err
		}
		if !slices.Contains(from, was) {
			return wrongState(id, was, act)
		}
		if _, err := tx.Exec(ctx, `
			UPDATE notice SET state = $2, state_at = now(), state_by_name = $3, version = version + 1,
				started_at = CASE WHEN $2 = 'sending' THEN coalesce(started_at, now()) ELSE started_at END,
				finished_at = CASE WHEN $2 = 'cancelled' THEN now() END
			WHERE id = $1`, id, to, by.Name); err != nil {
			return err
		}
		if to == Sending {
			if err := ringOpenRanges(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := addAudit(ctx, tx, by, act, fmt.Sprintf("notice:%d", id), map[string]any{"from": was, "to": to}); err != nil {
			return err
		}
		r, err = noticeRow(ctx, tx, id)
		return err
	})
	return r.Notice, r.Counts, err
}

// lockNotice holds the notice's row until the transaction ends, and gives its
// state. Every act that changes what is open takes this lock first. The weaker of
// the two locks: the other would hold up, and meet in a deadlock, those who add a
// row that refers to the notice.
func lockNotice(ctx context.Context, tx pgx.Tx, id int64) (state string, err error) {
	err = tx.QueryRow(ctx, `SELECT state FROM notice WHERE id = $1 FOR NO KEY UPDATE`, id).Scan(&state)
	return state, orNotFound(err)
}

func wrongState(id int64, was, act string) error {
	does := map[string]string{
		"notice.pause": "paused", "notice.resume": "resumed", "notice.cancel": "cancelled",
	}[act]
	return &ConflictError{Code: "wrong_state", ID: id,
		Message: fmt.Sprintf("notice %d is %s and cannot be %s", id, was, does)}
}

// ringOpenRanges has the tasks of a notice's unfinished ranges enqueued again.
func ringOpenRanges(ctx context.Context, q querier, notice int64) error {
	_, err := q.Exec(ctx, `
		UPDATE notice_range SET ring = ring + 1, rung_at = NULL WHERE notice_id = $1 AND done_at IS NULL`, notice)
	return err
}
