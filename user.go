package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v3"

	"bongsu/db"
	"bongsu/web"
)

func (a *app) userCommand() *cli.Command {
	return &cli.Command{
		Name:  "user",
		Usage: "people who sign in",
		Commands: []*cli.Command{{
			Name:        "add",
			Usage:       "adds a person; the password is read from standard input, up to the end of the line",
			Description: "Example: bongsu user add --email kim@example.com --role operator <password.txt",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "email", Usage: "the address that the person signs in with", Required: true},
				&cli.StringFlag{Name: "role", Usage: "operator, support or admin", Required: true},
			},
			Action: func(ctx context.Context, cmd *cli.Command) error {
				return a.addUser(ctx, cmd.String("email"), db.Role(cmd.String("role")))
			},
		}, {
			Name:  "list",
			Usage: "lists the people there are: address, role, state, second factor, when they were last seen",
			Description: "One line each, by address, times in UTC. The state is active, invited (no password chosen yet) or\n" +
				"disabled. Seen is the last use of a browser that is signed in, or else the last line in the log of acts.",
			Action: func(ctx context.Context, _ *cli.Command) error { return a.listUsers(ctx) },
		}},
	}
}

func (a *app) addUser(ctx context.Context, email string, role db.Role) error {
	password, err := readPassword(a.stdin)
	if err != nil {
		return err
	}
	return a.withDatabase(ctx, func(ctx context.Context, d *db.DB) error {
		u, err := d.AddUser(ctx, email, role, web.HashPassword(password), commandActor())
		if err != nil {
			return plainError(err)
		}
		fmt.Fprintf(a.stdout, "added %s as %s\n", u.Email, u.Role)
		return nil
	})
}

// listUsers prints everybody, page by page.
func (a *app) listUsers(ctx context.Context) error {
	return a.withDatabase(ctx, func(ctx context.Context, d *db.DB) error {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "EMAIL\tROLE\tSTATE\tSECOND FACTOR\tLAST SEEN")
		err := eachRow(func(cursor string) (db.Page[db.UserRow], error) { return d.Users(ctx, cursor, listPage) }, func(u db.UserRow) {
			state, second := "active", "no"
			switch {
			case u.DisabledAt != nil:
				state = "disabled"
			case u.Invited:
				state = "invited"
			}
			if u.Second {
				second = "yes"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", u.Email, u.Role, state, second, timeOr(u.LastSeen(), "never"))
		})
		if err != nil {
			return err
		}
		return w.Flush()
	})
}

// listPage is how many rows a list asks for at once.
const listPage = 1000

// eachRow calls f with every row of a list, page by page.
func eachRow[T any](page func(cursor string) (db.Page[T], error), f func(T)) error {
	for cursor := ""; ; {
		p, err := page(cursor)
		if err != nil {
			return err
		}
		for _, row := range p.Items {
			f(row)
		}
		if cursor = p.Next; cursor == "" {
			return nil
		}
	}
}

// timeOr writes a time to the minute in UTC, or what stands for none.
func timeOr(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// readPassword reads one line and checks its length.
func readPassword(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 8192)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return "", errors.New("no password came on standard input")
	}
	if fault := web.PasswordFault(password); fault != "" {
		return "", fmt.Errorf("the password %s", fault)
	}
	return password, nil
}

// plainError says what is wrong with a command's values in the words of the
// rules, without the names of the calls that found it.
func plainError(err error) error {
	if invalid := new(db.InvalidError); errors.As(err, &invalid) {
		var problems []error
		for _, f := range invalid.Fields {
			problems = append(problems, fmt.Errorf("--%s %s", f.Field, f.Message))
		}
		return errors.Join(problems...)
	}
	if conflict := new(db.ConflictError); errors.As(err, &conflict) {
		return errors.New(conflict.Message)
	}
	return err
}
