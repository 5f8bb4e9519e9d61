package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// VendorState says whether a vendor is called.
type VendorState struct {
	Scope       string // http, fcm:android, apns:sandbox, webpush:push.example.com, …
	Kind        string
	State       string  // ok, paused or probing
	Reason      *string // credentials_refused, not_configured, backlog or refusals
	Fingerprint *string // of the credential that was refused, where that is the reason
	Detail      *string // the vendor's words
	Since       time.Time
	NextProbeAt *time.Time
	KeepDevices bool       // a 410 disables nobody until an admin agrees
	KeptSince   *time.Time // and that since then
	Agreed      int64      // refusals of notices up to this one are right, an admin says
	OKAt        *time.Time // it took a message last
	WaitUntil   *time.Time // it asked us to wait until then
	Version     int64
}

const vendorColumns = `scope, kind, fingerprint, state, reason, detail, since, next_probe_at, keep_devices, kept_since,
	agreed_notice AS agreed, ok_at, wait_until, version`

// Vendors gives the state of each vendor.
func (db *DB) Vendors(ctx context.Context) (_ []VendorState, err error) {
	defer wrap(&err, "Vendors")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	list, err := vendors(ctx, db.pool)
	return list, db.noticed(err)
}

func vendors(ctx context.Context, q querier) ([]VendorState, error) {
	rows, err := q.Query(ctx, `SELECT `+vendorColumns+` FROM vendor ORDER BY scope`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[VendorState])
}

// worker is who acts where no person does.
var worker = Actor{ID: "worker", Name: "worker", Role: "system"}

// PauseVendor stops all calls to a vendor that is called or probed now, until an
// admin lets them go on, or another credential is there. reason is
// credentials_refused, not_configured or refusals, detail the words to show,
// fingerprint of the credential in use. It tells whether it was the one that paused it.
func (db *DB) PauseVendor(ctx context.Context, scope, reason, detail, fingerprint string) (paused bool, err error) {
	defer wrap(&err, "PauseVendor(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET state = 'paused', reason = $2, detail = nullif($3, ''), since = now(), next_probe_at = NULL,
				fingerprint = $4, version = version + 1
			WHERE scope = $1 AND state <> 'paused'`, scope, reason, detail, fingerprint)
		if paused = tag.RowsAffected() == 1; err != nil || !paused {
			return err
		}
		return addAudit(ctx, tx, worker, "vendor.pause", "vendor:"+scope, map[string]any{"reason": reason, "detail": detail})
	})
	return paused, err
}

// ResumeVendor lets a paused vendor be called again, and has one that is probed
// probed at once. ErrNotFound for a vendor that there is not; *ConflictError
// wrong_state where it is called anyway.
func (db *DB) ResumeVendor(ctx context.Context, scope string, by Actor) (err error) {
	defer wrap(&err, "ResumeVendor(%q)", scope)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var was string
		err := tx.QueryRow(ctx, `SELECT state FROM vendor WHERE scope = $1 FOR UPDATE`, scope).Scan(&was)
		switch {
		case err != nil:
			return orNotFound(err)
		case was == "ok":
			return &ConflictError{Code: "wrong_state", Message: fmt.Sprintf("the vendor %s is not paused", scope)}
		case was == "probing":
			if _, err := tx.Exec(ctx, `UPDATE vendor SET next_probe_at = now() WHERE scope = $1`, scope); err != nil {
				return err
			}
			return addAudit(ctx, tx, by, "vendor.probe", "vendor:"+scope, nil)
		}
		if err := callAgain(ctx, tx, scope); err != nil {
			return err
		}
		return addAudit(ctx, tx, by, "vendor.resume", "vendor:"+scope, map[string]any{"from": was})
	})
}

// ProbeVendor has a paused vendor probed at once, since what it was paused for may be
// mended: version is the one that Vendors showed. It tells whether it did.
func (db *DB) ProbeVendor(ctx context.Context, scope string, version int64) (began bool, err error) {
	defer wrap(&err, "ProbeVendor(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET state = 'probing', next_probe_at = now(), version = version + 1
			WHERE scope = $1 AND state = 'paused' AND version = $2`, scope, version)
		if began = tag.RowsAffected() == 1; err != nil || !began {
			return err
		}
		return addAudit(ctx, tx, worker, "vendor.probe", "vendor:"+scope, map[string]any{"why": "another credential"})
	})
	return began, err
}

// callAgain lets a vendor be called, and has what waits for it rung at once.
func callAgain(ctx context.Context, tx pgx.Tx, scope string) error {
	if _, err := tx.Exec(ctx, `
		UPDATE vendor SET state = 'ok', reason = NULL, detail = NULL, since = now(), next_probe_at = NULL,
			version = version + 1
		WHERE scope = $1`, scope); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE notice_range r SET ring = ring + 1, rung_at = NULL FROM notice n
		WHERE n.settled_at IS NULL AND r.notice_id = n.id AND r.scope = $1 AND r.done_at IS NULL`, scope)
	return err
}

// HeardVendor keeps when a vendor took a message last and until when it asked us
// to wait; the zero time is none.
func (db *DB) HeardVendor(ctx context.Context, scope string, ok, wait time.Time) (err error) {
	defer wrap(&err, "HeardVendor(%q)", scope)
	return db.exec(ctx, `
		UPDATE vendor SET ok_at = greatest(ok_at, $2), wait_until = greatest(wait_until, $3) WHERE scope = $1`,
		scope, orNull(ok), orNull(wait))
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// TakeRate reserves n calls out of the perSecond that name may make over all
// processes, and tells how long to wait before the first of them. Reservations follow
// one another; time that nobody reserved is lost.
func (db *DB) TakeRate(ctx context.Context, name string, n int, perSecond float64) (wait time.Duration, err error) {
	defer wrap(&err, "TakeRate(%q, %d)", name, n)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	var micro int64
	err = db.pool.QueryRow(ctx, `
		INSERT INTO vendor_rate AS r (name, free_at) VALUES ($1, clock_timestamp() + $2::float8 / $3::float8 * interval '1 second')
		ON CONFLICT (name) DO UPDATE SET
			free_at = greatest(r.free_at, clock_timestamp()) + $2::float8 / $3::float8 * interval '1 second'
		RETURNING extract(epoch FROM free_at - clock_timestamp()) * 1000000
			- $2::float8 / $3::float8 * 1000000`, name, n, perSecond).Scan(&micro)
	return max(0, time.Duration(micro)*time.Microsecond), db.noticed(err)
}
