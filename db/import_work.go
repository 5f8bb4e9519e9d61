package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ImportWork is the right to work on an import, while its lease lasts, and how
// far it has come.
type ImportWork struct {
	ID       int64
	Fence    int64
	Upload   int64
	Chunks   int
	DryRun   bool
	Enable   bool
	FullList bool
	Phase    string
	ReadTo   int64
	WriteTo  int64
	AllNew   bool `db:"-"` // the last part that was written had new devices only
}

const workColumns = `id, fence, upload_id AS upload, chunks, dry_run, enable, full_list, phase, read_to, write_to`

// actor names the import where what it did to a device is kept.
func (w ImportWork) actor() Actor { return Actor{ID: fmt.Sprintf("import:%d", w.ID)} }

// BeginImport takes an import to work on it. It is ErrStale where the ring is not
// the current one, somebody else holds it, or nothing is to be done. What was
// staged and is lost, since the server crashed, is read anew; what was written
// stays written.
func (db *DB) BeginImport(ctx context.Context, id, ring int64, lease time.Duration) (w ImportWork, err error) {
	defer wrap(&err, "BeginImport(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		w, err = oneRow[ImportWork](tx.Query(ctx, `
			UPDATE import SET state = 'running', fence = fence + 1, lease_until = now() + $3::interval,
				started_at = coalesce(started_at, now()), progress_at = now(), version = version + 1
			WHERE id = $1 AND ring = $2 AND phase <> 'confirm' AND state IN ('pending', 'running')
				AND coalesce(lease_until, 'epoch') < now()
			RETURNING `+workColumns, id, ring, lease))
		if err != nil {
			return err
		}
		return w.checkStaged(ctx, tx)
	})
	if errors.Is(err, ErrNotFound) {
		err = ErrStale
	}
	return w, err
}

// checkStaged goes back to reading where rows that were staged are gone. Rows that
// were rejected while they were written stay so: they are not written again.
func (w *ImportWork) checkStaged(ctx context.Context, tx pgx.Tx) error {
	if w.Phase == "disabling" {
		return nil // needs them no more
	}
	var lost bool
	err := tx.QueryRow(ctx, `
		SELECT staged <> (SELECT count(*) FROM import_row WHERE import_id = i.id) FROM import i WHERE id = $1`, w.ID).Scan(&lost)
	if err != nil || !lost {
		return err
	}
	for _, sql := range []string{
		"DELETE FROM import_row WHERE import_id = $1",
		"DELETE FROM import_reject WHERE import_id = $1 AND NOT late",
		"DELETE FROM import_reason WHERE import_id = $1",
		`INSERT INTO import_reason (import_id, reason, n)
			SELECT import_id, reason, count(*) FROM import_reject WHERE import_id = $1 GROUP BY 1, 2`,
		`UPDATE import i SET phase = 'reading', read_to = 0, rows_read = 0, staged = 0, bytes_read = 0, rejected = r.n, doubled = 0,
			total = created + updated + unchanged + r.n, total_known = false
			FROM (SELECT count(*) AS n FROM import_reject WHERE import_id = $1) r WHERE i.id = $1`,
	} {
		if _, err := tx.Exec(ctx, sql, w.ID); err != nil {
			return err
		}
	}
	w.Phase, w.ReadTo = "reading", 0
	return nil
}

// holds is the condition that a worker still holds the import.
const holds = `id = @id AND fence = @fence AND state = 'running'`

func (w ImportWork) args(more map[string]any) pgx.StrictNamedArgs {
	args := pgx.StrictNamedArgs{"id": w.ID, "fence": w.Fence}
	for k, v := range more {
		args[k] = v
	}
	return args
}

// step writes how far an import has come, and says ErrStale where it was cancelled
// or somebody else has taken it over. set is the list of what changes.
func (w ImportWork) step(ctx context.Context, q querier, set string, more map[string]any) error {
	tag, err := q.Exec(ctx, `
		UPDATE import SET progress_at = now(), version = version + 1, `+set+` WHERE `+holds, w.args(more))
	if err == nil && tag.RowsAffected() != 1 {
		return ErrStale
	}
	return err
}

// HoldImport prolongs the lease. It is ErrStale where it is lost.
func (db *DB) HoldImport(ctx context.Context, w ImportWork, lease time.Duration) (err error) {
	defer wrap(&err, "HoldImport(%d)", w.ID)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, "UPDATE import SET lease_until = now() + @lease::interval WHERE "+holds, w.args(map[string]any{"lease": lease}))
		if err == nil && tag.RowsAffected() != 1 {
			return ErrStale
		}
		return err
	})
}

// YieldImport gives the import back, to be rung again at once.
func (db *DB) YieldImport(ctx context.Context, w ImportWork) (err error) {
	defer wrap(&err, "YieldImport(%d)", w.ID)
	return db.exec(ctx, "UPDATE import SET lease_until = NULL, rung_at = NULL, ring = ring + 1 WHERE "+holds, w.args(nil))
}

// FailImport ends an import that cannot go on: code is stable, message says why and
// what to do.
func (db *DB) FailImport(ctx context.Context, w ImportWork, code, message string) (err error) {
	defer wrap(&err, "FailImport(%d)", w.ID)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		return w.step(ctx, q, `state = 'failed', finished_at = now(), lease_until = NULL, error_code = @code, error_message = @message`,
			map[string]any{"code": code, "message": message})
	})
}

// FinishImport ends an import that is through.
func (db *DB) FinishImport(ctx context.Context, w ImportWork) (err error) {
	defer wrap(&err, "FinishImport(%d)", w.ID)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		return w.step(ctx, q, `state = 'done', finished_at = now(), lease_until = NULL`, nil)
	})
}
