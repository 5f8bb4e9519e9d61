// Package redistest gives a test a real Redis of its own, which it may stop,
// start again, freeze and empty. A test fails where Redis is not installed.
package redistest

import (
	"context"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"bongsu/jobs/redisserver"
)

// A Redis is one test's server. It ends with the test.
type Redis struct {
	t      testing.TB
	dir    string
	server *redisserver.Server // nil while stopped
	url    string
}

// New starts a Redis for t.
func New(t testing.TB) *Redis {
	t.Helper()
	dir, err := os.MkdirTemp("", "bongsu-redistest-")
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &Redis{t: t, dir: dir}
	t.Cleanup(r.end)
	r.Start()
	return r
}

// URL is the server's address; it stays the same over Stop and Start.
func (r *Redis) URL() string { return r.url }

// Start starts the server again over the data that it had.
func (r *Redis) Start() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := redisserver.Start(ctx, redisserver.Config{Dir: r.dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatalf("redistest: %v", err)
	}
	r.server, r.url = s, s.URL()
}

// Stop stops the server. Its data stays for the next Start.
func (r *Redis) Stop() {
	r.t.Helper()
	r.end()
	if r.t.Failed() {
		r.t.FailNow()
	}
}

// StartEmpty stops the server and starts one that has lost everything.
func (r *Redis) StartEmpty() {
	r.t.Helper()
	r.Stop()
	if err := os.RemoveAll(r.dir + "/redis/appendonlydir"); err != nil {
		r.t.Fatalf("redistest: %v", err)
	}
	r.Start()
}

// Freeze makes the server silent: it takes connections and answers nothing.
func (r *Redis) Freeze() { r.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (r *Redis) Thaw() { r.signal(syscall.SIGCONT) }

func (r *Redis) signal(sig syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(r.server.Pid(), sig); err != nil {
		r.t.Fatalf("redistest: signal %v: %v", sig, err)
	}
}

// end stops the server if it runs, frozen or not.
func (r *Redis) end() {
	if r.server == nil {
		return
	}
	_ = syscall.Kill(r.server.Pid(), syscall.SIGCONT)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if err := r.server.Stop(ctx); err != nil {
		r.t.Errorf("redistest: %v", err)
	}
	r.server = nil
}

// Keep takes a copy of the data as it is on the disk now, and gives a function
// that stops the server and starts it again over that copy.
func (r *Redis) Keep() (restore func()) {
	r.t.Helper()
	live, old := r.dir+"/redis/appendonlydir", r.dir+"/old"
	copyDir := func(from, to string) {
		r.t.Helper()
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			r.t.Fatalf("redistest: %v", err)
		}
	}
	copyDir(live, old)
	return func() {
		r.t.Helper()
		r.Stop()
		if err := os.RemoveAll(live); err != nil {
			r.t.Fatalf("redistest: %v", err)
		}
		copyDir(old, live)
		r.Start()
	}
}
