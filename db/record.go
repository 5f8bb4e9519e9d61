package db

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Result is what one attempt came to, ready to be written.
type Result struct {
	Claim     Claim
	StartedAt time.Time
	Took      time.Duration
	Outcome   string        // one of the Outcome constants but Lost
	Move      Move          // what Next says of it
	Delay     time.Duration // until the next attempt; only where Move.Status is pending
	HTTP      int           // status; 0 where nobody answered
	Doubt     bool          // written, and nobody answered
	Disable   bool          // the address is gone: disable the device unless it was registered again since
	DeadSince time.Time     // it is gone since then; zero: since the claim
	Reason    string
	Code      string
	Message   string
	MessageID string
}

// readStale reads which of the results were written, and gives the others.
func readStale(rows pgx.Rows, results []Result) (stale []Claim, err error) {
	written, err := pgx.CollectRows(rows, pgx.RowToStructByName[Pair])
	if err != nil || len(written) == len(results) {
		return nil, err
	}
	known := make(map[Pair]bool, len(written))
	for _, p := range written {
		known[p] = true
	}
	for _, r := range results {
		if !known[Pair{r.Claim.NoticeID, r.Claim.DeviceID}] {
			stale = append(stale, r.Claim)
		}
	}
	return stale, nil
}

// Pair names a delivery.
type Pair struct {
	NoticeID int64
	DeviceID int64
}

// recordArgs turns results into one array a column.
func recordArgs(results []Result, shard int) pgx.StrictNamedArgs {
	n := len(results)
	var (
		notice, device    = make([]int64, n), make([]int64, n)
		fence, http       = make([]int32, n), make([]int32, n)
		started           = make([]time.Time, n)
		took, delay       = make([]int64, n), make([]int64, n)
		outcome, status   = make([]string, n), make([]string, n)
		charged, doubt    = make([]bool, n), make([]bool, n)
		disable           = make([]bool, n)
		dead              = make([]time.Time, n)
		reason, code      = make([]string, n), make([]string, n)
		message, vendorID = make([]string, n), make([]string, n)
	)
	for i, r := range results {
		if dead[i] = r.Claim.ClaimedAt; !r.DeadSince.IsZero() && r.DeadSince.Before(dead[i]) {
			dead[i] = r.DeadSince
		}
		notice[i], device[i], fence[i] = r.Claim.NoticeID, r.Claim.DeviceID, int32(r.Claim.Fence)
		started[i] = r.StartedAt
		took[i], delay[i] = r.Took.Milliseconds(), r.Delay.Microseconds()
		outcome[i], status[i], http[i] = r.Outcome, r.Move.Status, int32(r.HTTP)
		charged[i], doubt[i], disable[i] = r.Move.Charged, r.Doubt, r.Disable
		reason[i], code[i], message[i], vendorID[i] = r.Reason, r.Code, r.Message, r.MessageID
	}
	return pgx.StrictNamedArgs{
		"notice": notice, "device": device, "fence": fence, "http": http, "started": started,
		"took": took, "delay": delay, "outcome": outcome, "status": status, "charged": charged, "doubt": doubt,
		"disable": disable, "dead": dead, "reason": reason, "code": code, "message": message, "vendor_id": vendorID,
		"shard": shard % shards,
	}
}

// recordStatement gives the statement that writes results. Where all were sent or
// wait again, which is nearly always, it leaves out the parts for ends and for a
// notice's first call: setting up a statement takes as long as writing forty rows.
func (db *DB) recordStatement(results []Result) string {
	for _, r := range results {
		if r.Disable || r.Move.Status == "failed" || r.Move.Status == "unknown" || !db.begun.has(r.Claim.NoticeID) {
			return recordEndsSQL
		}
	}
	return recordSQL
}

// begun remembers notices whose first call is in the ledger, as far as this
// process has seen; one too few costs a little time and nothing else.
type begun struct {
	mu sync.Mutex
	by map[int64]bool
}

// begunMax is how many it remembers.
const begunMax = 1000

func (b *begun) has(notice int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.by[notice]
}

func (b *begun) add(results []Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by == nil || len(b.by) > begunMax {
		b.by = make(map[int64]bool)
	}
	for _, r := range results {
		b.by[r.Claim.NoticeID] = true
	}
}

const (
	recordSQL     = recordHead + recordTail
	recordEndsSQL = recordHead + recordEnds + recordTail
)

