package db

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Device is an address at a vendor, with consent. The address itself does not
// leave this package but in a claim.
type Device struct {
	ID             int64
	Kind           string  // the vendor it belongs to: http, fcm, apns or webpush
	Environment    *string // apns: production or sandbox
	Scope          string  // the share of the vendor, such as fcm:android, apns:sandbox or webpush:push.example.com
	Platform       string  // android, ios or web
	TokenMasked    string  `db:"-"` // "" once erased, or taken over by another device
	Person         *string
	Tags           []string // sorted, each once
	Consent        bool
	Installation   *string
	DisabledAt     *time.Time
	DisabledReason *string // token_expired, replaced or admin
	ErasedAt       *time.Time
	RegisteredAt   time.Time // the last PUT
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// deviceColumns are those of deviceRow, for a query whose device is named d.
const deviceColumns = `d.id, d.kind, d.environment, d.scope, d.platform, d.person, d.tags, d.consent, d.installation, d.disabled_at,
	d.disabled_reason, d.erased_at, d.registered_at, d.created_at, d.updated_at, d.token, d.p256dh, d.auth`

type deviceRow struct {
	Device
	Token  *string
	P256dh *string
	Auth   *string
}

// masked gives the row without its token and keys.
func (r deviceRow) masked() Device {
	d := r.Device
	if r.Token != nil {
		d.TokenMasked = maskToken(*r.Token)
	}
	return d
}

func maskedAll(rows []deviceRow) []Device {
	list := make([]Device, len(rows))
	for i, r := range rows {
		list[i] = r.masked()
	}
	return list
}

// maskToken shows the two ends of a token: at most four characters of each, and
// together never more than a third of it.
func maskToken(t string) string {
	show := min(4, utf8.RuneCountInString(t)/6)
	runes := []rune(t)
	return string(runes[:show]) + "…" + string(runes[len(runes)-show:])
}

func tokenHash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Device gives a device by number, also an erased one, or ErrNotFound.
func (db *DB) Device(ctx context.Context, id int64) (_ Device, err error) {
	defer wrap(&err, "Device(%d)", id)
	return db.deviceWhere(ctx, "d.id = $1", id)
}

// DeviceByToken gives the device that holds this token now, or ErrNotFound.
func (db *DB) DeviceByToken(ctx context.Context, token string) (_ Device, err error) {
	defer wrap(&err, "DeviceByToken")
	hash := tokenHash(token)
	return db.deviceWhere(ctx, "d.token_hash = $1", hash[:])
}

func (db *DB) deviceWhere(ctx context.Context, cond string, arg any) (d Device, err error) {
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		r, err := oneRow[deviceRow](q.Query(ctx, "SELECT "+deviceColumns+" FROM device d WHERE "+cond, arg))
		d = r.masked()
		return err
	})
	return d, err
}

// DevicesByID gives those of ids that there are, also erased ones, by number.
func (db *DB) DevicesByID(ctx context.Context, ids []int64) (_ []Device, err error) {
	defer wrap(&err, "DevicesByID(%d)", len(ids))
	var rows []deviceRow
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[deviceRow](q.Query(ctx, "SELECT "+deviceColumns+" FROM device d WHERE d.id = ANY ($1) ORDER BY d.id", ids))
		return err
	})
	return maskedAll(rows), err
}

// DevicesByUser lists a person's devices, the newest first, also those that are
// disabled. A person nobody knows has none.
func (db *DB) DevicesByUser(ctx context.Context, user, after string, limit int) (_ Page[Device], err error) {
	defer wrap(&err, "DevicesByUser")
	var none Page[Device]
	below, err := keysetDown(after, limit)
	if err != nil {
		return none, err
	}
	if user = normal(user); !plain(user) {
		return none, Invalid("user", "holds a control character or is not valid UTF-8")
	}
	var rows []deviceRow
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[deviceRow](q.Query(ctx, "SELECT "+deviceColumns+`
			FROM device d WHERE d.person = $1 AND d.id < $2
			ORDER BY d.id DESC LIMIT $3`, user, below, limit+1))
		return err
	})
	if err != nil {
		return none, err
	}
	return page(maskedAll(rows), limit, func(d Device) cursor { return cursor{d.ID} }), nil
}

// EraseDevice forgets the address, the person, the installation and the tags of
// a device, and that these ever changed. What was delivered stays counted, and
// what still waits for it is skipped. Doing it again changes nothing more. It is ErrNotFound where there is
// no such device.
func (db *DB) EraseDevice(ctx context.Context, id int64, a Actor) (err error) {
	defer wrap(&err, "EraseDevice(%d)", id)
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var erased, consent bool
		err := tx.QueryRow(ctx, "SELECT erased_at IS NOT NULL, consent FROM device WHERE id = $1 FOR UPDATE", id).Scan(&erased, &consent)
		if err != nil || erased {
			return orNotFound(err)
		}
		_, err = tx.Exec(ctx, `
			UPDATE device SET token = NULL, token_hash = NULL, p256dh = NULL, auth = NULL, person = NULL, installation = NULL, tags = '{}',
				consent = false, erased_at = now(), updated_at = now()
			WHERE id = $1 AND erased_at IS NULL`, id)
		if err != nil {
			return err
		}
		if err := forgetEvents(ctx, tx, id); err != nil {
			return err
		}
		var events []deviceChange
		if consent {
			events = append(events, deviceChange{device: id, what: EventWithdrawn})
		}
		if err := addEvents(ctx, tx, append(events, deviceChange{device: id, what: EventErased}), a); err != nil {
			return err
		}
		return addAudit(ctx, tx, a, "device.erase", deviceObject(id), nil)
	})
}

func deviceObject(id int64) string { return fmt.Sprintf("device:%d", id) }
