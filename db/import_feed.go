package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ImportRing is a task of an import that has to be enqueued.
type ImportRing struct {
	ID   int64
	Ring int64
}

// OpenImports gives the imports that have work and no task, the oldest first. One
// whose worker is lost, or whose task was rung longer than stale ago and not begun,
// gets a new number.
func (db *DB) OpenImports(ctx context.Context, t Term, stale time.Duration) (rings []ImportRing, err error) {
	defer wrap(&err, "OpenImports")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, `
			UPDATE import SET ring = ring + 1, rung_at = NULL
			WHERE state IN ('pending', 'running') AND phase <> 'confirm' AND rung_at IS NOT NULL
				AND coalesce(lease_until, rung_at + @stale::interval) < now() AND `+leads,
			pgx.StrictNamedArgs{"term": t, "stale": stale}); err != nil {
			return err
		}
		rings, err = allRows[ImportRing](q.Query(ctx, `
			SELECT id, ring FROM import
			WHERE state IN ('pending', 'running') AND phase <> 'confirm' AND rung_at IS NULL ORDER BY id LIMIT 16`))
		return err
	})
	return rings, err
}

// MarkImportRung notes that a task is enqueued. It does nothing where another
// feeder has taken over from t.
func (db *DB) MarkImportRung(ctx context.Context, t Term, r ImportRing) (err error) {
	defer wrap(&err, "MarkImportRung(%d)", r.ID)
	return db.exec(ctx, `
		UPDATE import SET rung_at = now() WHERE id = @id AND ring = @ring AND rung_at IS NULL AND `+leads,
		pgx.StrictNamedArgs{"term": t, "id": r.ID, "ring": r.Ring})
}

// RingImports makes all tasks of imports be rung again: Redis has lost them.
func (db *DB) RingImports(ctx context.Context, t Term) (err error) {
	defer wrap(&err, "RingImports")
	return db.exec(ctx, `
		UPDATE import SET ring = ring + 1, rung_at = NULL
		WHERE state IN ('pending', 'running') AND phase <> 'confirm' AND coalesce(lease_until, 'epoch') < now() AND `+leads,
		pgx.StrictNamedArgs{"term": t})
}

// cleanRows is how many staged rows one CleanImports removes.
const cleanRows = 20_000

// UploadMemory is how long a file may wait to become an import.
const UploadMemory = time.Hour

// CleanImports removes a part of what imports that ended have left behind, and
// files that never became an import. It does nothing where there is nothing.
func (db *DB) CleanImports(ctx context.Context, t Term) (err error) {
	defer wrap(&err, "CleanImports")
	return db.read(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, `
			DELETE FROM upload u WHERE u.begun_at < now() - @memory::interval
				AND NOT EXISTS (SELECT 1 FROM import WHERE upload_id = u.id) AND `+leads,
			pgx.StrictNamedArgs{"term": t, "memory": UploadMemory}); err != nil {
			return err
		}
		var id int64
		err := q.QueryRow(ctx, `
			SELECT id FROM import WHERE upload_id IS NOT NULL AND state NOT IN ('pending', 'running') ORDER BY id LIMIT 1`).Scan(&id)
		if err != nil {
			return ignoreNoRows(err)
		}
		tag, err := q.Exec(ctx, `
			DELETE FROM import_row WHERE ctid = ANY (ARRAY( -- by the row's place alone: an index would be asked 20,000 times a row
				SELECT ctid FROM import_row WHERE import_id = @id LIMIT @limit)) AND `+leads,
			pgx.StrictNamedArgs{"term": t, "id": id, "limit": cleanRows})
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		_, err = q.Exec(ctx, `
			WITH gone AS (DELETE FROM import_missing WHERE import_id = @id AND `+leads+`)
			DELETE FROM upload WHERE id = (SELECT upload_id FROM import WHERE id = @id) AND `+leads,
			pgx.StrictNamedArgs{"term": t, "id": id})
		return err
	})
}

func ignoreNoRows(err error) error {
	if err == pgx.ErrNoRows { //nolint:errorlint // as Scan gives it
		return nil
	}
	return err
}
