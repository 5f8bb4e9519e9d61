package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestClaim is the right to make the one call of a test send to one device,
// until LeaseUntil by the database's clock.
type TestClaim struct {
	TestSendID int64
	DeviceID   int64
	Fence      int
	LeaseUntil time.Time
	Address
	Platform string
	Title    string
	Body     string
	Link     string // "" for none
}

// ClaimTestSend claims at most n calls of a test send, each for lease, and skips
// the devices that may not be told any more. An empty answer means that nothing
// is left to call. A device is claimed once, ever.
func (db *DB) ClaimTestSend(ctx context.Context, id int64, n int, lease time.Duration) (claims []TestClaim, err error) {
	defer wrap(&err, "ClaimTestSend(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := skipTests(ctx, tx, id); err != nil {
			return err
		}
		claims, err = allRows[TestClaim](tx.Query(ctx, `
			UPDATE test_send_device x
			SET status = 'sending', fence = x.fence + 1, lease_until = now() + $3::interval, updated_at = now()
			FROM (SELECT device_id FROM test_send_device
			      WHERE test_send_id = $1 AND status = 'pending'
			      ORDER BY device_id LIMIT $2 FOR UPDATE SKIP LOCKED) p, test_send t, device d
			WHERE x.test_send_id = $1 AND x.device_id = p.device_id AND x.status = 'pending'
				AND t.id = $1 AND d.id = x.device_id AND `+mayTell+`
			RETURNING x.test_send_id, x.device_id, x.fence, x.lease_until, d.kind, d.token, coalesce(d.environment, '') AS environment,
				coalesce(d.p256dh, '') AS p256dh, coalesce(d.auth, '') AS auth, d.platform, t.title, t.body, coalesce(t.link, '') AS link`, id, n, lease))
		if err != nil {
			return err
		}
		return finishTests(ctx, tx, []int64{id})
	})
	return claims, err
}

// mayTell says whether the device d may be told.
const mayTell = "d.consent AND d.disabled_at IS NULL AND d.erased_at IS NULL"

// skipTests ends the waiting calls to devices that may not be told.
func skipTests(ctx context.Context, q querier, id int64) error {
	_, err := q.Exec(ctx, `
		UPDATE test_send_device x SET status = 'skipped', updated_at = now(), reason = CASE
			WHEN d.erased_at IS NOT NULL THEN 'device_erased'
			WHEN d.disabled_at IS NOT NULL THEN 'device_disabled'
			ELSE 'no_consent' END
		FROM device d
		WHERE x.test_send_id = $1 AND x.status = 'pending' AND d.id = x.device_id AND NOT (`+mayTell+`)`, id)
	return err
}

// TestResult is the end of one claimed call.
type TestResult struct {
	TestSendID int64
	DeviceID   int64
	Fence      int
	Status     string // sent, failed or unknown
	Reason     string // "" where sent
	Code       string // the vendor's, raw, at most 64 bytes
	Message    string // the vendor's words, raw, at most 500 bytes
}

// RecordTestSend writes results where the claim they were made under still
// stands, and nothing else. Writing the same again changes nothing.
func (db *DB) RecordTestSend(ctx context.Context, results []TestResult) (err error) {
	defer wrap(&err, "RecordTestSend(%d)", len(results))
	n := len(results)
	ids, devices, fences := make([]int64, n), make([]int64, n), make([]int, n)
	statuses, reasons, codes, messages := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, r := range results {
		ids[i], devices[i], fences[i] = r.TestSendID, r.DeviceID, r.Fence
		statuses[i], reasons[i], codes[i], messages[i] = r.Status, r.Reason, r.Code, r.Message
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			UPDATE test_send_device x
			SET status = r.status, reason = nullif(r.reason, ''), code = nullif(r.code, ''),
				message = nullif(r.message, ''), lease_until = NULL, updated_at = now(),
				sent_at = CASE WHEN r.status = 'sent' THEN now() END
			FROM unnest(@ids::bigint[], @devices::bigint[], @fences::int[], @statuses::text[], @reasons::text[],
				@codes::text[], @messages::text[]) AS r (id, device, fence, status, reason, code, message)
			WHERE x.test_send_id = r.id AND x.device_id = r.device AND x.fence = r.fence AND x.status = 'sending'
				AND r.status IN ('sent', 'failed', 'unknown')`,
			pgx.StrictNamedArgs{"ids": ids, "devices": devices, "fences": fences, "statuses": statuses,
				"reasons": reasons, "codes": codes, "messages": messages})
		if err != nil {
			return err
		}
		return finishTests(ctx, tx, ids)
	})
}

// finishTests closes those of ids that have nothing waiting or under way. Their
// rows are locked first, so that of two that end the last two calls at the same
// time the later sees what the earlier did.
func finishTests(ctx context.Context, tx pgx.Tx, ids []int64) error {
	if _, err := tx.Exec(ctx, `
		SELECT FROM test_send WHERE id = ANY ($1) AND finished_at IS NULL ORDER BY id FOR NO KEY UPDATE`, ids); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE test_send t SET finished_at = now()
		WHERE id = ANY ($1) AND finished_at IS NULL AND `+noTestOpen, ids)
	return err
}

