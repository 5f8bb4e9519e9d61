package main

import (
	"context"
	"errors"
	"log/slog"
	"os/user"

	"bongsu/db"
)

// withDatabase runs f on the migrated database of the configuration, for
// commands that do one thing and end.
func (a *app) withDatabase(ctx context.Context, f func(ctx context.Context, d *db.DB) error) (err error) {
	c, limits, err := a.config()
	if err != nil {
		return err
	}
	return a.atDatabase(ctx, c, func(ctx context.Context, url string) error {
		if _, _, err := db.Migrate(ctx, url); err != nil {
			return err
		}
		d, err := db.Open(ctx, url, limits.pool(2))
		if err != nil {
			return err
		}
		defer d.Close()
		return f(ctx, d)
	})
}

// atDatabase runs f with the URL of the configured database. A private server
// that it had to start for that is stopped after it.
func (a *app) atDatabase(ctx context.Context, c Config, f func(ctx context.Context, url string) error) (err error) {
	quiet := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: max(c.Log, slog.LevelWarn)}))
	s, err := useDatabase(ctx, c, quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	return f(ctx, s.databaseURL)
}

// pool gives the limits of a pool with this many connections.
func (l Limits) pool(conns int) db.Limits {
	return db.Limits{MaxConns: conns, Wait: l.PoolWait, Transaction: l.Transaction, Lock: l.Lock,
		Statement: l.Statement, Idle: l.IdleTransaction, Connect: l.Connect, Ping: l.Ping}
}

// commandActor is who the audit log names for what a command does: the
// operating system's user, who may do everything.
func commandActor() db.Actor {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return db.Actor{ID: "command", Name: name, Role: db.Admin}
}
