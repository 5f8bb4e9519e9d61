package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"bongsu/db"
	"bongsu/web"
)

func (a *app) tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "programs that use the API",
		Commands: []*cli.Command{{
			Name:  "add",
			Usage: "makes a bearer token and prints it; it is not shown again",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "name", Usage: "what the program is called in the audit log", Required: true},
				&cli.StringFlag{Name: "role", Usage: "operator, support or admin", Required: true},
			},
			Action: func(ctx context.Context, cmd *cli.Command) error {
				return a.addToken(ctx, cmd.String("name"), db.Role(cmd.String("role")))
			},
		}},
	}
}

// addToken prints the token only once it is stored.
func (a *app) addToken(ctx context.Context, name string, role db.Role) error {
	token, hash := web.NewToken()
	return a.withDatabase(ctx, func(ctx context.Context, d *db.DB) error {
		if _, err := d.AddToken(ctx, name, role, hash, commandActor()); err != nil {
			return plainError(err)
		}
		_, err := fmt.Fprintln(a.stdout, token)
		return err
	})
}
