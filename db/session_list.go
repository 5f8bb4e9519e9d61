package db

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"
)

// SessionRow is a browser that a person is signed in with.
type SessionRow struct {
	ID        string // the hash of the cookie's token, in hex
	StartedAt time.Time
	SeenAt    time.Time // the last use, to the minute
	ExpiresAt time.Time
	Agent     string // what the browser calls itself
	Address   string // where it came from at sign-in
}

// SessionID gives the ID that SessionsOf shows for the cookie's token.
func SessionID(token string) string { return hex.EncodeToString(sessionHash(token)) }

// SessionsOf lists the sessions of a person that work, the last used first; at
// most 200.
func (db *DB) SessionsOf(ctx context.Context, user int64) (list []SessionRow, err error) {
	defer wrap(&err, "SessionsOf(%d)", user)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[SessionRow](q.Query(ctx, `
			SELECT encode(token_hash, 'hex') AS id, started_at, seen_at, expires_at,
				coalesce(agent, '') AS agent, coalesce(address, '') AS address
			FROM web_session WHERE user_id = $1 AND ended_at IS NULL AND expires_at > now()
			ORDER BY seen_at DESC, token_hash LIMIT 200`, user))
		return err
	})
	return list, err
}

// EndSession ends one session of a person by its ID. It is ErrNotFound where the
// person has no such session that works.
func (db *DB) EndSession(ctx context.Context, user int64, id string, a Actor) (err error) {
	defer wrap(&err, "EndSession(%d)", user)
	hash, err := hex.DecodeString(id)
	if err != nil {
		return ErrNotFound
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE web_session SET ended_at = now(), data = ''
			WHERE token_hash = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > now()`, hash, user)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return ErrNotFound
		}
		return addAudit(ctx, tx, a, "user.end_session", userObject(user), nil)
	})
}
