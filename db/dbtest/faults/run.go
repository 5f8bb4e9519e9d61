package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"bongsu/db/dbtest/faulttable"
)

// list is where the tests are named, below the folder of the module.
const list = "docs/faults.md"

var testName = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")

// named gives the tests that the text of list names, each once.
func named(text string) (names []string) {
	for _, m := range testName.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// run runs the tests of list, or only those given, and prints the table. It tells
// whether all passed and each was found.
func run(ctx context.Context, long bool, only []string, out io.Writer) (passed bool, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return false, fmt.Errorf("start it in the folder of go.mod: %w", err)
	}
	names := only
	if len(names) == 0 {
		names = named(string(text))
	}
	dir, err := os.MkdirTemp("", "bongsu-faults-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	rows := filepath.Join(dir, "rows")
	ends, err := test(ctx, names, long, rows, out)
	if err != nil {
		return false, err
	}
	return report(out, names, ends, rows)
}

// test runs the tests and follows what they say.
func test(ctx context.Context, names []string, long bool, rows string, out io.Writer) (*ends, error) {
	args := []string{"test", "-json", "-count=1", "-timeout=4h", "-run=^(" + strings.Join(names, "|") + ")$", "./..."}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), faulttable.Env+"="+rows)
	if long {
		cmd.Env = append(cmd.Env, "BONGSU_TEST_FAULTS=long")
	}
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e, err := follow(events, out)
	var exit *exec.ExitError
	if waitErr := cmd.Wait(); waitErr != nil && !errors.As(waitErr, &exit) {
		return nil, waitErr
	} else if waitErr != nil {
		e.failed = true
	}
	return e, err
}

// report prints the table, and the tests that have no row in it.
func report(out io.Writer, names []string, e *ends, file string) (passed bool, err error) {
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	rows, err := faulttable.Read(raw)
	if err != nil {
		return false, err
	}
	fmt.Fprintln(out)
	if err := faulttable.Print(out, rows); err != nil {
		return false, err
	}
	fmt.Fprintln(out, "\nwithout figures of their own:")
	passed = !e.failed
	for _, name := range names {
		if slices.ContainsFunc(rows, func(r faulttable.Row) bool { return strings.Split(r.Test, "/")[0] == name }) {
			continue
		}
		end, ok := e.of[name]
		if !ok {
			end, passed = "not found", false
		}
		fmt.Fprintf(out, "  %s  %s\n", end, name)
	}
	return passed, nil
}
