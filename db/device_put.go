package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// putTries is how often PutDevices tries at most. The second try has no other
// PutDevices beside it, so only a deadlock with another kind of writer asks for
// a third.
const putTries = 4

// putLock is the advisory lock of PutDevices: first tries share it, a further
// one has it alone.
const putLock = 0x626f6e67_70757401

// PutDevices stores what is said of a list of devices, all or nothing, and gives
// one device for each input, in order. A list counts as its inputs one after
// another: of two about the same device the later wins, and both give that one.
// A device that was disabled is enabled again.
//
// It is an *InvalidError that names the fields, such as devices[3].token. Two
// calls about the same devices at the same time end as if one had come after the
// other.
func (db *DB) PutDevices(ctx context.Context, in []DeviceInput, a Actor) (list []Device, err error) {
	defer wrap(&err, "PutDevices(%d)", len(in))
	in, err = checkDevices(in)
	if err != nil || len(in) == 0 {
		return []Device{}, err
	}
	ctx, cancel := db.bound(ctx)
	defer cancel()
	lock := "SELECT pg_advisory_xact_lock_shared($1)"
	for range putTries {
		err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lock, int64(putLock)); err != nil {
				return err
			}
			list, err = putDevices(ctx, tx, in, a)
			return err
		})
		lock = "SELECT pg_advisory_xact_lock($1)"
		switch pgCode(err) {
		case "23505", "40P01", "55P03": // somebody else's row, a deadlock, a long wait for a lock
			continue
		}
		break
	}
	return list, err
}

func putDevices(ctx context.Context, tx pgx.Tx, in []DeviceInput, a Actor) ([]Device, error) {
	stored, err := lockDevices(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	set := newDeviceSet(stored)
	named := make([]*deviceState, len(in))
	var bad []FieldError
	for i, d := range in {
		state, faults := set.put(d)
		named[i], bad = state, append(bad, faultsOf(i, faults)...)
	}
	if bad != nil {
		return nil, invalidIf(bad)
	}
	old, fresh := set.split()
	written, err := writeDevices(ctx, tx, old, fresh, a)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]Device, len(written))
	for _, r := range written {
		byID[r.ID] = r.masked()
	}
	list := make([]Device, len(in))
	for i, d := range named {
		list[i] = byID[d.id]
	}
	object := "devices"
	if len(in) == 1 {
		object = deviceObject(list[0].ID)
	}
	return list, addAudit(ctx, tx, a, "device.put", object, map[string]any{"inputs": len(in), "new": len(fresh)})
}

// lockDevices gives the stored devices that the inputs name by token or by
// installation, and locks them in the order of their ids.
func lockDevices(ctx context.Context, tx pgx.Tx, in []DeviceInput) ([]*deviceState, error) {
	hashes := make([][]byte, len(in))
	var installations []string
	for i, d := range in {
		h := tokenHash(d.Token)
		hashes[i] = h[:]
		if d.Installation != nil {
			installations = append(installations, *d.Installation)
		}
	}
	rows, err := allRows[deviceRow](tx.Query(ctx, "SELECT "+deviceColumns+`
		FROM device d
		WHERE d.id = ANY (ARRAY(
			SELECT id FROM device WHERE token_hash = ANY ($1)
			UNION ALL
			SELECT id FROM device WHERE installation = ANY ($2)))
		ORDER BY d.id FOR UPDATE`, hashes, installations))
	if err != nil {
		return nil, err
	}
	stored := make([]*deviceState, len(rows))
	for i, r := range rows {
		stored[i] = &deviceState{id: r.ID, token: r.Token, place: place{r.Kind, r.Environment, r.P256dh, r.Auth},
			platform: r.Platform, person: r.Person, tags: r.Tags, consent: r.Consent, installation: r.Installation,
			disabled: r.DisabledAt != nil && *r.DisabledReason != "replaced", off: r.DisabledAt != nil}
		if r.Token != nil {
			stored[i].hash = tokenHash(*r.Token)
		}
		was := *stored[i]
		stored[i].was = &was
	}
	return stored, nil
}

// writeDevices stores the changed and the new devices, with what changed of the
// former, and gives their rows. It sets the id of each new one.
func writeDevices(ctx context.Context, tx pgx.Tx, old, fresh []*deviceState, by Actor) ([]deviceRow, error) {
	if err := detachDevices(ctx, tx, old); err != nil {
		return nil, err
	}
	if err := numberDevices(ctx, tx, fresh); err != nil {
		return nil, err
	}
	// By token, so that two writers cannot wait for each other.
	slices.SortFunc(fresh, func(a, b *deviceState) int { return slices.Compare(a.hash[:], b.hash[:]) })
	changed, err := writeList(ctx, tx, updateDevices, old)
	if err != nil {
		return nil, err
	}
	if err := addEvents(ctx, tx, changesOf(old), by); err != nil {
		return nil, err
	}
	added, err := writeList(ctx, tx, insertDevices, fresh)
	return append(changed, added...), err
}

