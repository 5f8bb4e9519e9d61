package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// seedBatch is how many devices one transaction of SeedDevices copies.
const seedBatch = 50_000

// SeedDevices adds n devices that are not there yet, device i as of gives it, in
// transactions of 50,000: for the demo and the benchmark, which begin with an
// empty table. It is an *InvalidError where one is wrong, and an internal error
// where a token is there already; the batches before stay.
func (db *DB) SeedDevices(ctx context.Context, n int, of func(i int) DeviceInput) (err error) {
	defer wrap(&err, "SeedDevices(%d)", n)
	for from := 0; from < n; from += seedBatch {
		if err := db.seedBatch(ctx, from, min(from+seedBatch, n), of); err != nil {
			return err
		}
	}
	return db.noticed(db.vacuumDevices(ctx))
}

func (db *DB) seedBatch(ctx context.Context, from, to int, of func(i int) DeviceInput) error {
	columns := []string{"token", "token_hash", "platform", "person", "tags", "consent", "installation"}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"device"}, columns,
			pgx.CopyFromSlice(to-from, func(i int) ([]any, error) { return seedRow(from+i, of(from+i)) }))
		return err
	})
}

func seedRow(i int, in DeviceInput) ([]any, error) {
	in = in.normal()
	if bad := in.faults(); len(bad) > 0 {
		return nil, Invalid(fmt.Sprintf("devices[%d].%s", i, bad[0].Field), "%s", bad[0].Message)
	}
	d := deviceState{consent: true, installation: in.Installation, tags: []string{}}
	d.fill(in)
	hash := tokenHash(in.Token)
	return []any{in.Token, hash[:], d.platform, d.person, d.tags, d.consent, d.installation}, nil
}

// vacuumDevices lets counts of the audience read the index alone at once. It may
// take longer than a page's query.
func (db *DB) vacuumDevices(ctx context.Context) error {
	return db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if _, err := c.Exec(ctx, "SET statement_timeout = 0"); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "VACUUM (ANALYZE) device"); err != nil {
			return err
		}
		_, err := c.Exec(ctx, "RESET statement_timeout")
		return err
	})
}
