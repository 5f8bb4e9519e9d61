package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// waitingSQL counts what waits in the scope $1 in notices that are being sent: the
// deliveries that there are, the devices of ranges that have none yet, and those that
// the audience's estimate says are still to come, whose scope nobody knows yet.
const waitingSQL = `
	SELECT coalesce(sum(c.waiting + r.here + CASE WHEN n.cut_at IS NULL
		THEN greatest(0, coalesce(n.estimate, 0) - c.total - r.all_scopes) ELSE 0 END), 0)::bigint
	FROM notice n CROSS JOIN LATERAL (
		SELECT coalesce(sum(total), 0) AS total, coalesce(sum(pending + retrying) FILTER (WHERE scope = $1), 0) AS waiting
		FROM notice_counter WHERE notice_id = n.id) c
	CROSS JOIN LATERAL (
		SELECT coalesce(sum(devices), 0) AS all_scopes, coalesce(sum(devices) FILTER (WHERE scope = $1), 0) AS here
		FROM notice_range WHERE notice_id = n.id AND done_at IS NULL AND filled_at IS NULL) r
	WHERE n.settled_at IS NULL AND n.state = 'sending'`

// TripVendor opens the breaker of a vendor whose answers are failures: where more
// than backlog deliveries wait, calls stop but for one probe after first and then
// one after each stretch that ClaimProbe is given. It tells whether the breaker is
// open now, whoever opened it.
func (db *DB) TripVendor(ctx context.Context, scope string, backlog int, first time.Duration, detail string) (open bool, err error) {
	defer wrap(&err, "TripVendor(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var waiting int64
		if err := tx.QueryRow(ctx, waitingSQL, scope).Scan(&waiting); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET state = 'probing', reason = 'backlog', detail = nullif($2, ''), since = now(),
				next_probe_at = now() + $3::interval, version = version + 1
			WHERE scope = $1 AND state = 'ok' AND $4 > $5::bigint`, scope, detail, first, waiting, backlog)
		if err != nil {
			return err
		}
		if open = tag.RowsAffected() == 1; open {
			return addAudit(ctx, tx, worker, "vendor.pause", "vendor:"+scope,
				map[string]any{"reason": "backlog", "detail": detail, "waiting": waiting})
		}
		return tx.QueryRow(ctx, `SELECT state = 'probing' FROM vendor WHERE scope = $1`, scope).Scan(&open)
	})
	return open, err
}

// CloseVendor closes an open breaker: the vendor has answered a probe. It tells
// whether it was the one that closed it.
func (db *DB) CloseVendor(ctx context.Context, scope string) (closed bool, err error) {
	defer wrap(&err, "CloseVendor(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		closed, err = closeVendor(ctx, tx, scope, "answered")
		return err
	})
	return closed, err
}

func closeVendor(ctx context.Context, tx pgx.Tx, scope, why string) (bool, error) {
	var since time.Time
	err := tx.QueryRow(ctx, `SELECT since FROM vendor WHERE scope = $1 AND state = 'probing' FOR UPDATE`, scope).Scan(&since)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := callAgain(ctx, tx, scope); err != nil {
		return false, err
	}
	return true, addAudit(ctx, tx, worker, "vendor.resume", "vendor:"+scope,
		map[string]any{"from": "probing", "why": why, "since": since})
}

// KeepDevices stops 410s from disabling devices until an admin agrees. It tells
// whether it was the one that did.
func (db *DB) KeepDevices(ctx context.Context, scope, detail string) (kept bool, err error) {
	defer wrap(&err, "KeepDevices(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET keep_devices = true, kept_since = now(), version = version + 1
			WHERE scope = $1 AND NOT keep_devices`, scope)
		if kept = tag.RowsAffected() == 1; err != nil || !kept {
			return err
		}
		return addAudit(ctx, tx, worker, "vendor.keep_devices", "vendor:"+scope, map[string]any{"detail": detail})
	})
	return kept, err
}

// AgreeRefusals says that the refusals of all notices there are now are right:
// the guard leaves those notices alone, 410s disable devices again, and a vendor
// that was paused for refusals is called again. ErrNotFound for a vendor that
// there is not; *ConflictError wrong_state where nobody was asked.
func (db *DB) AgreeRefusals(ctx context.Context, scope string, by Actor) (err error) {
	defer wrap(&err, "AgreeRefusals(%q)", scope)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var paused, kept bool
		err := tx.QueryRow(ctx, `
			SELECT state = 'paused' AND reason = 'refusals', keep_devices FROM vendor WHERE scope = $1 FOR UPDATE`, scope).Scan(&paused, &kept)
		switch {
		case err != nil:
			return orNotFound(err)
		case !paused && !kept:
			return &ConflictError{Code: "wrong_state", Message: "nothing is asked about the refusals of the vendor " + scope}
		}
		if _, err := tx.Exec(ctx, `
			UPDATE vendor SET keep_devices = false, kept_since = NULL, version = version + 1,
				agreed_notice = greatest(agreed_notice, (SELECT max(id) FROM notice))
			WHERE scope = $1`, scope); err != nil {
			return err
		}
		if paused {
			if err := callAgain(ctx, tx, scope); err != nil {
				return err
			}
		}
		return addAudit(ctx, tx, by, "vendor.agree", "vendor:"+scope, map[string]any{"paused": paused, "devices_kept": kept})
	})
}
