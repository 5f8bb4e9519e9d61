package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"bongsu/db/childproc"
	"bongsu/db/pgserver"
	"bongsu/jobs/redisserver"
)

// joinLimit is how long a command waits for a server that another process is
// just starting.
const joinLimit = 30 * time.Second

// servers are the PostgreSQL and the Redis that a command uses: those that the
// configuration names, or private ones.
type servers struct {
	databaseURL string
	redisURL    string
	dataDir     string // of a private PostgreSQL; empty: another machine's
	kept        []*keeper
}

// startServers starts private servers for what c names no URL of and the role
// needs: pages alone look into a Redis that there is, and need none. It fails
// with *childproc.InUseError where another process runs them.
func startServers(ctx context.Context, c Config, role string, log *slog.Logger) (*servers, error) {
	s := &servers{databaseURL: string(c.DatabaseURL), redisURL: string(c.RedisURL)}
	if s.databaseURL == "" {
		k, url, dir, err := keepPostgres(ctx, c, log)
		if err != nil {
			return nil, err
		}
		s.kept, s.databaseURL, s.dataDir = append(s.kept, k), url, dir
	}
	if s.redisURL == "" && role != roleWeb {
		k, url, err := keepRedis(ctx, c, log)
		if err != nil {
			return nil, errors.Join(err, s.stop(context.WithoutCancel(ctx)))
		}
		s.kept, s.redisURL = append(s.kept, k), url
	}
	return s, nil
}

// useDatabase is startServers for a command that needs the database alone and
// may run beside serve: a private PostgreSQL that another process runs over the
// same directory is used, not refused.
func useDatabase(ctx context.Context, c Config, log *slog.Logger) (*servers, error) {
	if c.DatabaseURL != "" {
		return &servers{databaseURL: string(c.DatabaseURL)}, nil
	}
	k, url, _, err := keepPostgres(ctx, c, log)
	var inUse *childproc.InUseError
	if errors.As(err, &inUse) {
		ctx, cancel := context.WithTimeout(ctx, joinLimit)
		defer cancel()
		url, err := pgserver.Join(ctx, c.DataDir)
		return &servers{databaseURL: url}, err
	}
	if err != nil {
		return nil, err
	}
	return &servers{databaseURL: url, kept: []*keeper{k}}, nil
}

// stop stops the private servers, the last started first.
func (s *servers) stop(ctx context.Context) error {
	var problems []error
	for i := len(s.kept) - 1; i >= 0; i-- {
		problems = append(problems, s.kept[i].stop(ctx))
	}
	return errors.Join(problems...)
}

// keepPostgres starts a private PostgreSQL and gives its URL and where its data lies.
func keepPostgres(ctx context.Context, c Config, log *slog.Logger) (_ *keeper, url, dir string, err error) {
	s, err := pgserver.Start(ctx, pgserver.Config{Dir: c.DataDir, Log: log})
	if err != nil {
		return nil, "", "", err
	}
	again := func(ctx context.Context) (server, error) {
		return pgserver.Start(ctx, pgserver.Config{Dir: c.DataDir, Log: log})
	}
	return keep(s, again, log), s.URL(), s.DataDir(), nil
}

func keepRedis(ctx context.Context, c Config, log *slog.Logger) (*keeper, string, error) {
	s, err := redisserver.Start(ctx, redisserver.Config{Dir: c.DataDir, Log: log})
	if err != nil {
		return nil, "", err
	}
	again := func(ctx context.Context) (server, error) {
		return redisserver.Start(ctx, redisserver.Config{Dir: c.DataDir, Log: log})
	}
	return keep(s, again, log), s.URL(), nil
}
