// Package db holds the ledger: the domain's types, their rules, and the SQL that
// keeps them, one file per aggregate. An exported method is one transaction. It
// knows nothing of HTTP, of queues or of vendors' protocols.
package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Limits bounds what a pool may take and how long anything in it may last.
type Limits struct {
	MaxConns    int
	Wait        time.Duration // for a free connection
	Transaction time.Duration // a whole transaction, and so each statement in it
	Lock        time.Duration // for one lock
	Statement   time.Duration // one statement; 0: as long as a transaction
	Idle        time.Duration // between two statements of a transaction; 0: as long as it
	Connect     time.Duration // a new connection; 0: as long as Wait
	Ping        time.Duration // the question whether a rested connection lives; 0: as long as Wait
	Worker      bool          // every query is a point or a short range of an index
}

// DB is the ledger through one pool of connections. It is safe for use by many
// goroutines.
type DB struct {
	pool   *pgxpool.Pool
	limits Limits
	begun  begun
}

// Open makes a pool for url. It does not connect: a database that is away is an
// error of the first call, so that a server can start and explain it.
func Open(ctx context.Context, url string, l Limits) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	cfg.MaxConns = int32(l.MaxConns)
	cfg.ConnConfig.ConnectTimeout = cmp.Or(l.Connect, l.Wait)
	cfg.PingTimeout = cmp.Or(l.Ping, l.Wait)
	cfg.MaxConnLifetime = 10 * time.Minute
	cfg.MaxConnLifetimeJitter = 2 * time.Minute
	p := cfg.ConnConfig.RuntimeParams
	p["application_name"] = "bongsu"
	p["timezone"] = "UTC"
	p["statement_timeout"] = fmt.Sprint(cmp.Or(l.Statement, l.Transaction).Milliseconds())
	p["lock_timeout"] = fmt.Sprint(l.Lock.Milliseconds())
	p["idle_in_transaction_session_timeout"] = fmt.Sprint(cmp.Or(l.Idle, l.Transaction).Milliseconds())
	if l.Worker {
		// Planned once, and never by whole tables: statistics lag behind a table
		// that grows by a million rows in a minute.
		for _, name := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
			p[name] = "off"
		}
		p["plan_cache_mode"] = "force_generic_plan"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return &DB{pool: pool, limits: l}, nil
}

// Close waits for the connections in use and closes the pool.
func (db *DB) Close() { db.pool.Close() }

// Ping asks the database for an answer.
func (db *DB) Ping(ctx context.Context) (err error) {
	defer wrap(&err, "Ping")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	_, err = db.pool.Exec(ctx, "SELECT 1")
	return db.noticed(err)
}

// bound gives ctx the time that one transaction and the wait for its connection
// may take.
func (db *DB) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, db.limits.Wait+db.limits.Transaction)
}

// tx runs f in a transaction, within the pool's limits, and commits where f
// returns nil. A rollback is certain on any error but one of the commit itself.
func (db *DB) tx(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return f(ctx, tx) })
	return db.noticed(err)
}

// querier is what a pool and a transaction have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// noticed empties the pool when err says that the server behind it went away or
// changed its role, so that the next call meets a fresh connection.
func (db *DB) noticed(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		switch {
		case pe.Code == "25006", pe.Code == "57P01", pe.Code == "57P02", pe.Code == "57P03", pe.Code[:2] == "08":
			db.pool.Reset()
		}
	}
	return err
}

// wrap puts the name of the call before *err, where there is one.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}
