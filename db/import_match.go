package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// wholeTables lets the planner of one transaction read tables as a whole: the pool
// for work asks for points otherwise.
const wholeTables = `
	SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_bitmapscan = on;
	SET LOCAL enable_mergejoin = on; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL work_mem = '64MB'`

// EndReading notes that the whole list is staged.
func (db *DB) EndReading(ctx context.Context, w *ImportWork) (err error) {
	defer wrap(&err, "EndReading(%d)", w.ID)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return w.step(ctx, q, "phase = 'matching'", nil)
	})
	if err == nil {
		w.Phase = "matching"
	}
	return err
}

// MatchImport lets the last row of each device win, over the whole list: a row is
// overtaken by a later one with the same token or the same installation.
func (db *DB) MatchImport(ctx context.Context, w *ImportWork) (err error) {
	defer wrap(&err, "MatchImport(%d)", w.ID)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, wholeTables); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "ANALYZE import_row"); err != nil {
			return err
		}
		var doubled int64
		for _, by := range []string{"token_hash", "installation"} {
			tag, err := tx.Exec(ctx, `
				UPDATE import_row r SET over = true
				FROM (SELECT `+by+` AS device, max(row_no) AS last FROM import_row
					WHERE import_id = $1 AND NOT bad AND `+by+` IS NOT NULL GROUP BY 1 HAVING count(*) > 1) d
				WHERE r.import_id = $1 AND r.`+by+` = d.device AND r.row_no < d.last AND NOT r.bad AND NOT r.over`, w.ID)
			if err != nil {
				return err
			}
			doubled += tag.RowsAffected()
		}
		return w.step(ctx, tx, "phase = 'writing', doubled = @doubled, total = rows_read, total_known = true",
			map[string]any{"doubled": doubled})
	})
	if err == nil {
		w.Phase = "writing"
	}
	return err
}
