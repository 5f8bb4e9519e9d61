package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// PauseReplay has no further delivery put back until it is resumed. ErrNotFound;
// *ConflictError wrong_state.
func (db *DB) PauseReplay(ctx context.Context, id int64, by Actor) (Replay, error) {
	return db.moveReplay(ctx, id, "paused", "replay.pause", []string{"pending", "running"}, by)
}

// ResumeReplay lets a paused run go on where it was. ErrNotFound; *ConflictError
// wrong_state.
func (db *DB) ResumeReplay(ctx context.Context, id int64, by Actor) (Replay, error) {
	return db.moveReplay(ctx, id, "pending", "replay.resume", []string{"paused"}, by)
}

// CancelReplay ends a run. What was put back by then stays so; the rest stays in
// the archive. ErrNotFound; *ConflictError wrong_state.
func (db *DB) CancelReplay(ctx context.Context, id int64, by Actor) (Replay, error) {
	return db.moveReplay(ctx, id, "cancelled", "replay.cancel", []string{"pending", "running", "paused"}, by)
}

func (db *DB) moveReplay(ctx context.Context, id int64, to, act string, from []string, by Actor) (r Replay, err error) {
	defer wrap(&err, "%s(%d)", act, id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var was string
		if err := tx.QueryRow(ctx, `SELECT state FROM replay WHERE id = $1 FOR UPDATE`, id).Scan(&was); err != nil {
			return orNotFound(err)
		}
		if !slices.Contains(from, was) {
			return &ConflictError{Code: "wrong_state", ID: id, Message: fmt.Sprintf("replay %d is %s and cannot be %s", id, was,
				map[string]string{"paused": "paused", "pending": "resumed", "cancelled": "cancelled"}[to])}
		}
		if _, err := tx.Exec(ctx, `
			UPDATE replay SET state = $2, finished_at = CASE WHEN $2 = 'cancelled' THEN now() END WHERE id = $1`, id, to); err != nil {
			return err
		}
		if r, err = replayByID(ctx, tx, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, by, act, fmt.Sprintf("replay:%d", id), map[string]any{"from": was, "to": to, "replayed": r.Replayed})
	})
	return r, err
}
