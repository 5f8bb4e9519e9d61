// Package redisserver runs a private Redis for a process that was given no
// REDIS_URL: a real server as a child, with an append-only file and no
// eviction, on a Unix socket that only its own user may open.
//
// It knows nothing of queues and tasks.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"bongsu/db/childproc"
)

const (
	// room is the server's directory under the data directory.
	room       = "redis"
	socketName = "redis.sock"
	// startLimit bounds a start, which reads the append-only file.
	startLimit = time.Minute
)

// Config says where the server lives.
type Config struct {
	Dir string // the data directory; the server takes Dir/redis
	Log *slog.Logger
}

// A Server is a running private Redis.
type Server struct {
	log     *slog.Logger
	base    string // Dir/redis: lock, log, url, append-only file
	url     string
	lock    *childproc.Lock
	process *childproc.Process

	stopOnce sync.Once
	stopErr  error
}

// Start starts the server and returns when it answers, at the latest after a
// minute. What an earlier process left running there it ends first.
//
// It fails with *childproc.InUseError when another process runs a server over
// the same directory, and with *childproc.MissingError when Redis is not
// installed.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	dir, base, err := childproc.Base(c.Dir, room)
	if err != nil {
		return nil, fmt.Errorf("redisserver: %w", err)
	}
	lock, err := childproc.Acquire(base, dir)
	if err != nil {
		return nil, fmt.Errorf("redisserver: %w", err)
	}
	s := &Server{log: c.Log, base: base, lock: lock}
	defer func() {
		if err != nil {
			lock.Release()
		}
	}()
	childproc.WithdrawURL(base)
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("redisserver: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	began := time.Now()
	program, err := childproc.Find("redis-server", "REDIS_URL")
	if err != nil {
		return err
	}
	err = childproc.EndOrphans(ctx, "redis-server", s.base, 0,
		childproc.Step{Signal: syscall.SIGTERM, Wait: 10 * time.Second})
	if err != nil {
		return err
	}
	run, err := childproc.SocketDir(s.base, socketName, os.Getuid(), os.Getgid())
	if err != nil {
		return err
	}
	socket := filepath.Join(run, socketName)
	s.url = (&url.URL{Scheme: "unix", Path: socket}).String()
	if err := s.launch(ctx, program, socket); err != nil {
		return err
	}
	if err := childproc.PublishURL(s.base, s.url); err != nil {
		return errors.Join(err, s.stopProcess(ctx))
	}
	s.log.Info("private Redis started", "data", s.base, "pid", s.process.Pid(), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// launch starts the program and waits until it has read its file and answers.
func (s *Server) launch(ctx context.Context, program, socket string) error {
	logFile, err := childproc.OpenLog(s.base)
	if err != nil {
		return err
	}
	defer logFile.Close()
	before, err := logFile.Seek(0, 2)
	if err != nil {
		return err
	}
	s.process, err = childproc.Start(childproc.Command{
		Path:        program,
		Args:        serverArgs(s.base, socket),
		Dir:         s.base,
		Env:         []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"},
		Log:         logFile,
		DeathSignal: syscall.SIGTERM, // it writes its file out and ends
	})
	if err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	defer client.Close()
	if err := s.process.Await(ctx, func(ctx context.Context) error { return client.Ping(ctx).Err() }); err != nil {
		_ = s.stopProcess(ctx)
		return fmt.Errorf("the server over %s did not start: %w\n%s", s.base, err, childproc.LogTail(s.base, before))
	}
	return nil
}

// serverArgs are the program's arguments.
func serverArgs(base, socket string) []string {
	return []string{
		"--port", "0", // the socket only
		"--unixsocket", socket,
		"--unixsocketperm", "700",
		"--protected-mode", "yes",
		"--dir", base,
		"--daemonize", "no",
		"--databases", "1",
		// A bell that rang is lost for a second at most, and the ledger rings
		// it again. Dropping keys to make room would lose them unseen.
		"--appendonly", "yes",
		"--appendfsync", "everysec",
		"--maxmemory-policy", "noeviction",
		"--save", "",
		"--loglevel", "warning",
	}
}

// URL is the server's address in the form that go-redis parses: unix:///path.
func (s *Server) URL() string { return s.url }

// Done is closed when the server has ended, asked or not.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Pid is the server's process, for tests that freeze or kill it.
func (s *Server) Pid() int { return s.process.Pid() }

// Stop shuts the server down and returns when it has written its file. The
// error says that it had to be killed. Calling it again returns the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		childproc.WithdrawURL(s.base)
		s.stopErr = s.stopProcess(ctx)
		s.lock.Release()
		s.log.Info("private Redis stopped", "data", s.base)
	})
	return s.stopErr
}

func (s *Server) stopProcess(ctx context.Context) error {
	err := s.process.Stop(ctx, childproc.Step{Signal: syscall.SIGTERM, Wait: 10 * time.Second})
	if err != nil {
		return fmt.Errorf("redisserver: stop: %w", err)
	}
	return nil
}

// Running reports whether some process runs a server over the data directory.
func Running(dir string) (bool, error) {
	held, err := childproc.Held(filepath.Join(dir, room))
	if err != nil {
		return false, fmt.Errorf("redisserver: %w", err)
	}
	return held, nil
}

// Join returns the URL of the server that another process runs over the data
// directory. It waits until ctx ends for one that is just starting.
func Join(ctx context.Context, dir string) (string, error) {
	u, err := childproc.AwaitURL(ctx, filepath.Join(dir, room))
	if err != nil {
		return "", fmt.Errorf("redisserver: %w", err)
	}
	return u, nil
}
