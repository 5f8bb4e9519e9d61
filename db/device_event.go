package db

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// What can change of a device that is there; a CHECK of the table holds the same.
const (
	EventGiven     = "consent_given"
	EventWithdrawn = "consent_withdrawn"
	EventDisabled  = "disabled" // its detail is the reason
	EventEnabled   = "enabled"
	EventToken     = "token"  // it has another token
	EventVendor    = "vendor" // it is at another vendor; its detail is the one before
	EventKeys      = "keys"   // the browser has other keys at the same endpoint
	EventUser      = "user"   // it belongs to somebody else, or to nobody
	EventPlatform  = "platform"
	EventTags      = "tags"
	EventErased    = "erased"
)

// DeviceEvent is one change of a device. It tells neither addresses, keys nor people.
type DeviceEvent struct {
	ID     int64
	At     time.Time
	What   string  // one of the Event constants
	Detail *string // disabled: the reason; platform and vendor: the one before
	By     string  // user:3, token:7, command, import:5, or notice:12 for the vendor's answer to it
	ByName *string
}

// DeviceEvents lists what changed of a device, the newest first. A device that
// does not exist has none.
func (db *DB) DeviceEvents(ctx context.Context, device int64, after string, limit int) (_ Page[DeviceEvent], err error) {
	defer wrap(&err, "DeviceEvents(%d)", device)
	var none Page[DeviceEvent]
	below, err := keysetDown(after, limit)
	if err != nil {
		return none, err
	}
	var rows []DeviceEvent
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[DeviceEvent](q.Query(ctx, `
			SELECT id, at, what, detail, by, by_name FROM device_event
			WHERE device_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, device, below, limit+1))
		return err
	})
	if err != nil {
		return none, err
	}
	return page(rows, limit, func(e DeviceEvent) cursor { return cursor{e.ID} }), nil
}

// deviceChange is an event that is to be written.
type deviceChange struct {
	device int64
	what   string
	detail string // "": none
}

// changesOf says what inputs changed of stored devices.
func changesOf(old []*deviceState) (list []deviceChange) {
	for _, d := range old {
		was := d.was
		add := func(differs bool, what, detail string) {
			if differs {
				list = append(list, deviceChange{d.id, what, detail})
			}
		}
		add(d.token != nil && (was.token == nil || was.hash != d.hash), EventToken, "")
		add(d.vendor() != was.vendor(), EventVendor, was.vendor())
		add(d.newKeys(), EventKeys, "")
		add(textOr(d.person) != textOr(was.person), EventUser, "")
		add(d.platform != was.platform, EventPlatform, was.platform)
		add(!slices.Equal(d.tags, was.tags), EventTags, "")
		add(d.consent && !was.consent, EventGiven, "")
		add(!d.consent && was.consent, EventWithdrawn, "")
		add(d.replaced && !d.keep, EventDisabled, "replaced")
		add(was.off && !d.replaced && !d.keep, EventEnabled, "")
	}
	return list
}

// newKeys says whether d has other keys at the endpoint that it had.
func (d *deviceState) newKeys() bool {
	was := d.was
	return d.token != nil && was.token != nil && d.hash == was.hash && d.kind == was.kind &&
		(textOr(d.p256dh) != textOr(was.p256dh) || textOr(d.auth) != textOr(was.auth))
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// addEvents writes what changed of devices, in the transaction of the change.
func addEvents(ctx context.Context, q querier, list []deviceChange, by Actor) error {
	if len(list) == 0 {
		return nil
	}
	ids, whats, details := make([]int64, len(list)), make([]string, len(list)), make([]string, len(list))
	for i, c := range list {
		ids[i], whats[i], details[i] = c.device, c.what, c.detail
	}
	_, err := q.Exec(ctx, `
		INSERT INTO device_event (device_id, what, detail, by, by_name)
		SELECT id, what, nullif(detail, ''), @by, nullif(@name, '')
		FROM unnest(@ids::bigint[], @whats::text[], @details::text[]) AS x (id, what, detail)`,
		pgx.StrictNamedArgs{"ids": ids, "whats": whats, "details": details, "by": by.ID, "name": by.Name})
	return err
}

// forgetEvents removes what a device's history tells of a person: that the device
// changed hands, addresses or groups. Consent and state stay, since they say why
// notices did not arrive.
func forgetEvents(ctx context.Context, q querier, device int64) error {
	_, err := q.Exec(ctx, `DELETE FROM device_event WHERE device_id = $1 AND what IN ('token', 'vendor', 'keys', 'user', 'tags')`, device)
	return err
}
