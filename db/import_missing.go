package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// CountMissing finds the enabled devices that a full list does not name, counts
// them, and lets the import ask a person. Where there are none, or it is a dry
// run, the import is done. Devices that were registered since the import was
// accepted do not count.
func (db *DB) CountMissing(ctx context.Context, w *ImportWork) (err error) {
	defer wrap(&err, "CountMissing(%d)", w.ID)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, wholeTables); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM import_missing WHERE import_id = $1", w.ID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO import_missing (import_id, device_id)
			SELECT i.id, d.id FROM import i, device d
			WHERE i.id = $1 AND d.disabled_at IS NULL AND d.erased_at IS NULL AND d.registered_at <= i.accepted_at
				AND NOT EXISTS (SELECT 1 FROM import_row r WHERE r.import_id = $1 AND r.token_hash = d.token_hash)
				AND NOT EXISTS (SELECT 1 FROM import_row r WHERE r.import_id = $1 AND r.installation = d.installation)`, w.ID)
		if err != nil {
			return err
		}
		var enabled int64
		err = tx.QueryRow(ctx, "SELECT count(*) FROM device WHERE disabled_at IS NULL AND erased_at IS NULL").Scan(&enabled)
		if err != nil {
			return err
		}
		set := "phase = 'confirm', lease_until = NULL, missing = @missing, enabled = @enabled"
		if tag.RowsAffected() == 0 || w.DryRun {
			set = "state = 'done', finished_at = now(), lease_until = NULL, missing = @missing, enabled = @enabled"
		}
		return w.step(ctx, tx, set, map[string]any{"missing": tag.RowsAffected(), "enabled": enabled})
	})
}

// EndWriting goes on to the count of missing devices.
func (db *DB) EndWriting(ctx context.Context, w *ImportWork) (err error) {
	defer wrap(&err, "EndWriting(%d)", w.ID)
	err = db.read(ctx, func(ctx context.Context, q querier) error { return w.step(ctx, q, "phase = 'counting'", nil) })
	if err == nil {
		w.Phase = "counting"
	}
	return err
}

// DisableMissing disables the next of the devices that a confirmed full list does
// not name, at most limit, and ends the import behind the last. One that was
// registered again, or disabled, since it was counted is left alone.
func (db *DB) DisableMissing(ctx context.Context, w *ImportWork, limit int) (more bool, err error) {
	defer wrap(&err, "DisableMissing(%d)", w.ID)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var taken, disabled int64
		err := tx.QueryRow(ctx, `
			WITH next AS MATERIALIZED (
				DELETE FROM import_missing WHERE import_id = $1 AND device_id = ANY (ARRAY(
					SELECT device_id FROM import_missing WHERE import_id = $1 ORDER BY device_id LIMIT $2))
				RETURNING device_id
			), off AS (
				UPDATE device d SET disabled_at = clock_timestamp(), disabled_reason = 'not_in_list', updated_at = clock_timestamp()
				FROM next n, import i
				WHERE i.id = $1 AND d.id = n.device_id AND d.disabled_at IS NULL AND d.erased_at IS NULL
					AND d.registered_at <= i.accepted_at
				RETURNING d.id
			), told AS (
				INSERT INTO device_event (device_id, what, detail, by) SELECT id, 'disabled', 'not_in_list', $3 FROM off
			)
			SELECT (SELECT count(*) FROM next), (SELECT count(*) FROM off)`, w.ID, limit, w.actor().ID).Scan(&taken, &disabled)
		if err != nil {
			return err
		}
		more = taken == int64(limit)
		set := "disabled = disabled + @n"
		if !more {
			set += ", state = 'done', finished_at = now(), lease_until = NULL"
		}
		return w.step(ctx, tx, set, map[string]any{"n": disabled})
	})
	return more && err == nil, err
}
