package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"bongsu/db/migrations"
)

// Migrate brings the database at url to the newest version and returns the
// version it found and the one it left. Several processes may call it at once:
// an advisory lock lets one work, and the others find it done.
func Migrate(ctx context.Context, url string) (from, to int32, err error) {
	defer wrap(&err, "Migrate")
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	m, err := migrate.NewMigrator(ctx, conn, "public.schema_version")
	if err != nil {
		return 0, 0, err
	}
	if err := m.LoadMigrations(migrations.FS); err != nil {
		return 0, 0, err
	}
	if from, err = m.GetCurrentVersion(ctx); err != nil {
		return 0, 0, err
	}
	if to = int32(len(m.Migrations)); from > to {
		return from, to, fmt.Errorf("the database is at version %d, this program knows %d: use a newer program", from, to)
	}
	return from, to, m.Migrate(ctx)
}
