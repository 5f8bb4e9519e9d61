package db

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// seedBatch is how many devices one COPY of SeedDevices carries.
const seedBatch = 50_000

// SeedDevices adds n devices that are not there yet, device i as of gives it, in
// that order and all or nothing: for the demo and the benchmark. It has no limit
// of time but ctx. More than 50,000 devices for an empty table lock it until
// their indexes are built. It is an *InvalidError where one is wrong, and an
// internal error where a token is there already.
func (db *DB) SeedDevices(ctx context.Context, n int, of func(i int) DeviceInput) (err error) {
	defer wrap(&err, "SeedDevices(%d)", n)
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SET statement_timeout = 0"); err != nil {
		return db.noticed(err)
	}
	defer func() { // the connection goes back to the pool as it came, or not at all
		if _, e := conn.Exec(context.WithoutCancel(ctx), "RESET statement_timeout"); e != nil {
			_ = conn.Conn().Close(context.WithoutCancel(ctx))
		}
	}()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return seedDevices(ctx, tx, n, of) })
	if err != nil {
		return db.noticed(err)
	}
	// So that a count of the audience reads its index alone at once.
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) device")
	return db.noticed(err)
}

func seedDevices(ctx context.Context, tx pgx.Tx, n int, of func(i int) DeviceInput) error {
	rebuild, err := dropDeviceIndexes(ctx, tx, n)
	if err != nil {
		return err
	}
	columns := []string{"token", "token_hash", "kind", "environment", "p256dh", "auth", "platform", "person", "tags", "consent", "installation"}
	for from := 0; from < n; from += seedBatch {
		var wrong error // what COPY makes a text of
		rows := pgx.CopyFromSlice(min(seedBatch, n-from), func(i int) (row []any, err error) {
			row, wrong = seedRow(from+i, of(from+i))
			return row, wrong
		})
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"device"}, columns, rows)
		if err := cmp.Or(wrong, err); err != nil {
			return err
		}
	}
	for _, sql := range rebuild {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// dropDeviceIndexes drops the indexes of an empty table that is about to get
// many rows, and gives the statements that make them again: building them at the
// end takes half the time of keeping them up.
func dropDeviceIndexes(ctx context.Context, tx pgx.Tx, n int) (rebuild []string, err error) {
	if n <= seedBatch {
		return nil, nil
	}
	var filled bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM device)").Scan(&filled); err != nil || filled {
		return nil, err
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE device IN ACCESS EXCLUSIVE MODE"); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT indexname, indexdef FROM pg_indexes
		WHERE schemaname = 'public' AND tablename = 'device' AND indexname <> 'device_pkey'`)
	if err != nil {
		return nil, err
	}
	var names []string
	var name, def string
	if _, err := pgx.ForEachRow(rows, []any{&name, &def}, func() error {
		names, rebuild = append(names, pgx.Identifier{name}.Sanitize()), append(rebuild, def)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := tx.Exec(ctx, "DROP INDEX "+name); err != nil {
			return nil, err
		}
	}
	return rebuild, nil
}

func seedRow(i int, in DeviceInput) ([]any, error) {
	in = in.normal()
	if bad := in.faults(); len(bad) > 0 {
		return nil, Invalid(fmt.Sprintf("devices[%d].%s", i, bad[0].Field), "%s", bad[0].Message)
	}
	d := deviceState{consent: true, installation: in.Installation, tags: []string{}}
	d.fill(in)
	hash := tokenHash(in.Token)
	to, _ := in.place(nil, nil) // a new one has what is checked already
	return []any{in.Token, hash[:], to.kind, to.environment, to.p256dh, to.auth, d.platform, d.person, d.tags, d.consent, d.installation}, nil
}
