package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"
)

func (a *app) benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measures the product against a bare loop of calls, in one run on this machine",
		Description: "It starts a PostgreSQL, a Redis, the vendor stand-in and the product of its own, prints a table with\n" +
			"what must hold and what is aimed at, and writes the same as JSON. It takes minutes and both cores.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "small numbers: shows that it works, the values mean nothing"},
			&cli.BoolFlag{Name: "million", Usage: "also 1,000,000 devices at the instant vendor"},
			&cli.BoolFlag{Name: "import", Usage: "device lists of 1,000,000 rows instead of notices"},
			&cli.BoolFlag{Name: "check", Usage: "fail where a row does not hold"},
			&cli.StringFlag{Name: "json", Usage: "where the JSON goes (default: bench.json in the data directory)"},
			&cli.StringFlag{Name: "profile", Usage: "write CPU profiles of the product's process to this directory"},
		},
		Commands: []*cli.Command{a.benchProductCommand()},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Bool("import") && cmd.Bool("million") {
				return errors.New("--import and --million: choose one of them")
			}
			return a.bench(ctx, benchOptions{
				quick: cmd.Bool("quick"), million: cmd.Bool("million"), lists: cmd.Bool("import"), check: cmd.Bool("check"),
				json: cmd.String("json"), profile: cmd.String("profile"),
			})
		},
	}
}

// benchOptions are the flags of bench.
type benchOptions struct {
	quick, million, lists, check bool
	json, profile                string // paths; empty: the preset, and no profile
}

// benchSizes is how much of each thing a benchmark does.
type benchSizes struct {
	small, slow, fast, million int // devices; million 0: not measured
	perDevice                  int // devices of the shape with a task for each
	inFlight                   int // calls at once
	rounds, accepts            int // of the first call, of acceptance
	late, sequential, pages    int // devices, calls, looks at each page
	rows                       int // of a device list; 0: none is measured, and nothing else is otherwise
}

func (o benchOptions) sizes() benchSizes {
	s := benchSizes{
		small: 1_000, slow: 100_000, fast: 200_000, million: 1_000_000, perDevice: 10_000,
		inFlight: 256, rounds: 20, accepts: 50, late: 500, sequential: 300, pages: 50,
	}
	if o.quick {
		s = benchSizes{
			small: 200, slow: 1_000, fast: 2_000, million: 4_000, perDevice: 300,
			inFlight: 64, rounds: 3, accepts: 5, late: 40, sequential: 20, pages: 5,
		}
	}
	if !o.million {
		s.million = 0
	}
	if o.lists {
		s.rows = 10 * s.slow
	}
	return s
}

// bench runs the benchmark, prints its table to stdout and writes the JSON.
// What it started is gone when it returns.
func (a *app) bench(ctx context.Context, o benchOptions) (err error) {
	c, _, err := a.config()
	if err != nil {
		return err
	}
	file := cmp.Or(o.json, filepath.Join(c.DataDir, "bench.json"))
	for _, dir := range []string{c.DataDir, filepath.Dir(file)} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
	}
	b := &bench{sizes: o.sizes(), say: a.stderr, report: newBenchReport(o)}
	defer func() { err = errors.Join(err, b.stop(context.WithoutCancel(ctx), err != nil)) }()
	if err := b.start(ctx, a.environ, c.DataDir, o.profile); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if err := b.report.print(a.stdout); err != nil {
		return err
	}
	if err := b.report.write(file); err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, "the same as JSON:", file)
	if o.check {
		return b.report.check()
	}
	return nil
}

// measure does all there is to do, in the order in which the audience grows.
func (b *bench) measure(ctx context.Context) error {
	type step struct {
		name string
		do   func(context.Context) error
	}
	steps := []step{
		{"a small notice, and the pages with it", b.smallNotice},
		{"the first call on an idle system", b.firstCalls},
		{"the 30 ms vendor", b.slowVendor},
		{"the instant vendor", b.fastVendor},
		{"a million devices", b.millionDevices},
		{"the pages with the large ledger", b.largePages},
		{"acceptance on an idle system", b.acceptIdle},
		{"retries on an idle system", b.lateIdle},
		{"acceptance and retries while sending at full rate", b.underLoad},
		{"a task for each device", b.taskPerDevice},
	}
	if b.sizes.rows > 0 {
		steps = []step{{"device lists", b.imports}}
	}
	for _, s := range steps {
		fmt.Fprintln(b.say, "bench:", s.name)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("bench: %s: %w", s.name, err)
		}
	}
	return nil
}