// TestRing is a test send whose task has to be enqueued, and the task's number.
type TestRing struct {
	ID   int64
	Ring int64
}

// OpenTestSends gives the test sends whose task has to be enqueued: those that
// nobody rang yet, and those that were rung longer than stale ago and still have
// calls waiting, under a new number. Before that it ends the calls whose lease
// has run out as unknown, since a test send is never called twice.
//
// It does nothing and gives none where another feeder has taken over from t.
func (db *DB) OpenTestSends(ctx context.Context, t Term, stale time.Duration) (rings []TestRing, err error) {
	defer wrap(&err, "OpenTestSends")
	for _, step := range []string{endTestLeases, closeTestSends, ringTestSends} {
		if err := db.exec(ctx, step, pgx.NamedArgs{"term": t, "stale": stale}); err != nil {
			return nil, err
		}
	}
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rings, err = allRows[TestRing](q.Query(ctx, `
			SELECT id, ring FROM test_send
			WHERE finished_at IS NULL AND rung_at IS NULL AND `+leads+`
			ORDER BY id LIMIT 1000`, pgx.StrictNamedArgs{"term": t}))
		return err
	})
	return rings, err
}

// The steps of OpenTestSends. Each is one statement, so that a feeder that
// freezes between them holds no lock.
const (
	endTestLeases = `
		UPDATE test_send_device x SET status = 'unknown', reason = 'holder_lost', lease_until = NULL, updated_at = now()
		FROM test_send t
		WHERE t.finished_at IS NULL AND x.test_send_id = t.id AND x.status = 'sending' AND x.lease_until < now()
			AND ` + leads
	closeTestSends = `
		UPDATE test_send t SET finished_at = now()
		WHERE finished_at IS NULL AND ` + noTestOpen + ` AND ` + leads
	ringTestSends = `
		UPDATE test_send t SET ring = ring + 1, rung_at = NULL
		WHERE finished_at IS NULL AND rung_at < now() - @stale::interval AND ` + leads + `
			AND EXISTS (SELECT FROM test_send_device WHERE test_send_id = t.id AND status = 'pending')`
)

// noTestOpen is the condition that the test send t has nothing to do any more.
const noTestOpen = `NOT EXISTS (
	SELECT FROM test_send_device WHERE test_send_id = t.id AND status IN ('pending', 'sending'))`

// MarkTestSendsRung notes that the tasks of rings are enqueued. It does nothing
// where another feeder has taken over from t.
func (db *DB) MarkTestSendsRung(ctx context.Context, t Term, rings []TestRing) (err error) {
	defer wrap(&err, "MarkTestSendsRung(%d)", len(rings))
	ids, numbers := make([]int64, len(rings)), make([]int64, len(rings))
	for i, r := range rings {
		ids[i], numbers[i] = r.ID, r.Ring
	}
	return db.exec(ctx, `
		UPDATE test_send t SET rung_at = now()
		FROM unnest(@ids::bigint[], @rings::bigint[]) AS r (id, ring)
		WHERE t.id = r.id AND t.ring = r.ring AND t.rung_at IS NULL AND `+leads,
		pgx.StrictNamedArgs{"term": t, "ids": ids, "rings": numbers})
}
