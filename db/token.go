package db

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Token is a program's right to use the API. The token itself is not kept, only
// its hash.
type Token struct {
	ID         int64
	Name       string
	Role       Role
	CreatedAt  time.Time
	LastUsedAt *time.Time // to the minute
	ExpiresAt  *time.Time // nil: never
	RevokedAt  *time.Time
}

const tokenColumns = "id, name, role, created_at, last_used_at, expires_at, revoked_at"

// AddToken keeps a program's token, which never ends by itself, by its SHA-256
// hash. It is an *InvalidError where the name, the role or the length of the hash
// is wrong.
func (db *DB) AddToken(ctx context.Context, name string, role Role, hash []byte, a Actor) (Token, error) {
	return db.AddTokenUntil(ctx, name, role, hash, nil, a)
}

// AddTokenUntil is AddToken with a time at which the token stops working; nil is
// never.
func (db *DB) AddTokenUntil(ctx context.Context, name string, role Role, hash []byte, expires *time.Time, a Actor) (t Token, err error) {
	defer wrap(&err, "AddToken(%q)", name)
	name = strings.TrimSpace(name)
	if err := checkToken(name, role, hash); err != nil {
		return t, err
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		t, err = oneRow[Token](tx.Query(ctx, `
			INSERT INTO api_token (name, role, token_hash, expires_at) VALUES ($1, $2, $3, $4)
			RETURNING `+tokenColumns, name, role, hash, expires))
		if err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "token.add", tokenObject(t.ID), map[string]any{"name": name, "role": role, "expires_at": expires})
	})
	return t, err
}

// Token gives a program's token by number, also an ended one, or ErrNotFound.
func (db *DB) Token(ctx context.Context, id int64) (t Token, err error) {
	defer wrap(&err, "Token(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		t, err = oneRow[Token](q.Query(ctx, "SELECT "+tokenColumns+" FROM api_token WHERE id = $1", id))
		return err
	})
	return t, err
}

// Tokens lists programs' tokens, the newest first, ended ones too.
func (db *DB) Tokens(ctx context.Context, cursorText string, limit int) (p Page[Token], err error) {
	defer wrap(&err, "Tokens")
	below, err := keysetDown(cursorText, limit)
	if err != nil {
		return p, err
	}
	var rows []Token
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[Token](q.Query(ctx, "SELECT "+tokenColumns+`
			FROM api_token WHERE id < $1 ORDER BY id DESC LIMIT $2`, below, limit+1))
		return err
	})
	if err != nil {
		return p, err
	}
	return page(rows, limit, func(t Token) cursor { return cursor{t.ID} }), nil
}

func checkToken(name string, role Role, hash []byte) error {
	var bad []FieldError
	if n := utf8.RuneCountInString(name); n < 1 || n > 100 || !plain(name) {
		bad = append(bad, FieldError{"name", "must have from 1 to 100 characters in one line"})
	}
	bad = append(bad, checkRole(role)...)
	if len(hash) != sha256.Size {
		bad = append(bad, FieldError{"hash", fmt.Sprintf("must have %d bytes, not %d", sha256.Size, len(hash))})
	}
	return invalidIf(bad)
}

// TokenByHash gives the token with this SHA-256 hash and notes, at most once a
// minute, that it was used. One that was revoked or has ended is ErrNotFound like
// one that never was.
func (db *DB) TokenByHash(ctx context.Context, hash []byte) (t Token, err error) {
	defer wrap(&err, "TokenByHash")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		t, err = oneRow[Token](q.Query(ctx, "SELECT "+tokenColumns+`
			FROM api_token WHERE token_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`, hash))
		if err != nil {
			return err
		}
		return touchToken(ctx, q, t)
	})
	return t, err
}

// touchToken notes the use of t unless that was done within the last minute, or
// somebody else is doing it now.
func touchToken(ctx context.Context, q querier, t Token) error {
	if t.LastUsedAt != nil && time.Since(*t.LastUsedAt) < time.Minute {
		return nil
	}
	_, err := q.Exec(ctx, `
		UPDATE api_token SET last_used_at = now()
		WHERE id = (SELECT id FROM api_token
		            WHERE id = $1 AND coalesce(last_used_at, '-infinity') < now() - interval '1 minute'
		            FOR UPDATE SKIP LOCKED)`, t.ID)
	return err
}

// RevokeToken ends a token's right. Doing it again changes nothing more. It is
// ErrNotFound where there is no such token.
func (db *DB) RevokeToken(ctx context.Context, id int64, a Actor) (err error) {
	defer wrap(&err, "RevokeToken(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE api_token SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1", id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return ErrNotFound
		}
		return addAudit(ctx, tx, a, "token.revoke", tokenObject(id), nil)
	})
}

func tokenObject(id int64) string { return fmt.Sprintf("token:%d", id) }
