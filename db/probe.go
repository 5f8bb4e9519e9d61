package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Probe is one turn of trying whether a vendor is back.
type Probe struct {
	Claims []Claim // at most one; none: it was not our turn, or nothing is due
	Closed bool    // nothing waits any more, so the breaker was closed
}

// probeTries is how many deliveries one turn looks at that turn out to be for
// nobody.
const probeTries = 20

// ClaimProbe claims one waiting delivery of a vendor whose breaker is open, if its
// next probe is due; the one after it is due every later. Over all processes there
// is one in each turn. Probes go round the devices, so that one whose address
// always fails does not keep the breaker open.
func (db *DB) ClaimProbe(ctx context.Context, scope string, every, lease time.Duration, shard int) (p Probe, err error) {
	defer wrap(&err, "ClaimProbe(%q)", scope)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var last int64
		err := tx.QueryRow(ctx, `
			UPDATE vendor SET next_probe_at = now() + $2::interval
			WHERE scope = $1 AND state = 'probing' AND next_probe_at <= now()
			RETURNING probed_device`, scope, every).Scan(&last)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		for range probeTries {
			if err != nil || len(p.Claims) > 0 {
				break
			}
			var next Pair
			err = tx.QueryRow(ctx, probeNextSQL, last, scope).Scan(&next.NoticeID, &next.DeviceID)
			if errors.Is(err, pgx.ErrNoRows) {
				return closeIdle(ctx, tx, scope, &p)
			}
			if err == nil {
				last = next.DeviceID
				p.Claims, err = claimProbe(ctx, tx, scope, next, lease, shard)
			}
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE vendor SET probed_device = $2 WHERE scope = $1`, scope, last)
		return err
	})
	if err != nil {
		return Probe{}, err
	}
	return p, nil
}

func claimProbe(ctx context.Context, tx pgx.Tx, scope string, d Pair, lease time.Duration, shard int) ([]Claim, error) {
	rows, err := tx.Query(ctx, claimProbeSQL, pgx.StrictNamedArgs{
		"notice": d.NoticeID, "scope": scope, "device": d.DeviceID, "lease": lease, "shard": shard % shards,
	})
	if err != nil {
		return nil, err
	}
	b, err := readBatch(rows)
	return b.Claims, err
}

// closeIdle closes the breaker where nothing waits: there is nothing to try with.
func closeIdle(ctx context.Context, tx pgx.Tx, scope string, p *Probe) error {
	var waiting int64
	if err := tx.QueryRow(ctx, waitingSQL, scope).Scan(&waiting); err != nil || waiting > 0 {
		return err
	}
	var err error
	p.Closed, err = closeVendor(ctx, tx, scope, "nothing waits")
	return err
}

// probeNextSQL gives the next device after $1 that something waits for in the scope $2, and after
// the last of them the first again: out of each open range its first waiting
// delivery, and of each notice's retries those that are due longest.
const probeNextSQL = `
	WITH sending AS MATERIALIZED (SELECT id FROM notice WHERE settled_at IS NULL AND state = 'sending')
	SELECT notice_id, device_id FROM (
		SELECT w.notice_id, w.device_id FROM sending n JOIN notice_range r ON r.notice_id = n.id AND r.scope = $2 AND r.done_at IS NULL
		CROSS JOIN LATERAL (
			SELECT d.notice_id, d.device_id FROM delivery d
			WHERE d.notice_id = r.notice_id AND d.device_id BETWEEN r.first_id AND r.last_id
				AND d.scope = $2 AND d.status = 'pending' AND d.wake_at IS NULL
			ORDER BY d.device_id <= $1, d.device_id LIMIT 1) w
		UNION ALL
		SELECT w.notice_id, w.device_id FROM sending n CROSS JOIN LATERAL (
			SELECT d.notice_id, d.device_id FROM delivery d
			WHERE d.notice_id = n.id AND d.scope = $2 AND d.wake_at <= now() AND d.status = 'pending'
			ORDER BY d.wake_at LIMIT 200) w
	) waiting
	ORDER BY device_id <= $1, device_id LIMIT 1`
