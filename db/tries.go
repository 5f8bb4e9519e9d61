package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// TryBudget is how often something may be tried: Size times at once, and once more
// after each Every. Key says what is counted; only its hash is stored.
type TryBudget struct {
	Key   string
	Size  int
	Every time.Duration
}

// errNoTryLeft undoes the transaction of TakeTries.
var errNoTryLeft = errors.New("no try is left")

// TakeTries spends one try of each budget, for all processes together, or none of any
// and says how long it takes until each has one.
func (db *DB) TakeTries(ctx context.Context, budgets ...TryBudget) (wait time.Duration, err error) {
	defer wrap(&err, "TakeTries(%d)", len(budgets))
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		full, err := moveBudgets(ctx, tx, budgets, 1)
		if err != nil {
			return err
		}
		for i, b := range budgets {
			wait = max(wait, full[i]-time.Duration(b.Size)*b.Every)
		}
		if wait > 0 {
			return errNoTryLeft
		}
		return nil
	})
	if errors.Is(err, errNoTryLeft) {
		return wait, nil
	}
	return 0, err
}

// GiveTriesBack undoes TakeTries: what was tried was no failure.
func (db *DB) GiveTriesBack(ctx context.Context, budgets ...TryBudget) (err error) {
	defer wrap(&err, "GiveTriesBack(%d)", len(budgets))
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := moveBudgets(ctx, tx, budgets, -1)
		return err
	})
}

// moveBudgets moves when each budget is full again by as many tries, and gives how far
// away that is then. It takes the rows in the order of their keys, so that two who do it
// at the same time wait for each other once.
func moveBudgets(ctx context.Context, tx pgx.Tx, budgets []TryBudget, tries int) ([]time.Duration, error) {
	keys, seconds, at := make([][]byte, len(budgets)), make([]float64, len(budgets)), map[string]int{}
	for i, b := range budgets {
		sum := sha256.Sum256([]byte(b.Key))
		keys[i], seconds[i] = sum[:], (time.Duration(tries) * b.Every).Seconds()
		at[string(sum[:])] = i
	}
	type row struct {
		Key     []byte
		Seconds float64
	}
	rows, err := allRows[row](tx.Query(ctx, `
		INSERT INTO sign_in_budget AS b (key, full_at)
		SELECT k.key, now() + make_interval(secs => k.seconds) FROM unnest($1::bytea[], $2::float8[]) AS k (key, seconds) ORDER BY k.key
		ON CONFLICT (key) DO UPDATE SET full_at = greatest(b.full_at, now()) + (EXCLUDED.full_at - now())
		RETURNING key, extract(epoch FROM full_at - now())::float8 AS seconds`, keys, seconds))
	full := make([]time.Duration, len(budgets))
	for _, r := range rows {
		full[at[string(r.Key)]] = time.Duration(r.Seconds * float64(time.Second)).Round(time.Millisecond)
	}
	return full, err
}

// SweepTries removes the budgets that are full again, and says how many.
func (db *DB) SweepTries(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "SweepTries")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, `
			DELETE FROM sign_in_budget WHERE key = ANY (ARRAY(
				SELECT key FROM sign_in_budget WHERE full_at < now() FOR UPDATE SKIP LOCKED))`)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}
