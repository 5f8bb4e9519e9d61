package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// lastAdmin is why the last admin stays one: nobody could undo it in the panel.
var lastAdmin = &ConflictError{Code: "last_admin",
	Message: "this is the last admin who can sign in: make somebody else an admin first"}

// lockAdmins lets one change of who is an admin in at a time.
const lockAdmins = 0x626f6e67_61646d6e

// SetRole gives a person another role, which holds from the next request on. It
// is ErrNotFound where there is no such person, an *InvalidError where the role
// is none, and a *ConflictError last_admin where nobody could be admin then.
func (db *DB) SetRole(ctx context.Context, id int64, role Role, a Actor) (err error) {
	defer wrap(&err, "SetRole(%d, %q)", id, role)
	if bad := checkRole(role); bad != nil {
		return invalidIf(bad)
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err := lockPerson(ctx, tx, id)
		if err != nil || u.Role == role {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE app_user SET role = $2 WHERE id = $1", id, role); err != nil {
			return err
		}
		if err := stillAdmin(ctx, tx, u); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.role", userObject(id), map[string]any{"before": u.Role, "after": role})
	})
}

// DisableUser shuts a person out, ends all sessions of that person and stops the
// one-time link. Doing it again changes nothing more. It is ErrNotFound where
// there is no such person, and a *ConflictError last_admin for the last admin.
func (db *DB) DisableUser(ctx context.Context, id int64, a Actor) (err error) {
	defer wrap(&err, "DisableUser(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err := lockPerson(ctx, tx, id)
		if err != nil || u.DisabledAt != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE app_user SET disabled_at = now() WHERE id = $1", id); err != nil {
			return err
		}
		if err := stillAdmin(ctx, tx, u); err != nil {
			return err
		}
		if err := endLinks(ctx, tx, id); err != nil {
			return err
		}
		ended, err := endSessionsOf(ctx, tx, id)
		if err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.disable", userObject(id), map[string]any{"sessions_ended": ended})
	})
}

// EnableUser lets a disabled person in again, with the password that there was.
// Doing it again changes nothing more. It is ErrNotFound where there is no such
// person.
func (db *DB) EnableUser(ctx context.Context, id int64, a Actor) (err error) {
	defer wrap(&err, "EnableUser(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err := lockUser(ctx, tx, id)
		if err != nil || u.DisabledAt == nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE app_user SET disabled_at = NULL WHERE id = $1", id); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.enable", userObject(id), nil)
	})
}

// lockPerson locks one person, and who is an admin.
func lockPerson(ctx context.Context, tx pgx.Tx, id int64) (User, error) {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lockAdmins)); err != nil {
		return User{}, err
	}
	return lockUser(ctx, tx, id)
}

// stillAdmin fails with lastAdmin where was, the person before a change, was the
// last admin who could sign in.
func stillAdmin(ctx context.Context, tx pgx.Tx, was User) error {
	if was.Role != Admin || was.DisabledAt != nil || was.PasswordHash == "" {
		return nil
	}
	var left bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM app_user WHERE role = 'admin' AND disabled_at IS NULL AND password_hash <> '')`).Scan(&left)
	if err == nil && !left {
		return lastAdmin
	}
	return err
}

// EndUserSessions signs a person out everywhere and says how many sessions there
// were. It is ErrNotFound where there is no such person.
func (db *DB) EndUserSessions(ctx context.Context, id int64, a Actor) (n int64, err error) {
	defer wrap(&err, "EndUserSessions(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := lockUser(ctx, tx, id); err != nil {
			return err
		}
		if n, err = endSessionsOf(ctx, tx, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.end_sessions", userObject(id), map[string]any{"sessions": n})
	})
	return n, err
}
