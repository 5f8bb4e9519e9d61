// Package pgserver runs a private PostgreSQL for a process that was given no
// DATABASE_URL: a real server as a child, durable, on a Unix socket that only
// its own user may open, over data that the next start finds again.
//
// It knows nothing of the product's tables.
package pgserver

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

	"bongsu/db/childproc"
)

const (
	// room is the server's directory under the data directory.
	room = "postgres"
	// superuser is the only role; database the one that URL names.
	superuser = "bongsu"
	database  = "bongsu"
	// socketName is the file that PostgreSQL makes for its default port.
	socketName = ".s.PGSQL.5432"
	// startLimit bounds a start: crash recovery replays up to max_wal_size.
	startLimit = 2 * time.Minute
)

// Config says where the server lives.
type Config struct {
	Dir string // the data directory; the server takes Dir/postgres
	Log *slog.Logger

	// Settings are server settings over those of this package. Only tests
	// have a use for them, which need no durability.
	Settings map[string]string
}

// A Server is a running private PostgreSQL.
type Server struct {
	log     *slog.Logger
	base    string // Dir/postgres: lock, log, url
	data    string // PostgreSQL's own directory
	url     string
	account account
	lock    *childproc.Lock
	process *childproc.Process

	stopOnce sync.Once
	stopErr  error
}

// Start starts the server and returns when it answers, at the latest after two
// minutes. It creates the data the first time, and finds it again later. What
// an earlier process left running there it ends first.
//
// It fails with *childproc.InUseError when another process runs a server over
// the same directory, and with *childproc.MissingError when PostgreSQL is not
// installed.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	dir, base, err := childproc.Base(c.Dir, room)
	if err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	lock, err := childproc.Acquire(base, dir)
	if err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	s := &Server{log: c.Log, base: base, lock: lock}
	defer func() {
		if err != nil {
			lock.Release()
		}
	}()
	childproc.WithdrawURL(base)
	if err := s.start(ctx, c.Settings); err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, settings map[string]string) error {
	began := time.Now()
	acc, err := serverAccount()
	if err != nil {
		return err
	}
	s.account = acc
	s.data, err = dataDir(s.base, acc)
	if err != nil {
		return err
	}
	bin, err := findBin(ctx, s.data, binDirs(os.Getenv("PATH"), debianBins))
	if err != nil {
		return err
	}
	if err := initData(ctx, bin, s.base, s.data, acc, settings["fsync"] != "off"); err != nil {
		return err
	}
	if err := endOrphans(ctx, s.data); err != nil {
		return err
	}
	home := s.base
	if !acc.reaches(filepath.Join(home, "run")) {
		home = s.data
	}
	run, err := childproc.SocketDir(home, socketName, acc.uid, acc.gid)
	if err != nil {
		return err
	}
	s.url = socketURL(run, database)
	if err := s.launch(ctx, bin, run, settings); err != nil {
		return err
	}
	if err := childproc.PublishURL(s.base, s.url); err != nil {
		return errors.Join(err, s.stopProcess(ctx))
	}
	s.log.Info("private PostgreSQL started", "data", s.data, "pid", s.process.Pid(), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// launch starts the program and waits until the database is there.
func (s *Server) launch(ctx context.Context, bin, run string, settings map[string]string) error {
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
		Path:        filepath.Join(bin, "postgres"),
		Args:        serverArgs(s.data, run, settings),
		Dir:         s.data,
		Env:         serverEnv(),
		Log:         logFile,
		Credential:  s.account.credential(),
		DeathSignal: syscall.SIGINT, // a fast shutdown
	})
	if err != nil {
		return err
	}
	admin := socketURL(run, "postgres")
	if err := s.process.Await(ctx, func(ctx context.Context) error { return ensureDatabase(ctx, admin) }); err != nil {
		_ = s.stopProcess(ctx)
		return fmt.Errorf("PostgreSQL did not start over %s: %w\n%s", s.data, err, childproc.LogTail(s.base, before))
	}
	return nil
}

// URL is a connection string that pgx takes, with the database named.
func (s *Server) URL() string { return s.url }

// DataDir is PostgreSQL's own directory.
func (s *Server) DataDir() string { return s.data }

// Done is closed when the server has ended, asked or not.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// Stop shuts the server down and returns when it has ended: fast first, and
// after 15 s without a last checkpoint. Its data is safe in both cases. The
// error says that it had to be killed. Calling it again returns the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		childproc.WithdrawURL(s.base)
		s.stopErr = s.stopProcess(ctx)
		s.lock.Release()
		s.log.Info("private PostgreSQL stopped", "data", s.data)
	})
	return s.stopErr
}

func (s *Server) stopProcess(ctx context.Context) error {
	err := s.process.Stop(ctx,
		childproc.Step{Signal: syscall.SIGINT, Wait: 15 * time.Second},
		childproc.Step{Signal: syscall.SIGQUIT, Wait: 8 * time.Second})
	if err != nil {
		return fmt.Errorf("pgserver: stop: %w", err)
	}
	return nil
}

// Running reports whether some process runs a server over the data directory.
func Running(dir string) (bool, error) {
	held, err := childproc.Held(filepath.Join(dir, room))
	if err != nil {
		return false, fmt.Errorf("pgserver: %w", err)
	}
	return held, nil
}

// Join returns the URL of the server that another process runs over the data
// directory. It waits until ctx ends for one that is just starting.
func Join(ctx context.Context, dir string) (string, error) {
	u, err := childproc.AwaitURL(ctx, filepath.Join(dir, room))
	if err != nil {
		return "", fmt.Errorf("pgserver: %w", err)
	}
	return u, nil
}

// socketURL is the connection string of a database behind the socket in run.
func socketURL(run, database string) string {
	q := url.Values{"host": {run}, "user": {superuser}}
	u := url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: q.Encode()}
	return u.String()
}

// serverEnv is the environment of the server: nothing of ours, which holds
// secrets and may hold PG variables.
func serverEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}