const recordHead = `
	WITH r AS MATERIALIZED (
		SELECT * FROM unnest(@notice::bigint[], @device::bigint[], @fence::int[], @http::int[], @started::timestamptz[],
			@took::bigint[], @delay::bigint[], @outcome::text[], @status::text[],
			@charged::boolean[], @doubt::boolean[], @disable::boolean[], @dead::timestamptz[], @reason::text[], @code::text[],
			@message::text[], @vendor_id::text[])
			AS r (notice_id, device_id, fence, http, started_at, took, delay, outcome, status,
				charged, doubt, disable, dead_at, reason, code, message, message_id)
	), moved AS (
		UPDATE delivery d SET
			status = r.status,
			reason = nullif(r.reason, ''), code = nullif(r.code, ''), message = nullif(r.message, ''),
			lease_until = NULL,
			wake_at = CASE WHEN r.status = 'pending' THEN now() + r.delay * interval '1 microsecond' END,
			sent_at = CASE WHEN r.status = 'sent' THEN now() END,
			failed_at = CASE WHEN r.status = 'failed' THEN now() END,
			charged = d.charged + r.charged::int,
			doubts = d.doubts + r.doubt::int,
			twice = d.twice OR (d.doubts > 0 AND (r.doubt OR r.status = 'sent')),
			definite = r.http > 0 AND NOT r.doubt,
			updated_at = now()
		FROM r
		WHERE d.notice_id = r.notice_id AND d.device_id = r.device_id AND d.fence = r.fence AND d.status = 'sending'
		RETURNING d.notice_id, d.device_id, d.scope, d.fence, d.generation, d.status, d.reason, d.code, d.message, d.charged AS charged_now,
			-- the second call that may have arrived; a third adds nothing to the count
			d.doubts - r.doubt::int = 1 AND (r.doubt OR r.status = 'sent') AS newly_twice,
			r.http, r.started_at, r.dead_at, r.took, r.outcome, r.charged, r.doubt, r.disable, r.message_id
	), tried AS (
		INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt,
			reason, code, message, message_id)
		SELECT notice_id, device_id, fence, generation, started_at, took, nullif(http, 0), outcome, charged, doubt,
			reason, code, message, nullif(message_id, '') FROM moved
	), counted AS (
		UPDATE notice_counter c SET
			sending = c.sending - m.n, sent = c.sent + m.sent, failed = c.failed + m.failed, unknown = c.unknown + m.unknown,
			pending = c.pending + m.pending, retrying = c.retrying + m.retrying, twice = c.twice + m.twice
		FROM (SELECT notice_id, scope, count(*) AS n, count(*) FILTER (WHERE newly_twice) AS twice, count(*) FILTER (WHERE status = 'sent') AS sent,
				count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'unknown') AS unknown,
				count(*) FILTER (WHERE status = 'pending' AND charged_now = 0) AS pending,
				count(*) FILTER (WHERE status = 'pending' AND charged_now > 0) AS retrying
			FROM moved GROUP BY notice_id, scope) m
		WHERE c.notice_id = m.notice_id AND c.scope = m.scope AND c.shard = @shard
`

const recordTail = `
	)
	SELECT notice_id, device_id FROM moved`

const recordEnds = `
	), reasons AS (
		INSERT INTO notice_reason AS t (notice_id, shard, status, reason, n)
		SELECT notice_id, @shard, status, reason, count(*) FROM moved
		WHERE status IN ('failed', 'unknown') GROUP BY notice_id, status, reason
		ON CONFLICT (notice_id, status, reason, shard) DO UPDATE SET n = t.n + excluded.n
	), first_call AS (
		UPDATE notice n SET first_call_at = m.started_at
		FROM (SELECT notice_id, min(started_at) AS started_at FROM moved GROUP BY notice_id) m
		WHERE n.id = m.notice_id AND n.first_call_at IS NULL
	), gone AS (
		UPDATE device v SET disabled_at = now(), disabled_reason = 'token_expired', updated_at = now()
		FROM moved m
		WHERE m.disable AND v.id = m.device_id AND v.disabled_at IS NULL AND v.erased_at IS NULL
			AND v.registered_at <= m.dead_at
			AND NOT coalesce((SELECT keep_devices FROM vendor WHERE scope = m.scope), false)
		RETURNING v.id, m.notice_id
	), told AS (
		INSERT INTO device_event (device_id, what, detail, by)
		SELECT id, 'disabled', 'token_expired', 'notice:' || notice_id FROM gone`
