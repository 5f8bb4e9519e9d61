package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// AuditEntry is one line of the audit log: who did what, to what.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Actor     string // user:3, token:7 or command
	ActorName string
	Role      Role   // as held at that moment
	Act       string // such as notice.pause
	Object    string // such as notice:12
	Result    string // done, or refused
	Detail    map[string]any
	RequestID *string
}

// AuditFilter says which lines of the audit log are wanted; what is empty does not
// narrow.
type AuditFilter struct {
	Who      string // part of the name, in whatever case, or the whole of Actor
	Act      string // the act, or its first part, such as notice
	Object   string
	Result   string
	From, To *time.Time // From counts, To does not
}

const auditQuery = `
	SELECT id, at, actor, actor_name, role, act, object, result, detail, request_id
	FROM audit
	WHERE id < @below
		AND (@object = '' OR object = @object)
		AND (@who = '' OR actor = @who OR strpos(lower(actor_name), lower(@who)) > 0)
		AND (@act = '' OR act = @act OR act LIKE @act || '.%')
		AND (@result = '' OR result = @result)
		AND (@from::timestamptz IS NULL OR at >= @from) AND (@to::timestamptz IS NULL OR at < @to)
	ORDER BY id DESC LIMIT @limit`

func (f AuditFilter) args(below int64, limit int) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"below": below, "limit": limit, "object": f.Object, "who": f.Who, "act": f.Act,
		"result": f.Result, "from": f.From, "to": f.To}
}

// Audit lists the lines of the audit log that match f, newest first.
func (db *DB) Audit(ctx context.Context, f AuditFilter, cursorText string, limit int) (p Page[AuditEntry], err error) {
	defer wrap(&err, "Audit(%+v)", f)
	below, err := keysetDown(cursorText, limit)
	if err != nil {
		return p, err
	}
	var rows []AuditEntry
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[AuditEntry](q.Query(ctx, auditQuery, f.args(below, limit+1)))
		return err
	})
	if err != nil {
		return p, err
	}
	return page(rows, limit, func(e AuditEntry) cursor { return cursor{e.ID} }), nil
}

// NoteRefusal keeps in the audit log that somebody asked for an act and was
// refused.
func (db *DB) NoteRefusal(ctx context.Context, a Actor, act, object string, detail map[string]any) (err error) {
	defer wrap(&err, "NoteRefusal(%q)", act)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		return writeAudit(ctx, q, a, act, object, "refused", detail)
	})
}

// NoteAct keeps in the audit log an act that changes no row of its own, such as
// reading what a person was sent, or signing in.
func (db *DB) NoteAct(ctx context.Context, a Actor, act, object string, detail map[string]any) (err error) {
	defer wrap(&err, "NoteAct(%q)", act)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		return writeAudit(ctx, q, a, act, object, "done", detail)
	})
}
