package db

import (
	"context"
	"time"
)

// UserRow is a person as the list of people shows them.
type UserRow struct {
	ID         int64
	Email      string
	Role       Role
	DisabledAt *time.Time
	CreatedAt  time.Time
	Invited    bool       // no password was chosen yet
	Second     bool       // signs in with a second factor
	LinkUntil  *time.Time // a one-time link is open until then
	Sessions   int        // browsers that are signed in
	SeenAt     *time.Time // the last use of those, to the minute
	ActedAt    *time.Time // the last line of theirs in the log of acts, signing in included
}

// LastSeen is the last that is known of a person: nil where they never came.
func (u UserRow) LastSeen() *time.Time {
	if u.SeenAt == nil || u.ActedAt != nil && u.ActedAt.After(*u.SeenAt) {
		return u.ActedAt
	}
	return u.SeenAt
}

const userRows = `
	SELECT u.id, u.email, u.role, u.disabled_at, u.created_at, u.password_hash = '' AS invited, u.totp_secret IS NOT NULL AS second,
		(SELECT expires_at FROM user_link WHERE user_id = u.id AND ended_at IS NULL AND expires_at > now()) AS link_until,
		coalesce(s.sessions, 0) AS sessions, s.seen_at,
		(SELECT at FROM audit WHERE actor = 'user:' || u.id ORDER BY id DESC LIMIT 1) AS acted_at
	FROM app_user u
	LEFT JOIN LATERAL (
		SELECT count(*)::int AS sessions, max(seen_at) AS seen_at FROM web_session
		WHERE user_id = u.id AND ended_at IS NULL AND expires_at > now()) s ON true`

// Users lists people by address, from the cursor on, disabled ones too.
func (db *DB) Users(ctx context.Context, cursorText string, limit int) (p Page[UserRow], err error) {
	defer wrap(&err, "Users")
	if err := checkLimit(limit); err != nil {
		return p, err
	}
	after, err := parseCursor(cursorText, 1)
	if err != nil {
		return p, err
	}
	var from int64
	if after != nil {
		from = after[0]
	}
	var rows []UserRow
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[UserRow](q.Query(ctx, userRows+`
			WHERE (lower(u.email), u.id) > (coalesce((SELECT lower(email) FROM app_user WHERE id = $1), ''), $1)
			ORDER BY lower(u.email), u.id LIMIT $2`, from, limit+1))
		return err
	})
	if err != nil {
		return p, err
	}
	return page(rows, limit, func(u UserRow) cursor { return cursor{u.ID} }), nil
}

// UserRow gives a person as the list shows them, or ErrNotFound.
func (db *DB) UserRow(ctx context.Context, id int64) (u UserRow, err error) {
	defer wrap(&err, "UserRow(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		u, err = oneRow[UserRow](q.Query(ctx, userRows+" WHERE u.id = $1", id))
		return err
	})
	return u, err
}
