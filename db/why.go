package db

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// WhyCase is an answer to "why did this device not get that notice".
type WhyCase string

// The cases. Up to WhyUnknown there is a delivery; of the others one holds where
// there is none.
const (
	WhySent         WhyCase = "sent"          // the vendor took it: At
	WhyWaiting      WhyCase = "waiting"       // for its first call
	WhyRetry        WhyCase = "retry"         // for its next call, due At
	WhyPaused       WhyCase = "paused"        // By paused the notice: At
	WhyVendorPaused WhyCase = "vendor_paused" // the vendor is not called now
	WhySending      WhyCase = "sending"       // it is being called since At
	WhyFailed       WhyCase = "failed"        // At, with Reason
	WhySkipped      WhyCase = "skipped"       // At, with Reason, which has held since Since
	WhyUnknown      WhyCase = "unknown"       // nobody knows how the call of At ended

	WhyNoNotice     WhyCase = "no_notice"
	WhyNoDevice     WhyCase = "no_device"
	WhyLater        WhyCase = "later"          // it came At, after the notice
	WhyToCome       WhyCase = "to_come"        // the fan-out has not come to it yet
	WhyToComePaused WhyCase = "to_come_paused" // and By paused the notice: At
	WhyCancelling   WhyCase = "cancelling"     // By cancelled the notice At; its end is being written
	WhyExpiring     WhyCase = "expiring"       // the notice expired At; its end is being written
	WhyErased       WhyCase = "erased"         // it was erased At, before its turn
	WhyPlatform     WhyCase = "platform"       // it was on Platform
	WhyTags         WhyCase = "tags"           // it has none of the notice's tags
	WhyDisabled     WhyCase = "disabled"       // since Since, with Reason, until Until
	WhyNoConsent    WhyCase = "no_consent"     // since Since, until Until
	WhyTagsChanged  WhyCase = "tags_changed"   // its tags were changed At; those before are not kept
	WhyErasedSince  WhyCase = "erased_since"   // it was erased At, after its turn; what it was is not kept
	WhyNotThen      WhyCase = "not_then"       // it is in the audience now and was not then
)

// WhyCases are all cases.
var WhyCases = []WhyCase{WhySent, WhyWaiting, WhyRetry, WhyPaused, WhyVendorPaused, WhySending, WhyFailed, WhySkipped,
	WhyUnknown, WhyNoNotice, WhyNoDevice, WhyLater, WhyToCome, WhyToComePaused, WhyCancelling, WhyExpiring, WhyErased,
	WhyPlatform, WhyTags, WhyDisabled, WhyNoConsent, WhyTagsChanged, WhyErasedSince, WhyNotThen}

// Why is the answer for one device and one notice. What is beside the case says
// there what it is; the rest is empty.
type Why struct {
	Case        WhyCase
	NoticeID    int64
	DeviceID    int64
	NoticeTitle string
	AcceptedAt  time.Time // of the notice
	Platforms   []string  // the notice's
	Tags        []string  // the notice's
	Platform    string    // the device's, when its turn came
	At          *time.Time
	Since       *time.Time // nil: not on record
	Until       *time.Time // nil: it still holds
	Reason      *string
	Code        *string // the vendor's
	Message     *string // the vendor's words
	By          *string
}

// whyEvents is how much of a device's history an answer looks at.
const whyEvents = 200

type whyNotice struct {
	ID          int64
	Title       string
	State       string
	StateAt     time.Time
	StateByName *string
	Platforms   []string
	Tags        []string
	AcceptedAt  time.Time
	StartedAt   *time.Time
	ExpiresAt   time.Time
	Expired     bool
	AudienceMax int64
	CutTo       int64
	CutAt       *time.Time
	SettledAt   *time.Time
	Now         time.Time
}

