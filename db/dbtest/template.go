package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"bongsu/db/migrations"
)

// templateLock is the advisory lock under which one process makes a template.
const templateLock = 0x626f6e677375

// ensureTemplate returns the name of a template that holds the schema of these
// migrations, and makes it where the server has none. Another set of
// migrations gives another name.
func ensureTemplate(ctx context.Context, admin string) (string, error) {
	sum, err := migrationsHash()
	if err != nil {
		return "", err
	}
	name := "bongsu_template_" + sum
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx) // frees the lock
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(templateLock)); err != nil {
		return "", err
	}
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return name, err
	}
	return name, makeTemplate(ctx, admin, name)
}

// makeTemplate migrates a database under another name and renames it when it
// is whole, so that a killed run leaves no half of a template.
func makeTemplate(ctx context.Context, admin, name string) error {
	draft := name + "_new"
	url, err := cloneDatabase(ctx, admin, "template0", draft)
	if err != nil {
		return err
	}
	if err := migrateUp(ctx, url); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return onServer(ctx, admin, `ALTER DATABASE `+quote(draft)+` RENAME TO `+quote(name))
}

func migrateUp(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	m, err := migrate.NewMigrator(ctx, conn, "public.schema_version")
	if err != nil {
		return err
	}
	if err := m.LoadMigrations(migrations.FS); err != nil {
		return err
	}
	return m.Migrate(ctx)
}

// migrationsHash is the same for the same names and contents.
func migrationsHash() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(migrations.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(migrations.FS, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n%s", path, len(b), b)
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
