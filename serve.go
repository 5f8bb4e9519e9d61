package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v3"
)

// Roles of a process.
const (
	roleAll    = "all"
	roleWeb    = "web"
	roleWorker = "worker"
)

func (a *app) serveCommand() *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "answers people and programs, and sends",
		Description: "It listens only when it is ready. SIGTERM or Ctrl-C ends it in order: requests and calls under way\n" +
			"end and are recorded. Settings come from the environment; see bongsu check.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "role", Value: roleAll, Usage: "all, web (pages and API) or worker (sends)"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error { return a.serve(ctx, cmd.String("role")) },
	}
}

// serve runs the product until ctx ends.
func (a *app) serve(ctx context.Context, role string) (err error) {
	if err := oneOf(role, roleAll, roleWeb, roleWorker); err != nil {
		return fmt.Errorf("--role %w", err)
	}
	c, limits, err := a.config()
	if err != nil {
		return err
	}
	if !c.anyVendor() && role != roleWeb {
		return errors.New("BONGSU_VENDOR_URL is not set, and no other vendor is: there is nobody to send through")
	}
	log := a.logger(c)
	// A signal in the middle of a start is heeded when the start is through or
	// has failed, so that nothing half started is left.
	s, err := startServers(ctx, c, role, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	p, err := startProduct(ctx, c, limits, s, role, log)
	if err != nil {
		return unlessAsked(ctx, err)
	}
	log.Info("bongsu is ready", "role", role, "addr", p.addr(), "version", version())
	return errors.Join(waitProduct(ctx, p, log), stopWithin(ctx, p, limits))
}

// unlessAsked is err, or nothing where ctx has ended: then we were asked to
// stop, and what broke off because of that is no failure.
func unlessAsked(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// waitProduct returns when ctx ends, or with the error of a part that ended
// by itself.
func waitProduct(ctx context.Context, p *product, log *slog.Logger) error {
	select {
	case <-ctx.Done():
		log.Info("bongsu was asked to stop")
		return nil
	case err := <-p.failed:
		return err
	}
}

// stopWithin stops p within the shutdown grace.
func stopWithin(ctx context.Context, p *product, limits Limits) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.Grace)
	defer cancel()
	return p.stop(ctx)
}
