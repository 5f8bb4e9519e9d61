package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ClientKey is an idempotency key that a program chose. It is scoped to the
// program's token.
type ClientKey struct {
	TokenID int64
	Key     string // 1 to 255 printable ASCII characters
}

// Acceptance is the answer to a submitted draft.
type Acceptance struct {
	Notice      Notice
	Counts      Counts
	Replayed    bool   // it was there before: Notice is the original
	Newest      int64  // its newest repeat, or the notice itself
	NewestState string // that one's state
}

// AcceptNotice stores d as a notice, or finds the one that has its key. It is
// one transaction, runs to its end whatever becomes of ctx, and touches nothing
// but Postgres. expiry is how long a notice without an expiry of its own lives.
//
// It fails with an *InvalidError that names the fields, or with a
// *ConflictError: key_reused (the client's key named other content before) or
// expires_at_differs (the same content with another expiry).
func (db *DB) AcceptNotice(ctx context.Context, d Draft, by Actor, key *ClientKey, expiry time.Duration) (_ Acceptance, err error) {
	defer wrap(&err, "AcceptNotice")
	if err := CheckDraft(&d); err != nil {
		return Acceptance{}, err
	}
	if key != nil && !validKey(key.Key) {
		return Acceptance{}, Invalid("Idempotency-Key", "must be 1 to 255 printable ASCII characters")
	}
	ctx = context.WithoutCancel(ctx)
	id, fresh, err := db.insertNotice(ctx, d, by, key, expiry)
	if err != nil && !isRefusal(err) {
		// A commit whose answer was lost may have happened: the key knows.
		if found, lookErr := db.noticeByKey(ctx, d, key); lookErr == nil {
			id, fresh, err = found, true, nil
		}
	}
	if err != nil {
		return Acceptance{}, err
	}
	return db.acceptance(ctx, id, d, key, fresh)
}

func isRefusal(err error) bool {
	var invalid *InvalidError
	var conflict *ConflictError
	return errors.As(err, &invalid) || errors.As(err, &conflict)
}

func validKey(k string) bool {
	for _, c := range []byte(k) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return len(k) >= 1 && len(k) <= 255
}

// scopeAndKey is what makes a notice one and the same.
func scopeAndKey(d Draft, key *ClientKey) (scope, k string) {
	if key != nil {
		return fmt.Sprintf("token:%d", key.TokenID), key.Key
	}
	return "content", d.Key()
}

// insertNotice stores d unless its key is taken, and says which notice has it.
func (db *DB) insertNotice(ctx context.Context, d Draft, by Actor, key *ClientKey, expiry time.Duration) (id int64, fresh bool, err error) {
	scope, k := scopeAndKey(d, key)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT id FROM notice WHERE key_scope = $1 AND key = $2`, scope, k).Scan(&id)
		if err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		root, err := rootOf(ctx, tx, d.RepeatOf)
		if err != nil {
			return err
		}
		if d.ExpiresAt != nil && time.Until(*d.ExpiresAt) <= 0 {
			return Invalid("expires_at", "lies in the past")
		}
		err = tx.QueryRow(ctx, `
			INSERT INTO notice (key_scope, key, fingerprint, title, body, link, category, platforms, tags, repeat_of,
				root_id, expires_at, expires_given, accepted_by, accepted_by_name, traceparent, audience_max)
			VALUES (@scope, @key, @fingerprint, @title, @body, nullif(@link, ''), @category, @platforms, @tags, @repeat_of,
				@root, coalesce(@expires::timestamptz, now() + @expiry::interval), @expires::timestamptz IS NOT NULL,
				@by, @by_name, nullif(@traceparent, ''), (SELECT coalesce(max(id), 0) FROM device))
			ON CONFLICT (key_scope, key) DO NOTHING
			RETURNING id`,
			pgx.StrictNamedArgs{
				"scope": scope, "key": k, "fingerprint": d.Key(), "title": d.Title, "body": d.Body, "link": d.Link,
				"category": d.Category, "platforms": d.Audience.Platforms, "tags": d.Audience.Tags,
				"repeat_of": d.RepeatOf, "root": root, "expires": d.ExpiresAt, "expiry": expiry,
				"by": by.ID, "by_name": by.Name, "traceparent": d.Traceparent,
			}).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) { // somebody else was faster
			return tx.QueryRow(ctx, `SELECT id FROM notice WHERE key_scope = $1 AND key = $2`, scope, k).Scan(&id)
		}
		if err != nil {
			return err
		}
		fresh = true
		if _, err := tx.Exec(ctx, `
			INSERT INTO notice_counter (notice_id, shard) SELECT $1, generate_series(0, $2 - 1)`, id, shards); err != nil {
			return err
		}
		return addAudit(ctx, tx, by, "notice.accept", fmt.Sprintf("notice:%d", id), nil)
	})
	return id, fresh, err
}

// rootOf gives the first notice of the chain that of belongs to.
func rootOf(ctx context.Context, q querier, of *int64) (*int64, error) {
	if of == nil {
		return nil, nil //nolint:nilnil // no chain, as the column's NULL
	}
	var root int64
	err := q.QueryRow(ctx, `SELECT coalesce(root_id, id) FROM notice WHERE id = $1`, *of).Scan(&root)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, Invalid("repeat_of", "names notice %d, which does not exist", *of)
	}
	return &root, err
}

func (db *DB) noticeByKey(ctx context.Context, d Draft, key *ClientKey) (id int64, err error) {
	scope, k := scopeAndKey(d, key)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	err = db.pool.QueryRow(ctx, `SELECT id FROM notice WHERE key_scope = $1 AND key = $2`, scope, k).Scan(&id)
	return id, orNotFound(err)
}

// IsStored says whether a notice is stored under this key of its content, as Draft.Key
// gives it.
func (db *DB) IsStored(ctx context.Context, key string) (there bool, err error) {
	defer wrap(&err, "IsStored")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM notice WHERE key_scope = 'content' AND key = $1)`, key).Scan(&there)
	})
	return there, err
}

