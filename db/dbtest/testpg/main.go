// Command testpg starts one PostgreSQL for tests, runs a command with
// BONGSU_TEST_DATABASE_URL naming it, and ends as the command ended:
//
//	go run ./db/dbtest/testpg -- go test ./...
//
// Where the variable is set already it only runs the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"bongsu/db/dbtest"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: testpg -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testpg:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run returns the command's exit code.
func run(args []string) (code int, err error) {
	env := os.Environ()
	if os.Getenv(dbtest.EnvURL) == "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		p, err := dbtest.StartPrivate(ctx)
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, p.Stop()) }()
		env = append(env, dbtest.EnvURL+"="+p.URL())
	}
	return runCommand(args, env)
}

// runCommand runs the command and hands SIGTERM on. A Ctrl-C reaches it from
// the terminal; this process waits for its end all the same.
func runCommand(args, env []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = env
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return max(exit.ExitCode(), 1), nil
			}
			return 0, err
		}
	}
}
