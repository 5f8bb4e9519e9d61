package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// User is a person who signs in.
type User struct {
	ID           int64
	Email        string
	Role         Role
	PasswordHash string
	DisabledAt   *time.Time
	CreatedAt    time.Time
	TOTPSecret   *string    // base32; nil: no second factor
	TOTPSince    *time.Time // since when there is one
}

const userColumns = "id, email, role, password_hash, disabled_at, created_at, totp_secret, totp_since"

// AddUser makes a person's account. It is an *InvalidError where the address or
// the role is none, and a *ConflictError with the id of the account that has the
// address already, in whatever case it is written.
func (db *DB) AddUser(ctx context.Context, email string, role Role, passwordHash string, a Actor) (u User, err error) {
	defer wrap(&err, "AddUser(%q)", email)
	email = strings.TrimSpace(email)
	if err := checkUser(email, role, passwordHash); err != nil {
		return u, err
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err = oneRow[User](tx.Query(ctx, `
			INSERT INTO app_user (email, role, password_hash) VALUES ($1, $2, $3)
			ON CONFLICT (lower(email)) DO NOTHING
			RETURNING `+userColumns, email, role, passwordHash))
		if errors.Is(err, ErrNotFound) {
			return takenEmail(ctx, tx, email)
		}
		if err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.add", userObject(u.ID), map[string]any{"email": email, "role": role})
	})
	return u, err
}

func takenEmail(ctx context.Context, q querier, email string) error {
	var id int64
	err := q.QueryRow(ctx, "SELECT id FROM app_user WHERE lower(email) = lower($1)", email).Scan(&id)
	if err != nil {
		return err
	}
	return &ConflictError{Code: "email_taken", Field: "email", ID: id,
		Message: fmt.Sprintf("there is an account for %s already", email)}
}

func checkUser(email string, role Role, passwordHash string) error {
	var bad []FieldError
	name, host, ok := strings.Cut(email, "@")
	if !ok || name == "" || host == "" || strings.Contains(host, "@") || !plain(email) || strings.ContainsFunc(email, unicode.IsSpace) {
		bad = append(bad, FieldError{"email", "must be an e-mail address such as kim@example.com"})
	} else if utf8.RuneCountInString(email) > 254 {
		bad = append(bad, FieldError{"email", "must have at most 254 characters"})
	}
	bad = append(bad, checkRole(role)...)
	if passwordHash == "" {
		bad = append(bad, FieldError{"password", "must not be empty"})
	}
	return invalidIf(bad)
}

func checkRole(r Role) []FieldError {
	switch r {
	case Operator, Support, Admin:
		return nil
	}
	return []FieldError{{"role", fmt.Sprintf("must be operator, support or admin, not %q", string(r))}}
}

// User gives a person by number, also a disabled one, or ErrNotFound.
func (db *DB) User(ctx context.Context, id int64) (u User, err error) {
	defer wrap(&err, "User(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		u, err = oneRow[User](q.Query(ctx, "SELECT "+userColumns+" FROM app_user WHERE id = $1", id))
		return err
	})
	return u, err
}

// UserByEmail gives a person by address, in whatever case it is written, also a
// disabled one, or ErrNotFound.
func (db *DB) UserByEmail(ctx context.Context, email string) (u User, err error) {
	defer wrap(&err, "UserByEmail")
	email = strings.TrimSpace(email)
	if !plain(email) {
		return u, ErrNotFound
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		u, err = oneRow[User](q.Query(ctx, "SELECT "+userColumns+" FROM app_user WHERE lower(email) = lower($1)", email))
		return err
	})
	return u, err
}

// SetPassword gives a person another password, ends all sessions of that person
// and stops the one-time link. It is ErrNotFound where there is no such person.
func (db *DB) SetPassword(ctx context.Context, id int64, passwordHash string, a Actor) (err error) {
	defer wrap(&err, "SetPassword(%d)", id)
	if passwordHash == "" {
		return Invalid("password", "must not be empty")
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE app_user SET password_hash = $2 WHERE id = $1", id, passwordHash)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return ErrNotFound
		}
		if err := endLinks(ctx, tx, id); err != nil {
			return err
		}
		if _, err := endSessionsOf(ctx, tx, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.set_password", userObject(id), nil)
	})
}

func userObject(id int64) string { return fmt.Sprintf("user:%d", id) }

// plain says whether s is UTF-8 text without control characters, so that the
// database takes it and a page can show it in one line.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// invalidIf makes an InvalidError of bad, or nil where there is nothing bad.
func invalidIf(bad []FieldError) error {
	if len(bad) == 0 {
		return nil
	}
	return &InvalidError{Fields: bad}
}
