package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	a, b := New(t), New(t)
	if _, err := a.Exec(t.Context(), `CREATE TABLE only_in_a (x int)`); err != nil {
		t.Fatal(err)
	}
	inA, inB, migrated := hasTable(t, a, "only_in_a"), hasTable(t, b, "only_in_a"), hasTable(t, b, "notice")
	if !inA || inB || !migrated {
		t.Errorf("table in its own database %v, in the other %v, schema there %v; want true, false, true", inA, inB, migrated)
	}
}

func hasTable(t *testing.T, pool *pgxpool.Pool, name string) (has bool) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&has); err != nil {
		t.Fatal(err)
	}
	return has
}

func TestDatabaseIsDroppedAtTheEnd(t *testing.T) {
	var url string
	t.Run("inner", func(t *testing.T) {
		url = URL(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		// Left open on purpose: the drop must not wait for it.
		_ = conn
	})
	if conn, err := pgx.Connect(t.Context(), url); err == nil {
		conn.Close(t.Context())
		t.Errorf("%s still takes connections after its test", url)
	}
}

func TestEmptyURLHasNoSchema(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), EmptyURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var tables int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Errorf("an empty database has %d tables", tables)
	}
}
