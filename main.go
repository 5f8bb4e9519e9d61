// Command bongsu sends push notices: an operator writes one once, every
// consenting device gets it once, and the ledger tells what happened to each.
//
// This package reads the configuration, wires the rooms together and starts
// and stops them in order. It holds one file per command.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v3"
)

func main() {
	// Little is alive at a time and much is thrown away: collecting at four times
	// the usual size costs some ten megabytes and saves a seventh of the time.
	debug.SetGCPercent(400)
	// Hashing a password takes 64 MiB for a moment; that must not set the measure.
	debug.SetMemoryLimit(160 << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bongsu:", err)
		os.Exit(1)
	}
}

// run runs the command that args name (args[0] is the program) until it is
// done or ctx ends. The end of ctx is no error. Results go to stdout, logs and
// progress to stderr.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	a := &app{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr, limits: limitsOf}
	return a.command().Run(ctx, args)
}

// An app is what a command has of the world outside.
type app struct {
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	limits  func(Config) Limits
}

// command describes the program and its commands.
func (a *app) command() *cli.Command {
	root := &cli.Command{
		Name:           "bongsu",
		Usage:          "sends a push notice to every device once, and tells what happened to each",
		Version:        version(),
		Reader:         a.stdin,
		Writer:         a.stdout,
		ErrWriter:      a.stderr,
		Suggest:        true,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // main prints it
		Action:         rootAction,
		Commands: []*cli.Command{
			a.demoCommand(),
			a.serveCommand(),
			a.migrateCommand(),
			a.userCommand(),
			a.tokenCommand(),
			a.vendorCommand(),
			a.webPushKeyCommand(),
			a.checkCommand(),
			a.benchCommand(),
		},
	}
	quietUsage(root)
	return root
}

// quietUsage keeps the help off standard output when a flag is wrong: what a
// command prints there is its result alone.
func quietUsage(cmd *cli.Command) {
	cmd.OnUsageError = func(_ context.Context, cmd *cli.Command, err error, _ bool) error {
		return fmt.Errorf("%w: see %s -h", err, cmd.FullName())
	}
	for _, c := range cmd.Commands {
		quietUsage(c)
	}
}

// rootAction answers a call without a command, or with one that there is not.
func rootAction(_ context.Context, cmd *cli.Command) error {
	if name := cmd.Args().First(); name != "" {
		return fmt.Errorf("there is no command %q: see bongsu -h", name)
	}
	return cli.ShowRootCommandHelp(cmd)
}

// config reads the configuration and checks the time limits.
func (a *app) config() (Config, Limits, error) {
	c, err := loadConfig(a.environ)
	if err != nil {
		return c, Limits{}, err
	}
	l := a.limits(c)
	return c, l, l.check()
}

// logger writes to stderr what c wants logged.
func (a *app) logger(c Config) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: c.Log}))
}
