package pgserver

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ensureDatabase creates the product's database through a connection to
// another one, where it does not exist yet. Until the server takes
// connections it fails.
func ensureDatabase(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database).Scan(&exists)
	if err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{database}.Sanitize())
	return err
}
