package dbtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"bongsu/db/childproc"
	"bongsu/db/pgserver"
)

// fastAndLoose are settings for databases that live as long as a test.
var fastAndLoose = map[string]string{
	"fsync":              "off",
	"synchronous_commit": "off",
	"full_page_writes":   "off",
	"shared_buffers":     "128MB",
	"max_wal_size":       "1GB",
	"autovacuum_naptime": "60s",
}

// A server is the PostgreSQL that one test binary uses.
type server struct {
	mainRuns atomic.Bool // Main will stop it

	mu       sync.Mutex
	admin    string // the URL of some database on it; "" before the first use
	private  *Private
	migrated string // the template's name; "" before the first use
}

// adminURL returns the server's URL, and starts it where that is needed.
func (s *server) adminURL(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admin != "" {
		return s.admin, nil
	}
	if u := os.Getenv(EnvURL); u != "" {
		s.admin = u
		return u, nil
	}
	if !s.mainRuns.Load() {
		return "", errors.New("no TestMain calls dbtest.Main, which would stop the private PostgreSQL")
	}
	p, err := StartPrivate(ctx)
	if err != nil {
		return "", err
	}
	s.private, s.admin = p, p.URL()
	return s.admin, nil
}

// template returns the name of the migrated template on the server.
func (s *server) template(ctx context.Context, admin string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.migrated == "" {
		name, err := ensureTemplate(ctx, admin)
		if err != nil {
			return "", err
		}
		s.migrated = name
	}
	return s.migrated, nil
}

func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.private == nil {
		return nil
	}
	return s.private.Stop()
}

// A Private is a PostgreSQL for tests: quick, not durable, in a directory of
// its own that goes when it stops.
type Private struct {
	*pgserver.Server
	dir string
}

// dirPattern names the directories of private test servers.
const dirPattern = "bongsu-dbtest-"

// StartPrivate starts a PostgreSQL for tests, and first removes what killed
// runs left behind.
func StartPrivate(ctx context.Context) (*Private, error) {
	sweep()
	dir, err := MkdirData(dirPattern)
	if err != nil {
		return nil, err
	}
	s, err := pgserver.Start(ctx, pgserver.Config{
		Dir:      dir,
		Log:      slog.New(slog.DiscardHandler),
		Settings: fastAndLoose,
	})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &Private{Server: s, dir: dir}, nil
}

// Stop stops the server and removes its directory.
func (p *Private) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return errors.Join(p.Server.Stop(ctx), os.RemoveAll(p.dir))
}

// MkdirData makes a new data directory under the temporary one that a private
// server's own user can reach, which testing's TempDir does not allow. The
// caller removes it.
func MkdirData(prefix string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// sweep removes the directories of test servers whose process was killed: old
// enough to have got their lock, and nobody holds it.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), dirPattern+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < 10*time.Minute {
			continue
		}
		lock, err := childproc.Acquire(filepath.Join(dir, "postgres"), dir)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(dir)
		lock.Release()
	}
}

// withDatabase returns u with another database's name.
func withDatabase(u, name string) (string, error) {
	parsed, err := url.Parse(u)
	if err != nil || parsed.Scheme == "" {
		return "", fmt.Errorf("%s is not a postgres:// URL", EnvURL)
	}
	parsed.Path = "/" + name
	return parsed.String(), nil
}
