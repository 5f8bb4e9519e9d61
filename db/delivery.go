package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Delivery is one (notice, device) pair of the ledger.
type Delivery struct {
	NoticeID   int64
	DeviceID   int64
	Status     string
	Reason     *string
	Code       *string // the vendor's, raw
	Message    *string // the vendor's words, raw
	Attempts   int     // calls begun
	Charged    int     // answered failures of this generation
	Generation int     // 1, and one more for each replay
	Twice      bool    // possibly told twice
	DueAt      *time.Time
	SentAt     *time.Time
	FailedAt   *time.Time
	UpdatedAt  time.Time
}

const deliveryColumns = `d.notice_id, d.device_id, d.status, d.reason, d.code, d.message, d.attempts, d.charged,
	d.generation, d.twice, CASE WHEN d.status = 'pending' THEN d.wake_at END AS due_at, d.sent_at, d.failed_at, d.updated_at`

// Statuses are those of a delivery; "retrying" is not one of them, but a part of
// pending that lists and counts know by name.
var Statuses = []string{"pending", "sending", "sent", "failed", "skipped", "unknown"}

// Deliveries lists those of one notice by device id. status is one of Statuses,
// "retrying", or "" for all. ErrNotFound where there is no such notice.
func (db *DB) Deliveries(ctx context.Context, notice int64, status, after string, limit int) (_ Page[Delivery], err error) {
	defer wrap(&err, "Deliveries(%d, %q)", notice, status)
	var none Page[Delivery]
	if status != "" && status != "retrying" && !slices.Contains(Statuses, status) {
		return none, Invalid("status", "must be pending, retrying, sending, sent, failed, skipped or unknown")
	}
	if err := checkLimit(limit); err != nil {
		return none, err
	}
	cur, err := parseCursor(after, 1)
	if err != nil {
		return none, err
	}
	var from int64
	if cur != nil {
		from = cur[0]
	}
	ctx, cancel := db.bound(ctx)
	defer cancel()
	if err := db.noticeExists(ctx, notice); err != nil {
		return none, err
	}
	rows, err := db.pool.Query(ctx, `
		SELECT `+deliveryColumns+` FROM delivery d
		WHERE notice_id = $1 AND device_id > $2 AND `+statusFilter[status]+`
		ORDER BY device_id LIMIT $3`, notice, from, limit+1)
	if err != nil {
		return none, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Delivery])
	if err != nil {
		return none, db.noticed(err)
	}
	return page(list, limit, func(d Delivery) cursor { return cursor{d.DeviceID} }), nil
}

// statusFilter is the condition for each status that a list can be asked for.
// Failed and retrying name their partial indexes.
var statusFilter = map[string]string{
	"":         "true",
	"pending":  "status = 'pending' AND charged = 0",
	"retrying": "status = 'pending' AND charged > 0 AND wake_at IS NOT NULL",
	"sending":  "status = 'sending'",
	"sent":     "status = 'sent'",
	"failed":   "failed_at IS NOT NULL",
	"skipped":  "status = 'skipped'",
	"unknown":  "status = 'unknown'",
}

func (db *DB) noticeExists(ctx context.Context, id int64) error {
	var one int
	return db.noticed(orNotFound(db.pool.QueryRow(ctx, `SELECT 1 FROM notice WHERE id = $1`, id).Scan(&one)))
}

// Attempt is one vendor call for a delivery.
type Attempt struct {
	DeviceID   int64
	NoticeID   int64
	Fence      int // the claim it was made under
	Generation int
	StartedAt  time.Time
	TookMs     int
	HTTP       *int // status; nil where nobody answered
	Outcome    string
	Charged    bool
	Doubt      bool // it was written and nobody answered
	Reason     *string
	Code       *string
	Message    *string
	MessageID  *string
}

// DeviceDelivery is a delivery as the device's history shows it.
type DeviceDelivery struct {
	Delivery
	NoticeTitle string
	NoticeState string
	AttemptRows []Attempt `db:"-"` // oldest first
}

// DeviceDeliveries lists what one device was sent, newest notice first, with
// every attempt. A device that does not exist has none.
func (db *DB) DeviceDeliveries(ctx context.Context, device int64, after string, limit int) (_ Page[DeviceDelivery], err error) {
	defer wrap(&err, "DeviceDeliveries(%d)", device)
	var none Page[DeviceDelivery]
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
		SELECT `+deliveryColumns+`, n.title AS notice_title, n.state AS notice_state
		FROM delivery d JOIN notice n ON n.id = d.notice_id
		WHERE d.device_id = $1 AND ($2::bigint IS NULL OR d.notice_id < $2)
		ORDER BY d.notice_id DESC LIMIT $3`, device, below, limit+1)
	if err != nil {
		return none, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[DeviceDelivery])
	if err != nil {
		return none, db.noticed(err)
	}
	p := page(list, limit, func(d DeviceDelivery) cursor { return cursor{d.NoticeID} })
	return p, db.addAttempts(ctx, device, p.Items)
}

// addAttempts reads the attempts of one device for the given deliveries.
func (db *DB) addAttempts(ctx context.Context, device int64, list []DeviceDelivery) error {
	notices := make([]int64, len(list))
	at := make(map[int64]*DeviceDelivery, len(list))
	for i := range list {
		notices[i] = list[i].NoticeID
		at[list[i].NoticeID] = &list[i]
	}
	rows, err := db.pool.Query(ctx, `
		SELECT device_id, notice_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt,
			reason, code, message, message_id
		FROM attempt WHERE device_id = $1 AND notice_id = ANY($2) ORDER BY notice_id, fence`, device, notices)
	if err != nil {
		return db.noticed(err)
	}
	attempts, err := pgx.CollectRows(rows, pgx.RowToStructByName[Attempt])
	if err != nil {
		return db.noticed(err)
	}
	for _, a := range attempts {
		d := at[a.NoticeID]
		d.AttemptRows = append(d.AttemptRows, a)
	}
	return nil
}
