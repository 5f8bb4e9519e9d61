package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
