package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"
)

func (a *app) demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "everything on this machine: sends a notice to 10,000 devices twice and shows what came of it",
		Description: "It runs a private PostgreSQL and Redis, a vendor stand-in, the panel, and a worker that is killed in the\n" +
			"middle and started again. Of the settings it takes BONGSU_ADDR, BONGSU_DATA_DIR and BONGSU_LOG alone: a\n" +
			"demo never touches other servers. After the table it goes on serving the panel until Ctrl-C.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "end after the table, with an error if a row does not hold"},
			&cli.BoolFlag{Name: "kill", Value: true, Usage: "kill the worker in mid-run and start it again 5 s later"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return a.demo(ctx, cmd.Bool("once"), cmd.Bool("kill"))
		},
	}
}

// demo runs the incident once on servers of its own. With once it fails where
// a row of the table does not hold, else it serves until ctx ends.
func (a *app) demo(ctx context.Context, once, kill bool) (err error) {
	d := &demo{app: a, say: newProgress(a.stderr)}
	defer func() {
		stopped := d.stop(context.WithoutCancel(ctx))
		if stopped == nil {
			fmt.Fprintf(a.stderr, "all has stopped: the worker, the panel, the vendor stand-in, Redis and PostgreSQL; what was sent stays in %s\n", d.config.DataDir)
		}
		err = errors.Join(err, stopped)
	}()
	fmt.Fprintln(a.stderr, "starting PostgreSQL, Redis, the vendor stand-in, the panel and a worker")
	if err := d.start(ctx); err != nil {
		return unlessAsked(ctx, err)
	}
	if err := d.people(ctx); err != nil {
		return unlessAsked(ctx, err)
	}
	table, err := d.run(ctx, kill)
	if err != nil {
		return unlessAsked(ctx, err)
	}
	table.print(a.stdout)
	if once {
		return table.err()
	}
	d.tour()
	return d.serve(ctx)
}

// serve returns when ctx ends, or with an error when a part ends by itself.
func (d *demo) serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
		fmt.Fprintln(d.app.stderr, "stopping")
		return nil
	case err := <-d.product.failed:
		return err
	case <-d.worker.Done():
		return fmt.Errorf("the worker ended by itself; see %s", d.logPath)
	}
}
