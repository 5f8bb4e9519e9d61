package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The states of a notice.
const (
	Accepted  = "accepted"  // stored; no device was told yet
	Sending   = "sending"   // ranges are cut, devices are told
	Paused    = "paused"    // no new call is begun
	Finished  = "finished"  // fanned out, and nothing waits or is under way
	Cancelled = "cancelled" // what was not told stays untold
)

// Notice is what is sent.
type Notice struct {
	ID             int64
	Title          string
	Body           string
	Link           *string
	Category       string
	Platforms      []string // empty: all
	Tags           []string // empty: all
	RepeatOf       *int64
	ExpiresAt      time.Time
	State          string
	Version        int64 // goes up with every act of a person
	AcceptedBy     string
	AcceptedByName string
	AcceptedAt     time.Time
	StartedAt      *time.Time
	FirstCallAt    *time.Time
	FinishedAt     *time.Time
	StateByName    *string // who paused, resumed or cancelled it last
	StateAt        time.Time
	Estimate       *int64     // devices that matched when it started
	FannedOutAt    *time.Time // every delivery exists since then, about
	Traceparent    *string    // the trace that it was accepted in, as W3C Trace Context writes it
}

// Draft gives the content of n back, for submitting it again.
func (n Notice) Draft() Draft {
	d := Draft{Title: n.Title, Body: n.Body, Category: n.Category,
		Audience: Audience{n.Platforms, n.Tags}, RepeatOf: n.RepeatOf}
	if n.Link != nil {
		d.Link = *n.Link
	}
	return d
}

// noticeColumns are those of Notice, for a query whose notice is named n.
const noticeColumns = `n.id, n.title, n.body, n.link, n.category, n.platforms, n.tags, n.repeat_of, n.expires_at,
	n.state, n.version, n.accepted_by, n.accepted_by_name, n.accepted_at, n.started_at, n.first_call_at,
	n.finished_at, n.state_by_name, n.state_at, n.estimate, n.traceparent, CASE WHEN NOT EXISTS (SELECT 1 FROM notice_range r
		WHERE r.notice_id = n.id AND r.done_at IS NULL AND r.filled_at IS NULL) THEN n.cut_at END AS fanned_out_at`

// NoticeRow is a notice with its counts.
type NoticeRow struct {
	Notice
	Counts
}

// Notice gives one notice and its counts in one snapshot; ErrNotFound.
func (db *DB) Notice(ctx context.Context, id int64) (_ Notice, _ Counts, err error) {
	defer wrap(&err, "Notice(%d)", id)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	r, err := noticeRow(ctx, db.pool, id)
	return r.Notice, r.Counts, db.noticed(err)
}

func noticeRow(ctx context.Context, q querier, id int64) (NoticeRow, error) {
	rows, err := q.Query(ctx, `
		SELECT `+noticeColumns+`, `+countColumns+`
		FROM notice n CROSS JOIN LATERAL (`+countsOf+`) c
		WHERE n.id = $1`, id)
	if err != nil {
		return NoticeRow{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[NoticeRow])
	return r, orNotFound(err)
}

// Notices gives the newest notices first.
func (db *DB) Notices(ctx context.Context, after string, limit int) (_ Page[NoticeRow], err error) {
	defer wrap(&err, "Notices")
	var none Page[NoticeRow]
	if err := checkLimit(limit); err != nil {
		return none, err
	}
	cur, err := parseCursor(after, 1)
	if err != nil {
		return none, err
	}
	var below *int64
	if cur != nil {
		below = &cur[0]
	}
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `
		SELECT `+noticeColumns+`, `+countColumns+`
		FROM (SELECT * FROM notice WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2) n
		CROSS JOIN LATERAL (`+countsOf+`) c
		ORDER BY n.id DESC`, below, limit+1)
	if err != nil {
		return none, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[NoticeRow])
	if err != nil {
		return none, db.noticed(err)
	}
	return page(list, limit, func(r NoticeRow) cursor { return cursor{r.ID} }), nil
}
