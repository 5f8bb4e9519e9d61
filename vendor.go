package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"bongsu/jobs/push/pushsim"
)

func (a *app) vendorCommand() *cli.Command {
	preset := pushsim.Default()
	return &cli.Command{
		Name:  "vendor",
		Usage: "runs the vendor stand-in alone and prints its URL",
		Description: "A token's beginning decides what happens to it: expired- 410, down- 503 until mended, bad- 400,\n" +
			"slow- hangs, busy- 429 once, drop- takes it and cuts the connection. GET /_control/counts tells what\n" +
			"came; the other switches are under /_control/ too.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Usage: "where to listen", Value: preset.Addr},
			&cli.StringFlag{Name: "token", Usage: "the bearer token to expect; empty: any"},
			&cli.DurationFlag{Name: "latency", Usage: "from a whole call to its answer", Value: preset.Latency},
			&cli.DurationFlag{Name: "jitter", Usage: "how far the latency varies both ways", Value: preset.Jitter},
			&cli.FloatFlag{Name: "transient", Usage: "share of the calls to good tokens that get 503, 0 to 1"},
			&cli.BoolFlag{Name: "honour-keys", Usage: "a repeated Idempotency-Key is no second delivery"},
			&cli.Uint64Flag{Name: "seed", Usage: "fixes which calls fail and how long each takes"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return pushsim.Run(ctx, pushsim.Config{
				Addr:  cmd.String("addr"),
				Token: cmd.String("token"),
				Seed:  cmd.Uint64("seed"),
				Switches: pushsim.Switches{
					Latency:        cmd.Duration("latency"),
					Jitter:         cmd.Duration("jitter"),
					TransientShare: cmd.Float("transient"),
					HonourKeys:     cmd.Bool("honour-keys"),
				},
			}, a.stdout)
		},
	}
}
