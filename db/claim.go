package db

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Claim is the right to call the vendor once for one delivery, until its lease
// ends. The attempt is counted already.
type Claim struct {
	NoticeID   int64
	DeviceID   int64
	Fence      int
	Attempts   int // this one included
	Charged    int // before this one
	Generation int
	KeyNo      int
	Scope      string // the share of the vendor that it waits in
	Address
	Platform  string
	ClaimedAt time.Time // by the database's clock
}

// Address is where a device is reached. Environment is apns's, P256dh and Auth are
// webpush's; else they are empty.
type Address struct {
	Kind        string
	Token       string
	Environment string
	P256dh      string
	Auth        string
}

// VendorKey is the idempotency key that the vendor sees.
func (c Claim) VendorKey() string {
	return fmt.Sprintf("n%d-d%d-k%d", c.NoticeID, c.DeviceID, c.KeyNo)
}

// Batch is what one claim statement came to.
type Batch struct {
	Claims []Claim
	Seen   int   // deliveries it claimed or settled; 0: nothing is to be had there now, whatever the cause
	Last   int64 // the highest device id of those
}

// Want asks for claims of one notice in one scope. With Due they are retries whose time has
// come, the longest waiting first; otherwise first attempts to the devices in
// (After, Last], in the order of their ids.
type Want struct {
	Notice int64
	Scope  string
	Due    bool
	After  int64
	Last   int64
	Limit  int
}

// query gives the statement of w. What must not be called any more is settled on
// the way: skipped where consent or the device is gone, failed where the notice
// has expired.
func (w Want) query(lease time.Duration, shard int) (string, pgx.StrictNamedArgs) {
	args := pgx.StrictNamedArgs{"notice": w.Notice, "scope": w.Scope, "limit": w.Limit, "lease": lease, "shard": shard % shards}
	if w.Due {
		return claimDueSQL, args
	}
	args["after"], args["last"] = w.After, w.Last
	return claimRangeSQL, args
}

// readBatch reads what a claim statement answers.
func readBatch(rows pgx.Rows) (b Batch, err error) {
	defer rows.Close()
	for rows.Next() {
		var c Claim
		var taken bool
		var token, environment, p256dh, auth *string
		if err := rows.Scan(&c.NoticeID, &c.DeviceID, &c.Fence, &c.Attempts, &c.Charged, &c.Generation, &c.KeyNo,
			&c.Scope, &c.Kind, &token, &environment, &p256dh, &auth, &c.Platform, &c.ClaimedAt, &taken); err != nil {
			return Batch{}, err
		}
		b.Seen++
		b.Last = max(b.Last, c.DeviceID)
		if taken {
			c.Token, c.Environment, c.P256dh, c.Auth = *token, textOr(environment), textOr(p256dh), textOr(auth)
			b.Claims = append(b.Claims, c)
		}
	}
	return b, rows.Err()
}

const (
	claimRangeSQL = claimHead + whileCalled + claimOf + `
		AND d.device_id > @after AND d.device_id <= @last AND d.wake_at IS NULL
		ORDER BY d.device_id LIMIT @limit` + claimTail
	claimDueSQL = claimHead + whileCalled + claimOf + `
		AND d.wake_at <= now()
		ORDER BY d.wake_at LIMIT @limit FOR UPDATE OF d SKIP LOCKED` + claimTail
	claimProbeSQL = claimHead + whileProbed + claimOf + `
		AND d.device_id = @device
		FOR UPDATE OF d SKIP LOCKED` + claimTail

	whileCalled = ` AND x.state = 'ok'`
	whileProbed = ` AND x.state = 'probing'`
)

// One statement: pick and lock, check whom it concerns, take or settle, count.
const claimHead = `
	WITH picked AS MATERIALIZED (
		SELECT d.notice_id, d.device_id, d.scope, v.kind, v.token, v.environment, v.p256dh, v.auth, v.platform, d.fence, d.charged > 0 AS retrying,
			CASE WHEN v.erased_at IS NOT NULL THEN 'device_erased'
				WHEN v.disabled_at IS NOT NULL THEN 'device_disabled'
				WHEN NOT v.consent THEN 'no_consent'
				WHEN n.expires_at <= now() THEN 'expired' END AS verdict
		FROM delivery d
		JOIN notice n ON n.id = d.notice_id AND n.state = 'sending'
		JOIN device v ON v.id = d.device_id
		JOIN vendor x ON x.scope = d.scope`

const claimOf = `
		WHERE d.notice_id = @notice AND d.scope = @scope AND d.status = 'pending'
			AND (v.scope = d.scope OR v.token IS NULL) -- who has gone elsewhere is followed: FollowMoves`

const claimTail = `

	), moved AS (
		UPDATE delivery d SET
			status = CASE WHEN p.verdict IS NULL THEN 'sending' WHEN p.verdict = 'expired' THEN 'failed' ELSE 'skipped' END,
			reason = coalesce(p.verdict, d.reason),
			code = CASE WHEN p.verdict IS NULL THEN d.code END,
			message = CASE WHEN p.verdict IS NULL THEN d.message END,
			lease_until = CASE WHEN p.verdict IS NULL THEN now() + @lease::interval END,
			wake_at = CASE WHEN p.verdict IS NULL AND d.wake_at IS NOT NULL THEN now() + @lease::interval END,
			failed_at = CASE WHEN p.verdict = 'expired' THEN now() END,
			fence = d.fence + CASE WHEN p.verdict IS NULL THEN 1 ELSE 0 END,
			attempts = d.attempts + CASE WHEN p.verdict IS NULL THEN 1 ELSE 0 END,
			updated_at = now()
		FROM picked p
		WHERE d.notice_id = p.notice_id AND d.device_id = p.device_id AND d.status = 'pending'
			AND d.fence = p.fence -- first attempts are not locked when picked
		RETURNING d.notice_id, d.device_id, d.fence, d.attempts, d.charged, d.generation, d.key_no,
			p.scope, p.kind, p.token, p.environment, p.p256dh, p.auth, p.platform, d.status, p.retrying, p.verdict
	), counted AS (
		UPDATE notice_counter c SET
			pending = c.pending - m.pending, retrying = c.retrying - m.retrying,
			sending = c.sending + m.sending, attempts = c.attempts + m.sending,
			failed = c.failed + m.failed, skipped = c.skipped + m.skipped
		FROM (SELECT count(*) FILTER (WHERE NOT retrying) AS pending, count(*) FILTER (WHERE retrying) AS retrying,
				count(*) FILTER (WHERE status = 'sending') AS sending, count(*) FILTER (WHERE status = 'failed') AS failed,
				count(*) FILTER (WHERE status = 'skipped') AS skipped, count(*) AS n FROM moved) m
		WHERE c.notice_id = @notice AND c.scope = @scope AND c.shard = @shard AND m.n > 0
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT @notice, @shard, status, verdict, count(*) FROM moved WHERE verdict IS NOT NULL GROUP BY status, verdict
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	)
	SELECT notice_id, device_id, fence, attempts, charged, generation, key_no, scope, kind, token, environment, p256dh, auth, platform, now(), verdict IS NULL
	FROM moved`
