package childproc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// InDir lists the processes of the named program whose working directory is
// dir. Processes that this user may not look at are left out.
func InDir(program, dir string) []int {
	want, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		comm, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
		if err != nil || strings.TrimSpace(string(comm)) != program {
			continue
		}
		if cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd")); err == nil && cwd == want {
			pids = append(pids, pid)
		}
	}
	return pids
}

// EndOrphans ends the processes of the program that an earlier process left
// running in dir, and returns when none is left. The caller holds dir's lock,
// so nobody else uses them. Each step's signal goes to leader alone where it
// is among them (a server's first process ends its others in order), else to
// all. What outlives the steps is killed. The error says that one is left.
func EndOrphans(ctx context.Context, program, dir string, leader int, steps ...Step) error {
	steps = append(slices.Clone(steps), Step{syscall.SIGKILL, 5 * time.Second})
	for _, s := range steps {
		pids := InDir(program, dir)
		if len(pids) == 0 {
			return nil
		}
		if slices.Contains(pids, leader) && s.Signal != syscall.SIGKILL {
			pids = []int{leader}
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, s.Signal)
		}
		if gone(ctx, program, dir, s.Wait) {
			return nil
		}
	}
	return fmt.Errorf("%s of an earlier process still runs in %s: processes %v", program, dir, InDir(program, dir))
}

// gone reports whether no such process is left within d.
func gone(ctx context.Context, program, dir string, d time.Duration) bool {
	limit := time.After(d)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if len(InDir(program, dir)) == 0 {
			return true
		}
		select {
		case <-limit:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
