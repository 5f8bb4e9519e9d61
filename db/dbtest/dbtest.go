// Package dbtest gives each test a database of its own, cloned from a template
// that holds the migrated schema. The server is the one that
// BONGSU_TEST_DATABASE_URL names, or a private one that the test binary starts
// when its first test asks. Where neither can be had, the test fails.
//
// It imports no other package of ours than the migrations and the private
// server, so that the tests of package db can use it from inside.
package dbtest

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// EnvURL is the variable that names a PostgreSQL for tests: the URL of any
// database on it, of a role that may create databases.
const EnvURL = "BONGSU_TEST_DATABASE_URL"

// limit bounds each step of the kit.
const limit = 60 * time.Second

var (
	shared    server       // the server of this test binary
	databases atomic.Int64 // how many this process made, for their names
)

// Main runs the tests, stops the private server if one was started, and exits.
// Every package whose tests use this kit calls it:
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
func Main(m *testing.M) {
	shared.mainRuns.Store(true)
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// New returns a pool on a new database with the migrated schema. The pool is
// closed and the database dropped when t ends.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	url := URL(t)
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// URL returns the connection string of a new database with the migrated
// schema. The database is dropped when t ends, connected or not.
func URL(t testing.TB) string {
	t.Helper()
	return create(t, true)
}

// EmptyURL is URL without the schema, for tests of the migrations.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return create(t, false)
}

// create makes a database, from the template or empty.
func create(t testing.TB, migrated bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	admin, err := shared.adminURL(ctx)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	template := "template0"
	if migrated {
		if template, err = shared.template(ctx, admin); err != nil {
			t.Fatalf("dbtest: %v", err)
		}
	}
	name := fmt.Sprintf("bongsu_test_%d_%d", os.Getpid(), databases.Add(1))
	url, err := cloneDatabase(ctx, admin, template, name)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := onServer(ctx, admin, `DROP DATABASE IF EXISTS `+quote(name)+` WITH (FORCE)`); err != nil {
			t.Errorf("dbtest: drop %s: %v", name, err)
		}
	})
	return url
}

// cloneDatabase makes a database and returns its URL. What a killed run with
// this process's number left under the name goes first.
func cloneDatabase(ctx context.Context, admin, template, name string) (string, error) {
	err := onServer(ctx, admin,
		`DROP DATABASE IF EXISTS `+quote(name)+` WITH (FORCE)`,
		`CREATE DATABASE `+quote(name)+` TEMPLATE `+quote(template))
	if err != nil {
		return "", fmt.Errorf("create %s: %w", name, err)
	}
	return withDatabase(admin, name)
}

// onServer runs the statements, one by one, on a connection of their own.
func onServer(ctx context.Context, admin string, statements ...string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
