package db

import (
	"context"
	"testing"
	"time"

	"bongsu/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var testLimits = Limits{MaxConns: 8, Wait: 5 * time.Second, Transaction: 10 * time.Second, Lock: 5 * time.Second}

// someone is who acts in tests.
var someone = Actor{ID: "user:1", Name: "kim@example.com", Role: Admin, RequestID: "r-1"}

// newDB gives a store over a migrated database of the test's own.
func newDB(t testing.TB) *DB {
	t.Helper()
	db, err := Open(context.Background(), dbtest.URL(t), testLimits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// exec runs SQL that no method offers, to set a scene.
func exec(t testing.TB, db *DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask gives the one value of a query.
func ask[T any](t testing.TB, db *DB, sql string, args ...any) (v T) {
	t.Helper()
	if err := db.pool.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}
