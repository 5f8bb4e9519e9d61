package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"bongsu/db"
)

func (a *app) migrateCommand() *cli.Command {
	return &cli.Command{
		Name:  "migrate",
		Usage: "brings the database to this program's version",
		Description: "Serve does the same when it starts. Several may run at once: one works, the others wait.\n" +
			"Code that runs before and after each migration may be of either version.",
		Action: func(ctx context.Context, _ *cli.Command) error { return a.migrate(ctx) },
	}
}

// migrate migrates the configured database and prints what it did.
func (a *app) migrate(ctx context.Context) error {
	c, _, err := a.config()
	if err != nil {
		return err
	}
	return a.atDatabase(ctx, c, func(ctx context.Context, url string) error {
		from, to, err := db.Migrate(ctx, url)
		if err != nil {
			return err
		}
		if from == to {
			fmt.Fprintf(a.stdout, "the database is at version %d already\n", to)
		} else {
			fmt.Fprintf(a.stdout, "the database went from version %d to %d\n", from, to)
		}
		return nil
	})
}