func writeList(ctx context.Context, tx pgx.Tx, sql string, list []*deviceState) ([]deviceRow, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return allRows[deviceRow](tx.Query(ctx, sql, deviceArrays(list)))
}

// detachDevices clears the tokens and installations that devices let go, so that
// the update that follows may hand them round in any order.
func detachDevices(ctx context.Context, tx pgx.Tx, old []*deviceState) error {
	var ids []int64
	for _, d := range old {
		if d.detach {
			ids = append(ids, d.id)
		}
	}
	if ids == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE device SET token = NULL, token_hash = NULL, p256dh = NULL, auth = NULL, installation = NULL,
			disabled_at = coalesce(disabled_at, now()), disabled_reason = coalesce(disabled_reason, 'replaced')
		WHERE id = ANY ($1)`, ids)
	return err
}

// numberDevices gives each new device its id.
func numberDevices(ctx context.Context, tx pgx.Tx, fresh []*deviceState) error {
	rows, err := tx.Query(ctx, `
		SELECT nextval(pg_get_serial_sequence('device', 'id')) FROM generate_series(1, $1)`, len(fresh))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for i, id := range ids {
		fresh[i].id = id
	}
	return err
}

// deviceInputs is a list of devices as a table. Times are the clock's and not
// the transaction's: a vendor's "gone" that answers a call from before this
// moment must not count.
const deviceInputs = `
	SELECT id, token, token_hash, kind, environment, p256dh, auth, platform, person, string_to_array(tags, '|') AS tags,
		consent, installation, named, keep,
		CASE WHEN replaced THEN clock_timestamp() END AS disabled_at,
		CASE WHEN replaced THEN 'replaced' END AS disabled_reason
	FROM unnest(@ids::bigint[], @tokens::text[], @hashes::bytea[], @kinds::text[], @environments::text[], @p256dhs::text[],
		@auths::text[], @platforms::text[], @persons::text[], @tags::text[], @consents::boolean[], @installations::text[],
		@named::boolean[], @replaced::boolean[], @keep::boolean[])
		AS x (id, token, token_hash, kind, environment, p256dh, auth, platform, person, tags, consent, installation, named,
			replaced, keep)`

const updateDevices = `
	UPDATE device d SET token = n.token, token_hash = n.token_hash, kind = n.kind, environment = n.environment,
		p256dh = n.p256dh, auth = n.auth, platform = n.platform, person = n.person, tags = n.tags, consent = n.consent,
		installation = n.installation, disabled_at = CASE WHEN n.keep THEN d.disabled_at ELSE n.disabled_at END,
		disabled_reason = CASE WHEN n.keep THEN d.disabled_reason ELSE n.disabled_reason END, updated_at = clock_timestamp(),
		registered_at = CASE WHEN n.named THEN clock_timestamp() ELSE d.registered_at END
	FROM (` + deviceInputs + `) n WHERE d.id = n.id
	RETURNING ` + deviceColumns

const insertDevices = `
	INSERT INTO device AS d (id, token, token_hash, kind, environment, p256dh, auth, platform, person, tags, consent,
		installation, disabled_at, disabled_reason, registered_at)
	OVERRIDING SYSTEM VALUE
	SELECT id, token, token_hash, kind, environment, p256dh, auth, platform, person, tags, consent, installation,
		disabled_at, disabled_reason, clock_timestamp()
	FROM (` + deviceInputs + `) n
	RETURNING ` + deviceColumns

func deviceArrays(list []*deviceState) pgx.StrictNamedArgs {
	n := len(list)
	ids, tokens, hashes := make([]int64, n), make([]*string, n), make([][]byte, n)
	kinds, environments := make([]string, n), make([]*string, n)
	p256dhs, auths := make([]*string, n), make([]*string, n)
	platforms, persons, tags := make([]string, n), make([]*string, n), make([]string, n)
	consents, installations := make([]bool, n), make([]*string, n)
	named, replaced, keep := make([]bool, n), make([]bool, n), make([]bool, n)
	for i, d := range list {
		ids[i], tokens[i], platforms[i], persons[i] = d.id, d.token, d.platform, d.person
		if d.token != nil {
			hashes[i] = d.hash[:]
		}
		kinds[i], environments[i], p256dhs[i], auths[i] = d.kind, d.environment, d.p256dh, d.auth
		tags[i], consents[i], installations[i] = strings.Join(d.tags, "|"), d.consent, d.installation
		named[i], replaced[i], keep[i] = d.named, d.replaced, d.keep
	}
	return pgx.StrictNamedArgs{"ids": ids, "tokens": tokens, "hashes": hashes, "kinds": kinds,
		"environments": environments, "p256dhs": p256dhs, "auths": auths, "platforms": platforms, "persons": persons, "tags": tags, "consents": consents, "installations": installations,
		"named": named, "replaced": replaced, "keep": keep}
}