type whyDevice struct {
	ID             int64
	Platform       string
	Tags           []string
	Consent        bool
	DisabledAt     *time.Time
	DisabledReason *string
	ErasedAt       *time.Time
	CreatedAt      time.Time
	VendorState    string
	Status         *string // nil: there is no delivery
	Reason         *string
	Code           *string
	Message        *string
	Charged        *int
	WakeAt         *time.Time
	SentAt         *time.Time
	FailedAt       *time.Time
	UpdatedAt      *time.Time
	InRange        bool
	FilledAt       *time.Time // of its range
	DoneAt         *time.Time
}

type whyEvent struct {
	DeviceID int64
	At       time.Time
	What     string
	Detail   *string
}

// Why says what became of a notice on its way to each of the devices, in their
// order, also where nothing is in the ledger.
func (db *DB) Why(ctx context.Context, notice int64, devices []int64) (list []Why, err error) {
	defer wrap(&err, "Why(%d, %d devices)", notice, len(devices))
	ctx, cancel := db.bound(ctx)
	defer cancel()
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		list, err = why(ctx, tx, notice, devices)
		return err
	})
	return list, db.noticed(err)
}

func why(ctx context.Context, q querier, notice int64, devices []int64) ([]Why, error) {
	n, err := oneRow[whyNotice](q.Query(ctx, `
		SELECT id, title, state, state_at, state_by_name, platforms, tags, accepted_at, started_at, expires_at,
			expires_at <= now() AS expired, audience_max, cut_to, cut_at, settled_at, now() AS now
		FROM notice WHERE id = $1`, notice))
	none := errors.Is(err, ErrNotFound)
	if err != nil && !none {
		return nil, err
	}
	rows, err := allRows[whyDevice](q.Query(ctx, whyDevicesSQL, notice, devices))
	if err != nil {
		return nil, err
	}
	events, err := allRows[whyEvent](q.Query(ctx, `
		SELECT e.device_id, e.at, e.what, e.detail
		FROM unnest($1::bigint[]) AS x (id), LATERAL (SELECT * FROM device_event e WHERE e.device_id = x.id ORDER BY e.id DESC LIMIT $2) e
		ORDER BY e.device_id, e.id DESC`, devices, whyEvents))
	if err != nil {
		return nil, err
	}
	list := make([]Why, len(devices))
	for i, id := range devices {
		at := slices.IndexFunc(rows, func(d whyDevice) bool { return d.ID == id })
		switch {
		case at < 0:
			list[i] = Why{Case: WhyNoDevice, NoticeID: notice, DeviceID: id, NoticeTitle: n.Title}
		case none:
			list[i] = Why{Case: WhyNoNotice, NoticeID: notice, DeviceID: id}
		default:
			list[i] = decide(n, rows[at], slices.DeleteFunc(slices.Clone(events), func(e whyEvent) bool { return e.DeviceID != id }))
		}
	}
	return list, nil
}

// whyDevicesSQL reads devices with their delivery, or else with the range of the
// notice that they lie in.
const whyDevicesSQL = `
	SELECT v.id, v.platform, v.tags, v.consent, v.disabled_at, v.disabled_reason, v.erased_at, v.created_at, coalesce(x.state, 'ok') AS vendor_state,
		d.status, d.reason, d.code, d.message, d.charged, d.wake_at, d.sent_at, d.failed_at, d.updated_at,
		coalesce(r.last_id >= v.id, false) AS in_range,
		CASE WHEN r.last_id >= v.id THEN r.filled_at END AS filled_at, CASE WHEN r.last_id >= v.id THEN r.done_at END AS done_at
	FROM device v
	LEFT JOIN delivery d ON d.notice_id = $1 AND d.device_id = v.id
	LEFT JOIN vendor x ON x.scope = coalesce(d.scope, v.scope)
	LEFT JOIN LATERAL (SELECT last_id, filled_at, done_at FROM notice_range r
		WHERE d.status IS NULL AND r.notice_id = $1 AND r.scope = v.scope AND r.first_id <= v.id ORDER BY r.seq DESC LIMIT 1) r ON true
	WHERE v.id = ANY ($2)`
