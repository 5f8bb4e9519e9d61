package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxTestDevices is the most devices that one test send goes to.
const MaxTestDevices = 100

// TestSend is a message to a few named devices, outside the ledger of notices.
// Each device gets one call and no retry.
type TestSend struct {
	ID          int64
	Title       string
	Body        string
	Link        *string
	AskedBy     string
	AskedByName string
	AskedAt     time.Time
	FinishedAt  *time.Time   // every device's end is known, or known to be unknown
	Devices     []TestDevice `db:"-"`
}

// TestDevice is what became of a test send at one device.
type TestDevice struct {
	DeviceID    int64
	Platform    string
	TokenMasked string `db:"-"`
	Status      string // one of Statuses
	Reason      *string
	Code        *string // the vendor's, raw
	Message     *string // the vendor's words, raw
	SentAt      *time.Time
	UpdatedAt   time.Time
}

const testSendColumns = "id, title, body, link, asked_by, asked_by_name, asked_at, finished_at"

// CreateTestSend stores a test send to devices, each of them once. link "" is
// none. It is an *InvalidError that names what is wrong with the text, as for a
// notice, or which of devices does not exist, such as devices[2].
func (db *DB) CreateTestSend(ctx context.Context, title, body, link string, devices []int64, a Actor) (t TestSend, err error) {
	defer wrap(&err, "CreateTestSend")
	d := Draft{Title: title, Body: body, Link: link}
	if err := checkTestSend(&d, devices); err != nil {
		return t, err
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := devicesExist(ctx, tx, devices); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRow(ctx, `
			WITH t AS (
				INSERT INTO test_send (title, body, link, asked_by, asked_by_name)
				VALUES ($1, $2, nullif($3, ''), $4, $5) RETURNING id
			), d AS (
				INSERT INTO test_send_device (test_send_id, device_id)
				SELECT DISTINCT t.id, x FROM t, unnest($6::bigint[]) x
			)
			SELECT id FROM t`, d.Title, d.Body, d.Link, a.ID, a.Name, devices).Scan(&id)
		if err != nil {
			return err
		}
		if t, err = testSend(ctx, tx, id); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "test_send.create", fmt.Sprintf("test_send:%d", id), map[string]any{"devices": len(t.Devices)})
	})
	return t, err
}

func checkTestSend(d *Draft, devices []int64) error {
	var bad []FieldError
	var invalid *InvalidError
	if err := CheckDraft(d); errors.As(err, &invalid) {
		bad = invalid.Fields
	}
	switch {
	case len(devices) == 0:
		bad = append(bad, FieldError{"devices", "is missing: name from 1 to 100 devices"})
	case len(devices) > MaxTestDevices:
		bad = append(bad, FieldError{"devices", fmt.Sprintf("names %d devices: at most %d", len(devices), MaxTestDevices)})
	}
	return invalidIf(bad)
}

// devicesExist names each of devices that is not there, as an *InvalidError.
func devicesExist(ctx context.Context, q querier, devices []int64) error {
	rows, err := q.Query(ctx, "SELECT id FROM device WHERE id = ANY ($1)", devices)
	if err != nil {
		return err
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	var bad []FieldError
	for i, id := range devices {
		if !slices.Contains(there, id) {
			bad = append(bad, FieldError{fmt.Sprintf("devices[%d]", i), fmt.Sprintf("there is no device %d", id)})
		}
	}
	return invalidIf(bad)
}

// TestSend gives a test send and what became of it at each device, by id, in one
// snapshot, or ErrNotFound.
func (db *DB) TestSend(ctx context.Context, id int64) (t TestSend, err error) {
	defer wrap(&err, "TestSend(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"); err != nil {
			return err
		}
		t, err = testSend(ctx, tx, id)
		return err
	})
	return t, err
}

// LastTestDevices gives the devices of the last test send that this sender made, by
// number; none where there was none.
func (db *DB) LastTestDevices(ctx context.Context, sender string) (ids []int64, err error) {
	defer wrap(&err, "LastTestDevices(%q)", sender)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		return q.QueryRow(ctx, `
			SELECT coalesce(array_agg(device_id ORDER BY device_id), '{}') FROM test_send_device
			WHERE test_send_id = (SELECT id FROM test_send WHERE asked_by = $1 ORDER BY id DESC LIMIT 1)`, sender).Scan(&ids)
	})
	return ids, err
}

// sameTestWithin is how long two test sends with the same text count as one meant once.
const sameTestWithin = time.Minute

// TestSendBefore gives the last test send, without its devices, that the same sender
// made with the same text within the minute before t, or ErrNotFound. Each is one of
// its own: pressing twice tells the devices twice.
func (db *DB) TestSendBefore(ctx context.Context, t TestSend) (before TestSend, err error) {
	defer wrap(&err, "TestSendBefore(%d)", t.ID)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		before, err = oneRow[TestSend](q.Query(ctx, "SELECT "+testSendColumns+` FROM test_send
			WHERE id < $1 AND id >= $1 - 1000 AND asked_by = $2 AND title = $3 AND body = $4 AND link IS NOT DISTINCT FROM $5
				AND asked_at > $6::timestamptz - $7::interval
			ORDER BY id DESC LIMIT 1`, t.ID, t.AskedBy, t.Title, t.Body, t.Link, t.AskedAt, sameTestWithin))
		return err
	})
	return before, err
}

func testSend(ctx context.Context, q querier, id int64) (TestSend, error) {
	t, err := oneRow[TestSend](q.Query(ctx, "SELECT "+testSendColumns+" FROM test_send WHERE id = $1", id))
	if err != nil {
		return t, err
	}
	type row struct {
		TestDevice
		Token *string
	}
	rows, err := allRows[row](q.Query(ctx, `
		SELECT x.device_id, d.platform, x.status, x.reason, x.code, x.message, x.sent_at, x.updated_at, d.token
		FROM test_send_device x JOIN device d ON d.id = x.device_id
		WHERE x.test_send_id = $1 ORDER BY x.device_id`, id))
	t.Devices = make([]TestDevice, len(rows))
	for i, r := range rows {
		t.Devices[i] = r.TestDevice
		if r.Token != nil {
			t.Devices[i].TokenMasked = maskToken(*r.Token)
		}
	}
	return t, err
}
