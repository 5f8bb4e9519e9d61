package childproc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStopGoesFromStepToStep(t *testing.T) {
	// A child that ignores the first signal and ends at the second.
	p := startShell(t, `trap "" INT; trap "exit 0" TERM; echo up > up; while :; do sleep 0.05; done`)
	err := p.Stop(t.Context(), Step{syscall.SIGINT, 100 * time.Millisecond}, Step{syscall.SIGTERM, 10 * time.Second})
	if err != nil {
		t.Errorf("Stop = %v, want nil: the second signal ends it", err)
	}
}

func TestStopKillsWhatIgnoresEverything(t *testing.T) {
	p := startShell(t, `trap "" INT TERM; echo up > up; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the caller has no time left: each step still gets its chance
	if err := p.Stop(ctx, Step{syscall.SIGTERM, 50 * time.Millisecond}); err == nil {
		t.Error("Stop = nil, want an error that says it was killed")
	}
	select {
	case <-p.Done():
	default:
		t.Error("it still runs after Stop")
	}
}

func TestAwaitFailsWhenTheChildEnds(t *testing.T) {
	p := startShell(t, `echo up > up; exit 3`)
	err := p.Await(t.Context(), func(context.Context) error { return errors.New("not yet") })
	if !errors.Is(err, ErrEnded) {
		t.Errorf("Await = %v, want ErrEnded", err)
	}
}

func TestStartOfAProgramThatIsNotThere(t *testing.T) {
	_, err := Start(Command{Path: "/no/such/program", Dir: "/"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start = %v, want not exist", err)
	}
}

func TestLockIsExclusiveAndFreed(t *testing.T) {
	dir := t.TempDir()
	held := func(want bool) {
		t.Helper()
		if got, err := Held(dir); err != nil || got != want {
			t.Errorf("Held = %v, %v; want %v", got, err, want)
		}
	}
	held(false)
	l, err := Acquire(dir, "/owner")
	if err != nil {
		t.Fatal(err)
	}
	inUse := new(InUseError)
	if _, err := Acquire(dir, "/owner"); !errors.As(err, &inUse) || inUse.Dir != "/owner" {
		t.Errorf("the second lock gave %v, want *InUseError naming /owner", err)
	}
	held(true)
	l.Release()
	held(false)
	again, err := Acquire(dir, "/owner")
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	again.Release()
}

func TestSocketDir(t *testing.T) {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	got, err := SocketDir(short, "x.sock", os.Getuid(), os.Getgid())
	if err != nil || got != filepath.Join(short, "run") {
		t.Errorf("SocketDir = %q, %v; want it inside", got, err)
	}
	long := filepath.Join(short, strings.Repeat("long", 30))
	got, err = SocketDir(long, "x.sock", os.Getuid(), os.Getgid())
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(got)
	if n := len(filepath.Join(got, "x.sock")); n > socketPathLimit {
		t.Errorf("the path has %d bytes, more than fit", n)
	}
	if info, err := os.Stat(got); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	same, err := SocketDir(long, "x.sock", os.Getuid(), os.Getgid())
	if err != nil || same != got {
		t.Errorf("the second time %q, %v; want %q again", same, err, got)
	}
}

func TestOwnDirRefusesALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if err := OwnDir(link, os.Getuid(), os.Getgid()); err == nil {
		t.Error("OwnDir took a link")
	}
}

func TestEndOrphansLeavesOtherDirectoriesAlone(t *testing.T) {
	mine, other := startShell(t, sleeper), startShell(t, sleeper)
	if err := EndOrphans(t.Context(), "sh", mine.cmd.Dir, 0, Step{syscall.SIGTERM, 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if left := InDir("sh", mine.cmd.Dir); len(left) != 0 {
		t.Errorf("%v still run in the directory", left)
	}
	select {
	case <-other.Done():
		t.Error("a process in another directory was ended")
	default:
	}
}

const sleeper = `echo up > up; while :; do sleep 0.05; done`

// startShell runs a script in a directory of its own, and returns when the
// script has written its file "up". It is killed when t ends.
func startShell(t *testing.T, script string) *Process {
	t.Helper()
	dir := t.TempDir()
	p, err := Start(Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin"}, DeathSignal: syscall.SIGKILL,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Signal(syscall.SIGKILL)
		<-p.Done()
	})
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, err := os.Stat(filepath.Join(dir, "up")); err == nil {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the script did not come up")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
