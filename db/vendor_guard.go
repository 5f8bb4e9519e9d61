package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// waitingSQL counts the deliveries that wait in notices that are being sent: those
// that there are, and those that the audience's estimate says are still to come.
const waitingSQL = `
	SELECT coalesce(sum(c.waiting + CASE
		WHEN n.cut_at IS NULL OR EXISTS (
			SELECT FROM notice_range r WHERE r.notice_id = n.id AND r.done_at IS NULL AND r.filled_at IS NULL)
		THEN greatest(0, coalesce(n.estimate, 0) - c.total) ELSE 0 END), 0)::bigint
	FROM notice n CROSS JOIN LATERAL (
		SELECT coalesce(sum(total), 0) AS total, coalesce(sum(pending + retrying), 0) AS waiting
		FROM notice_counter WHERE notice_id = n.id) c
	WHERE n.settled_at IS NULL AND n.state = 'sending'`

// TripVendor opens the breaker of a vendor whose answers are failures: where more
// than backlog deliveries wait, calls stop but for one probe after first and then
// one after each stretch that ClaimProbe is given. It tells whether the breaker is
// open now, whoever opened it.
func (db *DB) TripVendor(ctx context.Context, kind string, backlog int, first time.Duration, detail string) (open bool, err error) {
	defer wrap(&err, "TripVendor(%q)", kind)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var waiting int64
		if err := tx.QueryRow(ctx, waitingSQL).Scan(&waiting); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET state = 'probing', reason = 'backlog', detail = nullif($2, ''), since = now(),
				next_probe_at = now() + $3::interval, version = version + 1
			WHERE kind = $1 AND state = 'ok' AND $4 > $5::bigint`, kind, detail, first, waiting, backlog)
		if err != nil {
			return err
		}
		if open = tag.RowsAffected() == 1; open {
			return addAudit(ctx, tx, worker, "vendor.pause", "vendor:"+kind,
				map[string]any{"reason": "backlog", "detail": detail, "waiting": waiting})
		}
		return tx.QueryRow(ctx, `SELECT state = 'probing' FROM vendor WHERE kind = $1`, kind).Scan(&open)
	})
	return open, err
}

// CloseVendor closes an open breaker: the vendor has answered a probe. It tells
// whether it was the one that closed it.
func (db *DB) CloseVendor(ctx context.Context, kind string) (closed bool, err error) {
	defer wrap(&err, "CloseVendor(%q)", kind)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		closed, err = closeVendor(ctx, tx, kind, "answered")
		return err
	})
	return closed, err
}

func closeVendor(ctx context.Context, tx pgx.Tx, kind, why string) (bool, error) {
	var since time.Time
	err := tx.QueryRow(ctx, `SELECT since FROM vendor WHERE kind = $1 AND state = 'probing' FOR UPDATE`, kind).Scan(&since)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := callAgain(ctx, tx, kind); err != nil {
		return false, err
	}
	return true, addAudit(ctx, tx, worker, "vendor.resume", "vendor:"+kind,
		map[string]any{"from": "probing", "why": why, "since": since})
}

// KeepDevices stops 410s from disabling devices until an admin agrees. It tells
// whether it was the one that did.
func (db *DB) KeepDevices(ctx context.Context, kind, detail string) (kept bool, err error) {
	defer wrap(&err, "KeepDevices(%q)", kind)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE vendor SET keep_devices = true, kept_since = now(), version = version + 1
			WHERE kind = $1 AND NOT keep_devices`, kind)
		if kept = tag.RowsAffected() == 1; err != nil || !kept {
			return err
		}
		return addAudit(ctx, tx, worker, "vendor.keep_devices", "vendor:"+kind, map[string]any{"detail": detail})
	})
	return kept, err
}

// AgreeRefusals says that the refusals of all notices there are now are right:
// the guard leaves those notices alone, 410s disable devices again, and a vendor
// that was paused for refusals is called again. ErrNotFound for a vendor that
// there is not; *ConflictError wrong_state where nobody was asked.
func (db *DB) AgreeRefusals(ctx context.Context, kind string, by Actor) (err error) {
	defer wrap(&err, "AgreeRefusals(%q)", kind)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var paused, kept bool
		err := tx.QueryRow(ctx, `
			SELECT state = 'paused' AND reason = 'refusals', keep_devices FROM vendor WHERE kind = $1 FOR UPDATE`, kind).Scan(&paused, &kept)
		switch {
		case err != nil:
			return orNotFound(err)
		case !paused && !kept:
			return &ConflictError{Code: "wrong_state", Message: "nothing is asked about the refusals of the vendor " + kind}
		}
		if _, err := tx.Exec(ctx, `
			UPDATE vendor SET keep_devices = false, kept_since = NULL, version = version + 1,
				agreed_notice = greatest(agreed_notice, (SELECT max(id) FROM notice))
			WHERE kind = $1`, kind); err != nil {
			return err
		}
		if paused {
			if err := callAgain(ctx, tx, kind); err != nil {
				return err
			}
		}
		return addAudit(ctx, tx, by, "vendor.agree", "vendor:"+kind, map[string]any{"paused": paused, "devices_kept": kept})
	})
}
