package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// CancelImport ends an import that has not ended; what it wrote stays. It is
// ErrNotFound where there is none, and a *ConflictError wrong_state where it ended.
func (db *DB) CancelImport(ctx context.Context, id int64, by Actor) (_ Import, err error) {
	defer wrap(&err, "CancelImport(%d)", id)
	return db.actOnImport(ctx, id, by, "import.cancel", func(ctx context.Context, tx pgx.Tx, i Import) error {
		if i.Ended() {
			return &ConflictError{Code: "wrong_state", ID: id, Message: fmt.Sprintf("import %d is %s already", id, i.State)}
		}
		_, err := tx.Exec(ctx, `
			UPDATE import SET state = 'cancelled', finished_at = now(), lease_until = NULL, ended_by_name = $2, version = version + 1
			WHERE id = $1`, id, by.Name)
		return err
	})
}

// ConfirmImport lets a full list disable the devices that it does not name. n is
// the number that the person saw; again must be true where that is more than
// MissingShare of all. It is a *ConflictError where the import does not ask
// (wrong_state), where n is another number (stale_number), or where again is
// wanted (too_many).
func (db *DB) ConfirmImport(ctx context.Context, id, n int64, again bool, by Actor) (_ Import, err error) {
	defer wrap(&err, "ConfirmImport(%d)", id)
	return db.actOnImport(ctx, id, by, "import.confirm", func(ctx context.Context, tx pgx.Tx, i Import) error {
		switch {
		case !i.asks():
			return notAsked(i)
		case n != i.Missing:
			return &ConflictError{Code: "stale_number", Field: "missing", ID: id,
				Message: fmt.Sprintf("the list does not name %d devices, and %d was confirmed: look again", i.Missing, n)}
		case i.ManyMissing() && !again:
			return &ConflictError{Code: "too_many", Field: "again", ID: id,
				Message: fmt.Sprintf("%d of %d devices would be disabled, more than a fifth: confirm it a second time if that is right", i.Missing, i.Enabled)}
		}
		_, err := tx.Exec(ctx, `
			UPDATE import SET phase = 'disabling', confirmed_by_name = $2, ring = ring + 1, rung_at = NULL, lease_until = NULL,
				version = version + 1
			WHERE id = $1`, id, by.Name)
		return err
	})
}

// DeclineImport ends a full list that asks without disabling anything. It is a
// *ConflictError wrong_state where it does not ask.
func (db *DB) DeclineImport(ctx context.Context, id int64, by Actor) (_ Import, err error) {
	defer wrap(&err, "DeclineImport(%d)", id)
	return db.actOnImport(ctx, id, by, "import.decline", func(ctx context.Context, tx pgx.Tx, i Import) error {
		if !i.asks() {
			return notAsked(i)
		}
		_, err := tx.Exec(ctx, `
			UPDATE import SET state = 'done', finished_at = now(), lease_until = NULL, version = version + 1 WHERE id = $1`, id)
		return err
	})
}

// asks says whether the import waits for a person's word about missing devices.
func (i Import) asks() bool { return i.State == ImportRunning && i.Phase == "confirm" }

func notAsked(i Import) error {
	return &ConflictError{Code: "wrong_state", ID: i.ID, Message: fmt.Sprintf("import %d does not ask whether to disable devices", i.ID)}
}

// actOnImport locks an import, lets act change it, and writes the audit line with
// what it was before.
func (db *DB) actOnImport(ctx context.Context, id int64, by Actor, name string, act func(context.Context, pgx.Tx, Import) error) (i Import, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT FROM import WHERE id = $1 FOR UPDATE", id); err != nil {
			return err
		}
		if i, err = importRow(ctx, tx, id); err != nil {
			return err
		}
		if err := act(ctx, tx, i); err != nil {
			return err
		}
		if err := addAudit(ctx, tx, by, name, importObject(id), map[string]any{"processed": i.Processed(), "missing": i.Missing}); err != nil {
			return err
		}
		i, err = importRow(ctx, tx, id)
		return err
	})
	return i, err
}
