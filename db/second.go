package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// SetSecond gives a person a second factor: the base32 secret of RFC 6238, and
// the SHA-256 hashes of recovery codes, which replace older ones. step is the time
// step whose code proved it. It is ErrNotFound where there is no such person.
func (db *DB) SetSecond(ctx context.Context, id int64, secret string, step int64, codes [][]byte, a Actor) (err error) {
	defer wrap(&err, "SetSecond(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE app_user SET totp_secret = $2, totp_since = now(), totp_step = $3 WHERE id = $1", id, secret, step)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return ErrNotFound
		}
		if _, err := tx.Exec(ctx, "DELETE FROM recovery_code WHERE user_id = $1", id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO recovery_code (user_id, code_hash) SELECT $1, unnest($2::bytea[])", id, codes); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.second_on", userObject(id), map[string]any{"recovery_codes": len(codes)})
	})
}

// DropSecond takes a person's second factor away and ends all sessions of that
// person. Doing it again changes nothing more. It is ErrNotFound where there is
// no such person.
func (db *DB) DropSecond(ctx context.Context, id int64, a Actor) (err error) {
	defer wrap(&err, "DropSecond(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		u, err := lockUser(ctx, tx, id)
		if err != nil || u.TOTPSecret == nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE app_user SET totp_secret = NULL, totp_since = NULL WHERE id = $1", id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM recovery_code WHERE user_id = $1", id); err != nil {
			return err
		}
		if _, err := endSessionsOf(ctx, tx, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.second_off", userObject(id), nil)
	})
}

// UseStep takes a time step whose code a person gave, once: used says whether it
// was later than the last one. So a code that somebody saw cannot be used again.
func (db *DB) UseStep(ctx context.Context, id, step int64) (used bool, err error) {
	defer wrap(&err, "UseStep(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		tag, err := q.Exec(ctx, `
			UPDATE app_user SET totp_step = $2 WHERE id = $1 AND totp_secret IS NOT NULL AND totp_step < $2`, id, step)
		used = tag.RowsAffected() == 1
		return err
	})
	return used, err
}

// UseRecoveryCode takes a person's recovery code by its SHA-256 hash, once, and
// says whether there was such a one and how many are left.
func (db *DB) UseRecoveryCode(ctx context.Context, id int64, hash []byte, a Actor) (used bool, left int, err error) {
	defer wrap(&err, "UseRecoveryCode(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE recovery_code SET used_at = now() WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL`, id, hash)
		if used = tag.RowsAffected() == 1; err != nil || !used {
			return err
		}
		err = tx.QueryRow(ctx, "SELECT count(*) FROM recovery_code WHERE user_id = $1 AND used_at IS NULL", id).Scan(&left)
		if err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "user.recovery_code", userObject(id), map[string]any{"left": left})
	})
	return used, left, err
}
