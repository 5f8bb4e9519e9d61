package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

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
		}, {
			Name:        "list",
			Usage:       "lists the tokens there are, the newest first: number, name, role, state, last use; never the token itself",
			Description: "One line each, times in UTC. The state is active, ended (its time is over) or revoked.",
			Action:      func(ctx context.Context, _ *cli.Command) error { return a.listTokens(ctx) },
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

// listTokens prints every token that was made, page by page.
func (a *app) listTokens(ctx context.Context) error {
	return a.withDatabase(ctx, func(ctx context.Context, d *db.DB) error {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NUMBER\tNAME\tROLE\tSTATE\tENDS\tLAST USED")
		err := eachRow(func(cursor string) (db.Page[db.Token], error) { return d.Tokens(ctx, cursor, listPage) }, func(t db.Token) {
			state := "active"
			switch {
			case t.RevokedAt != nil:
				state = "revoked"
			case t.ExpiresAt != nil && t.ExpiresAt.Before(time.Now()):
				state = "ended"
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Role, state, timeOr(t.ExpiresAt, "never"), timeOr(t.LastUsedAt, "never"))
		})
		if err != nil {
			return err
		}
		return w.Flush()
	})
}
