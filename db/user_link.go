package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// LinkLife is how long a one-time link can be used.
const LinkLife = 72 * time.Hour

// Purposes of a one-time link.
const (
	LinkInvite = "invite"
	LinkReset  = "reset"
)

// InviteUser makes an account without a password, and a one-time link by whose
// token, of which hash is the SHA-256, the person chooses one within LinkLife. It
// is an *InvalidError where address or role is none, and a *ConflictError where
// there is an account for the address.
func (db *DB) InviteUser(ctx context.Context, email string, role Role, hash []byte, a Actor) (u User, err error) {
	defer wrap(&err, "InviteUser(%q)", email)
	email = strings.TrimSpace(email)
	if err := checkUser(email, role, "none yet"); err != nil {
		return u, err
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err = oneRow[User](tx.Query(ctx, `
			INSERT INTO app_user (email, role, password_hash) VALUES ($1, $2, '')
			ON CONFLICT (lower(email)) DO NOTHING
			RETURNING `+userColumns, email, role))
		if errors.Is(err, ErrNotFound) {
			return takenEmail(ctx, tx, email)
		}
		if err != nil {
			return err
		}
		if err := addLink(ctx, tx, u.ID, LinkInvite, hash); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.invite", userObject(u.ID), map[string]any{"email": email, "role": role})
	})
	return u, err
}

// NewUserLink makes another one-time link for a person, who chooses a password by
// it; an older one stops working. The password that there is works until then.
// It is ErrNotFound where there is no such person, and a *ConflictError where the
// person is disabled.
func (db *DB) NewUserLink(ctx context.Context, id int64, hash []byte, a Actor) (err error) {
	defer wrap(&err, "NewUserLink(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err := lockUser(ctx, tx, id)
		if err != nil {
			return err
		}
		if u.DisabledAt != nil {
			return &ConflictError{Code: "user_disabled", Message: "this person is disabled: enable the account first"}
		}
		purpose := LinkReset
		if u.PasswordHash == "" {
			purpose = LinkInvite
		}
		if err := addLink(ctx, tx, id, purpose, hash); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.link", userObject(id), map[string]any{"purpose": purpose})
	})
}

func addLink(ctx context.Context, tx pgx.Tx, user int64, purpose string, hash []byte) error {
	if len(hash) != sha256.Size {
		return fmt.Errorf("a link's hash has %d bytes, not %d", len(hash), sha256.Size)
	}
	if err := endLinks(ctx, tx, user); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO user_link (token_hash, user_id, purpose, expires_at) VALUES ($1, $2, $3, now() + $4::interval)`,
		hash, user, purpose, LinkLife)
	return err
}

func endLinks(ctx context.Context, tx pgx.Tx, user int64) error {
	_, err := tx.Exec(ctx, "UPDATE user_link SET ended_at = now() WHERE user_id = $1 AND ended_at IS NULL", user)
	return err
}

func lockUser(ctx context.Context, tx pgx.Tx, id int64) (User, error) {
	return oneRow[User](tx.Query(ctx, "SELECT "+userColumns+" FROM app_user WHERE id = $1 FOR UPDATE", id))
}

// UserOfLink gives the person whose open one-time link has the token with this
// SHA-256 hash. It is ErrNotFound where the link was used or replaced, has ended,
// never was, or its person is disabled.
func (db *DB) UserOfLink(ctx context.Context, hash []byte) (u User, err error) {
	defer wrap(&err, "UserOfLink")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		u, err = oneRow[User](q.Query(ctx, "SELECT "+userColumns+` FROM app_user
			WHERE disabled_at IS NULL AND id = (SELECT user_id FROM user_link
				WHERE token_hash = $1 AND ended_at IS NULL AND expires_at > now())`, hash))
		return err
	})
	return u, err
}

// UseUserLink sets the password of a one-time link's person, once, and ends all
// sessions of that person. It is ErrNotFound as UserOfLink is.
func (db *DB) UseUserLink(ctx context.Context, hash []byte, passwordHash, requestID string) (u User, err error) {
	defer wrap(&err, "UseUserLink")
	if passwordHash == "" {
		return u, Invalid("password", "must not be empty")
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var user int64
		err := tx.QueryRow(ctx, `
			UPDATE user_link SET ended_at = now()
			WHERE token_hash = $1 AND ended_at IS NULL AND expires_at > now() RETURNING user_id`, hash).Scan(&user)
		if err != nil {
			return orNotFound(err)
		}
		u, err = oneRow[User](tx.Query(ctx, `
			UPDATE app_user SET password_hash = $2 WHERE id = $1 AND disabled_at IS NULL RETURNING `+userColumns, user, passwordHash))
		if err != nil {
			return err
		}
		if _, err := endSessionsOf(ctx, tx, u.ID); err != nil {
			return err
		}
		return addAudit(ctx, tx, UserActor(u.ID, u.Email, u.Role, requestID), "user.set_password", userObject(u.ID), map[string]any{"by": "link"})
	})
	return u, err
}
