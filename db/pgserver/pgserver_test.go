package pgserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bongsu/db/childproc"
)

func TestDataOutlivesStopAndStart(t *testing.T) {
	dir := dataRoot(t)
	s := startWith(t, dir, nil)
	execSQL(t, s.URL(), `CREATE TABLE kept AS SELECT 42 AS x`)
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := query(t, s.URL(), `SELECT current_setting('`+setting+`')`); got != "on" {
			t.Errorf("%s = %q, want on", setting, got)
		}
	}
	if got := query(t, s.URL(), `SELECT current_setting('listen_addresses')`); got != "" {
		t.Errorf("it listens on %q, want on no network", got)
	}
	if uid := processUID(t, s.process.Pid()); uid == 0 {
		t.Error("the server runs as root")
	}
	stop(t, s)
	if _, err := pgx.Connect(t.Context(), s.URL()); err == nil {
		t.Error("it still answers after Stop")
	}
	again := startWith(t, dir, nil)
	if got := query(t, again.URL(), `SELECT x::text FROM kept`); got != "42" {
		t.Errorf("the row is %q after the second start, want 42", got)
	}
}

func TestSecondProcessIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := dataRoot(t)
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
	if got := query(t, url, `SELECT 'joined'`); got != "joined" {
		t.Errorf("through the other's server: %q", got)
	}
}

func TestServerDiesWithItsParentAndStartsAgain(t *testing.T) {
	dir := dataRoot(t)
	helper := startHelper(t, dir)
	url, err := Join(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, url, `CREATE TABLE kept AS SELECT 42 AS x`)
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	// Started at once, while the old server may still be shutting down.
	s := start(t, dir)
	if got := query(t, s.URL(), `SELECT x::text FROM kept`); got != "42" {
		t.Errorf("the row is %q after the kill, want 42", got)
	}
}

func TestServerEndsWhenItsParentIsKilled(t *testing.T) {
	dir := dataRoot(t)
	helper := startHelper(t, dir)
	data, err := filepath.EvalSymlinks(filepath.Join(dir, room, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if len(childproc.InDir("postgres", data)) == 0 {
		t.Fatal("the helper's server is not seen")
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait()
	deadline := time.Now().Add(20 * time.Second)
	for len(childproc.InDir("postgres", data)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v outlived their parent", childproc.InDir("postgres", data))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestStartEndsAnOrphanFirst(t *testing.T) {
	dir := dataRoot(t)
	orphan := start(t, dir)
	execSQL(t, orphan.URL(), `CREATE TABLE kept AS SELECT 42 AS x`)
	orphan.lock.Release() // as if its process had died and the server had not
	s := start(t, dir)
	select {
	case <-orphan.Done():
	default:
		t.Error("the orphan still runs beside the new server")
	}
	if got := query(t, s.URL(), `SELECT x::text FROM kept`); got != "42" {
		t.Errorf("the row is %q, want 42", got)
	}
}

func TestForeignNumberInPostmasterPidIsNoObstacle(t *testing.T) {
	dir := dataRoot(t)
	s := start(t, dir)
	stop(t, s)
	// A process of the same user, which is no server, has got the number.
	other, err := childproc.Start(childproc.Command{
		Path: "/bin/sleep", Args: []string{"300"}, Dir: "/",
		Credential: s.account.credential(), DeathSignal: syscall.SIGKILL,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Signal(syscall.SIGKILL)
		<-other.Done()
	}()
	stale := fmt.Sprintf("%d\n%s\n1\n5432\n\n\n", other.Pid(), s.DataDir())
	if err := os.WriteFile(filepath.Join(s.DataDir(), "postmaster.pid"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	select {
	case <-other.Done():
		t.Error("the start ended a process that is none of its own")
	default:
	}
}

// A path under a folder that only this user may enter, and too long for a
// socket: as root the data goes elsewhere, and the same path finds it again.
func TestDirectoryThatTheServersUserCannotReach(t *testing.T) {
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, strings.Repeat("long", 30))
	s := start(t, dir)
	t.Cleanup(func() { removeElsewhere(t, s.DataDir()) })
	inside := strings.HasPrefix(s.DataDir(), closed)
	if asRoot := os.Getuid() == 0; inside == asRoot {
		t.Errorf("data in %s; inside the closed folder: %v, as root: %v", s.DataDir(), inside, asRoot)
	}
	execSQL(t, s.URL(), `CREATE TABLE kept AS SELECT 42 AS x`)
	stop(t, s)
	s = start(t, dir)
	if got := query(t, s.URL(), `SELECT x::text FROM kept`); got != "42" {
		t.Errorf("the row is %q after the second start, want 42", got)
	}
	stop(t, s)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s = start(t, dir)
	if got := query(t, s.URL(), `SELECT (to_regclass('kept') IS NULL)::text`); got != "true" {
		t.Error("a directory that was removed and made anew has its old data")
	}
}

// removeElsewhere removes what a data directory outside dir left there.
func removeElsewhere(t *testing.T, data string) {
	t.Helper()
	if !strings.HasPrefix(data, elsewhere+"/") {
		return
	}
	if err := errors.Join(os.RemoveAll(data), os.RemoveAll(data+".old")); err != nil {
		t.Error(err)
	}
}

func TestMissingPrograms(t *testing.T) {
	empty := t.TempDir()
	_, err := findBin(t.Context(), filepath.Join(empty, "data"), binDirs(empty, filepath.Join(empty, "*")))
	missing := new(childproc.MissingError)
	if !errors.As(err, &missing) {
		t.Fatalf("findBin gave %v, want *MissingError", err)
	}
	if msg := err.Error(); !strings.Contains(msg, "apt-get install postgresql redis-server") || strings.Contains(msg, "\n") {
		t.Errorf("the error is %q; want one line that says what to install", msg)
	}
}

func TestDataOfAVersionThatIsNotInstalled(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := findBin(t.Context(), data, binDirs(os.Getenv("PATH"), debianBins))
	if err == nil || !strings.Contains(err.Error(), "postgresql-9") {
		t.Errorf("findBin gave %v, want an error that names postgresql-9", err)
	}
}

func TestStartThatFailsShowsTheServersWordsAndFreesTheDirectory(t *testing.T) {
	dir := dataRoot(t)
	log := slog.New(slog.DiscardHandler)
	_, err := Start(t.Context(), Config{Dir: dir, Log: log, Settings: map[string]string{"no_such_setting": "1", "fsync": "off"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Fatalf("Start gave %v, want the server's words about no_such_setting", err)
	}
	start(t, dir)
}

// unsynced spares the tests what only a power cut would show.
var unsynced = map[string]string{"fsync": "off"}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	return startWith(t, dir, unsynced)
}

func startWith(t *testing.T, dir string, settings map[string]string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
