package redisserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bongsu/db/childproc"
)

// helperDir makes the test binary a program that starts a server over the
// directory it names, says "ready", and waits to be killed.
const helperDir = "BONGSU_TEST_REDISSERVER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		if _, err := Start(context.Background(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler)}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestDataOutlivesStopAndStart(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	c := client(t, s.URL())
	if err := c.Set(t.Context(), "kept", "42", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "port": "0", "save": "",
	} {
		got, err := c.ConfigGet(t.Context(), name).Result()
		if err != nil || got[name] != want {
			t.Errorf("%s = %q, %v; want %q", name, got[name], err, want)
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("it still answers after Stop")
	}
	wantKept(t, start(t, dir))
}

func TestSecondProcessIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	helper := startHelper(t, dir)
	_, err := Start(t.Context(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	inUse := new(childproc.InUseError)
	if !errors.As(err, &inUse) {
		t.Fatalf("the second start gave %v, want *InUseError", err)
	}
	for _, want := range []string{dir, fmt.Sprint(helper.Process.Pid), "BONGSU_DATA_DIR"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not name %s", err, want)
		}
	}
	url, err := Join(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := client(t, url).Ping(t.Context()).Err(); err != nil {
		t.Errorf("through the other's server: %v", err)
	}
}

func TestServerDiesWithItsParentAndStartsAgain(t *testing.T) {
	dir := t.TempDir()
	helper := startHelper(t, dir)
	url, err := Join(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := client(t, url).Set(t.Context(), "kept", "42", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for len(childproc.InDir("redis-server", filepath.Join(dir, room))) > 0 {
		if time.Now().After(deadline) {
			t.Fatal("the server outlived its parent")
		}
		time.Sleep(10 * time.Millisecond)
	}
	wantKept(t, start(t, dir))
}

func TestStartEndsAnOrphanFirst(t *testing.T) {
	dir := t.TempDir()
	orphan := start(t, dir)
	if err := client(t, orphan.URL()).Set(t.Context(), "kept", "42", 0).Err(); err != nil {
		t.Fatal(err)
	}
	orphan.lock.Release() // as if its process had died and the server had not
	s := start(t, dir)
	select {
	case <-orphan.Done():
	default:
		t.Error("the orphan still runs beside the new server")
	}
	wantKept(t, s)
}

func TestPathTooLongForASocket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	s := start(t, dir)
	if err := client(t, s.URL()).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(strings.TrimPrefix(s.URL(), "unix://"))) })
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	missing := new(childproc.MissingError)
	if !errors.As(err, &missing) {
		t.Fatalf("Start gave %v, want *MissingError", err)
	}
	if msg := err.Error(); !strings.Contains(msg, "apt-get install postgresql redis-server") || strings.Contains(msg, "\n") {
		t.Errorf("the error is %q; want one line that says what to install", msg)
	}
}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func wantKept(t *testing.T, s *Server) {
	t.Helper()
	if got, err := client(t, s.URL()).Get(t.Context(), "kept").Result(); err != nil || got != "42" {
		t.Errorf("the key is %q, %v; want 42", got, err)
	}
}

// startHelper starts the test binary as another process that runs a server
// over dir, and returns when that answers. It is killed when t ends.
func startHelper(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		base := filepath.Join(dir, room)
		_ = childproc.EndOrphans(context.Background(), "redis-server", base, 0)
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the helper said %q, %v", line, err)
	}
	return cmd
}
