package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// SessionStore keeps browser sessions for a session manager that asks with or
// without a context. Each question has a deadline. A cookie's token is kept only
// as its hash. A session that was ended stays as a tombstone until after it would
// have expired, so that a commit that comes late cannot bring it back.
type SessionStore struct {
	db      *DB
	ownerOf func(data []byte) SessionOwner
}

// SessionOwner says whose session it is, and how to tell it from others.
type SessionOwner struct {
	User    int64  // 0: nobody has signed in
	Agent   string // what the browser calls itself
	Address string // where it came from
}

// Sessions gives the store of browser sessions. ownerOf reads out of a session's
// data whose it is.
func (db *DB) Sessions(ownerOf func(data []byte) SessionOwner) *SessionStore {
	return &SessionStore{db: db, ownerOf: ownerOf}
}

// FindCtx gives a session's data. It is not found when it never was, has
// expired, or was ended; that is no error.
func (s *SessionStore) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	defer wrap(&err, "Sessions.Find")
	err = s.db.read(ctx, func(ctx context.Context, q querier) error {
		return orNotFound(q.QueryRow(ctx, `
			SELECT data FROM web_session
			WHERE token_hash = $1 AND ended_at IS NULL AND expires_at > now()`, sessionHash(token)).Scan(&data))
	})
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx keeps a session's data until expiry. On a session that was ended it
// does nothing.
func (s *SessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) (err error) {
	defer wrap(&err, "Sessions.Commit")
	o := s.ownerOf(data)
	return s.db.read(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			INSERT INTO web_session (token_hash, data, user_id, expires_at, agent, address)
			VALUES ($1, $2, nullif($3::bigint, 0), $4, nullif($5, ''), nullif($6, ''))
			ON CONFLICT (token_hash) DO UPDATE
			SET data = excluded.data, user_id = excluded.user_id, expires_at = excluded.expires_at, seen_at = now(),
				agent = excluded.agent, address = excluded.address
			WHERE web_session.ended_at IS NULL`,
			sessionHash(token), data, o.User, expiry, o.Agent, o.Address)
		return err
	})
}

// DeleteCtx ends a session and forgets its data.
func (s *SessionStore) DeleteCtx(ctx context.Context, token string) (err error) {
	defer wrap(&err, "Sessions.Delete")
	return s.db.read(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `
			UPDATE web_session SET ended_at = now(), data = ''
			WHERE token_hash = $1 AND ended_at IS NULL`, sessionHash(token))
		return err
	})
}

// Find is FindCtx without a context of the caller's.
func (s *SessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit is CommitCtx without a context of the caller's.
func (s *SessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx without a context of the caller's.
func (s *SessionStore) Delete(token string) error {
	return s.DeleteCtx(context.Background(), token)
}

func sessionHash(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// endSessionsOf ends all sessions of a person and says how many there were.
func endSessionsOf(ctx context.Context, q querier, userID int64) (int64, error) {
	tag, err := q.Exec(ctx, `
		UPDATE web_session SET ended_at = now(), data = ''
		WHERE user_id = $1 AND ended_at IS NULL AND expires_at > now()`, userID)
	return tag.RowsAffected(), err
}

// sessionBatch is how many rows one transaction of SweepSessions removes.
const sessionBatch = 1000

// SweepSessions removes the sessions and tombstones that expired more than an
// hour ago, in transactions of at most 1,000 rows, and says how many. The hour
// lets a commit that was on its way, or a clock that is behind, meet the
// tombstone still.
func (db *DB) SweepSessions(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "SweepSessions")
	for {
		var gone int64
		err := db.read(ctx, func(ctx context.Context, q querier) error {
			tag, err := q.Exec(ctx, `
				DELETE FROM web_session WHERE token_hash = ANY (ARRAY(
					SELECT token_hash FROM web_session WHERE expires_at < now() - interval '1 hour'
					ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))`, sessionBatch)
			gone = tag.RowsAffected()
			return err
		})
		n += gone
		if err != nil || gone < sessionBatch {
			return n, err
		}
	}
}
