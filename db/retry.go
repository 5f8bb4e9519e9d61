package db

import "context"

// RingRetries takes count new numbers for retry tasks of notice and gives the
// last one; ErrNotFound when another feeder has taken over.
func (db *DB) RingRetries(ctx context.Context, t Term, notice int64, count int) (last int64, err error) {
	defer wrap(&err, "RingRetries(%d)", notice)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, `
		UPDATE notice SET retry_ring = retry_ring + $2 WHERE id = $1 AND EXISTS (SELECT 1 FROM feeder WHERE term = $3)
		RETURNING retry_ring`, notice, count, t).Scan(&last)
	return last, db.noticed(orNotFound(err))
}