// acceptance tells what became of d, and whether it is the one that is stored.
func (db *DB) acceptance(ctx context.Context, id int64, d Draft, key *ClientKey, fresh bool) (Acceptance, error) {
	ctx, cancel := db.bound(ctx)
	defer cancel()
	r, err := noticeRow(ctx, db.pool, id)
	if err != nil {
		return Acceptance{}, db.noticed(err)
	}
	a := Acceptance{Notice: r.Notice, Counts: r.Counts, Replayed: !fresh, Newest: id, NewestState: r.State}
	if fresh {
		return a, nil
	}
	if key != nil && r.Draft().Key() != d.Key() {
		return Acceptance{}, &ConflictError{Code: "key_reused", Field: "Idempotency-Key", ID: id,
			Message: fmt.Sprintf("this Idempotency-Key named notice %d, whose content is another: choose a new key", id)}
	}
	if d.ExpiresAt != nil {
		var same bool
		err := db.pool.QueryRow(ctx, `SELECT expires_given AND expires_at = $2 FROM notice WHERE id = $1`, id, *d.ExpiresAt).Scan(&same)
		if err != nil {
			return Acceptance{}, db.noticed(err)
		}
		if !same {
			return Acceptance{}, &ConflictError{Code: "expires_at_differs", Field: "expires_at", ID: id,
				Message: fmt.Sprintf("notice %d has the same content and expires at %s: leave expires_at out to get it, or change the content",
					id, r.ExpiresAt.UTC().Format(time.RFC3339))}
		}
	}
	a.Newest, a.NewestState, err = newestRepeat(ctx, db.pool, id)
	return a, db.noticed(err)
}

// NewestRepeat gives the newest notice of the chain that id belongs to, which
// may be id itself, and its state.
func (db *DB) NewestRepeat(ctx context.Context, id int64) (newest int64, state string, err error) {
	defer wrap(&err, "NewestRepeat(%d)", id)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	newest, state, err = newestRepeat(ctx, db.pool, id)
	return newest, state, db.noticed(err)
}

func newestRepeat(ctx context.Context, q querier, id int64) (newest int64, state string, err error) {
	err = q.QueryRow(ctx, `
		SELECT n.id, n.state FROM notice n, (SELECT coalesce(root_id, id) AS root FROM notice WHERE id = $1) r
		WHERE n.root_id = r.root OR n.id = r.root
		ORDER BY n.id DESC LIMIT 1`, id).Scan(&newest, &state)
	return newest, state, orNotFound(err)
}
