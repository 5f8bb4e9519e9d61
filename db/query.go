package db

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"
)

// read runs f on the pool, within its limits. Each statement of f is a
// transaction of its own.
func (db *DB) read(ctx context.Context, f func(ctx context.Context, q querier) error) error {
	ctx, cancel := db.bound(ctx)
	defer cancel()
	return db.noticed(f(ctx, db.pool))
}

// oneRow gives the only row of a query as a T, by the names of its columns. It
// takes what Query returns. No row is ErrNotFound.
func oneRow[T any](rows pgx.Rows, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	return row, orNotFound(err)
}

// allRows gives the rows of a query as Ts, by the names of their columns. It
// takes what Query returns.
func allRows[T any](rows pgx.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// keysetDown checks what a list that runs from the highest id down is asked for. It
// gives the id that the page stays below.
func keysetDown(cursorText string, limit int) (below int64, err error) {
	if err := checkLimit(limit); err != nil {
		return 0, err
	}
	c, err := parseCursor(cursorText, 1)
	if err != nil {
		return 0, err
	}
	if c == nil {
		return math.MaxInt64, nil
	}
	return c[0], nil
}
