package db

import (
	"context"
	"time"
)

// AuditEntry is one line of the audit log: who did what, to what.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Actor     string // user:3, token:7 or command
	ActorName string
	Role      Role // as held at that moment
	Act       string
	Object    string // such as notice:12
	Detail    map[string]any
	RequestID *string
}

// Audit lists the audit log, newest first: of one object, or of all where
// object is "".
func (db *DB) Audit(ctx context.Context, object, cursorText string, limit int) (p Page[AuditEntry], err error) {
	defer wrap(&err, "Audit(%q)", object)
	below, err := keysetDown(cursorText, limit)
	if err != nil {
		return p, err
	}
	var rows []AuditEntry
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[AuditEntry](q.Query(ctx, `
			SELECT id, at, actor, actor_name, role, act, object, detail, request_id
			FROM audit
			WHERE ($1 = '' OR object = $1) AND id < $2
			ORDER BY id DESC LIMIT $3`, object, below, limit+1))
		return err
	})
	if err != nil {
		return p, err
	}
	return page(rows, limit, func(e AuditEntry) cursor { return cursor{e.ID} }), nil
}
