package db

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tally is what a part of a list came to.
type tally struct{ created, updated, unchanged int64 }

// WriteImport brings the next rows of a list, at most limit numbers of them, into
// the devices, together with the counts. more says that there are further rows.
// The rules are PutDevices', but that a disabled device stays so unless the import
// enables, and that a row which changes nothing writes nothing.
//
// An error that is neither ErrStale nor Unavailable is about one of the rows: the
// same call with a limit of 1 finds it, and RejectRow takes it out.
func (db *DB) WriteImport(ctx context.Context, w *ImportWork, limit int64) (more bool, err error) {
	defer wrap(&err, "WriteImport(%d, from %d)", w.ID, w.WriteTo)
	from, to := w.WriteTo, min(w.WriteTo+limit, w.ReadTo)
	lock := "SELECT pg_advisory_xact_lock_shared($1)"
	var t tally
	for range putTries {
		err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lock, int64(putLock)); err != nil {
				return err
			}
			if t, err = writeRows(ctx, tx, *w, from, to); err != nil {
				return err
			}
			return w.step(ctx, tx, `write_to = @to, created = created + @created, updated = updated + @updated,
				unchanged = unchanged + @unchanged`,
				map[string]any{"to": to, "created": t.created, "updated": t.updated, "unchanged": t.unchanged})
		})
		lock = "SELECT pg_advisory_xact_lock($1)"
		switch pgCode(err) {
		case "23505", "40P01", "55P03": // somebody else's row, a deadlock, a long wait for a lock
			continue
		}
		break
	}
	if err == nil {
		w.WriteTo, w.AllNew = to, t.updated+t.unchanged == 0
	}
	return err == nil && to < w.ReadTo, err
}

// part is the condition of the rows of a part of a list that go in.
const part = `r.import_id = @import AND r.row_no > @from AND r.row_no <= @to AND NOT r.over`

// stored says whether a device is there that a row names.
const stored = `(EXISTS (SELECT 1 FROM device d WHERE d.token_hash = r.token_hash)
	OR r.installation IS NOT NULL AND EXISTS (SELECT 1 FROM device d WHERE d.installation = r.installation))`

// same says that a row changes nothing of the device d that holds its token.
const same = `d.platform = r.platform
	AND (r.person IS NULL OR d.person IS NOT DISTINCT FROM nullif(r.person, ''))
	AND (r.tags IS NULL OR d.tags = string_to_array(r.tags, '|'))
	AND (r.consent IS NULL OR d.consent = r.consent)
	AND (r.installation IS NULL OR d.installation = r.installation)
	AND (d.disabled_at IS NULL OR NOT @enable)`

func writeRows(ctx context.Context, tx pgx.Tx, w ImportWork, from, to int64) (t tally, err error) {
	args := pgx.StrictNamedArgs{"import": w.ID, "from": from, "to": to}
	if (w.AllNew || from == 0) && !w.DryRun {
		if t.created, err = allNew(ctx, tx, args); pgCode(err) != "23505" {
			return t, err
		}
	}
	changes, unchanged, err := changedRows(ctx, tx, w, args)
	if err != nil {
		return t, err
	}
	t.unchanged = unchanged
	if t.created, err = newRows(ctx, tx, w, args); err != nil {
		return t, err
	}
	if w.DryRun {
		t.updated = int64(len(changes))
		return t, nil
	}
	created, err := mergeRows(ctx, tx, changes, w)
	t.created += created
	t.updated = int64(len(changes)) - created
	return t, err
}

// allNew adds the devices of a part without asking whether they are there: the
// indexes refuse one that is, and then nothing is added. A list is new as a whole or
// hardly ever, and asking costs more than adding.
func allNew(ctx context.Context, tx pgx.Tx, args pgx.StrictNamedArgs) (n int64, err error) {
	err = pgx.BeginFunc(ctx, tx, func(save pgx.Tx) error {
		tag, err := save.Exec(ctx, insertRows+part+" ORDER BY r.row_no", args)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// insertRows adds devices; the condition of its rows follows.
const insertRows = `
	INSERT INTO device (token, token_hash, platform, person, tags, consent, installation, registered_at)
	SELECT r.token, r.token_hash, r.platform, nullif(r.person, ''), coalesce(string_to_array(r.tags, '|'), '{}'),
		coalesce(r.consent, true), r.installation, clock_timestamp()
	FROM import_row r WHERE `

// changedRows gives the rows whose device is there and changes, and how many change
// nothing.
func changedRows(ctx context.Context, tx pgx.Tx, w ImportWork, args pgx.StrictNamedArgs) (changes []DeviceInput, unchanged int64, err error) {
	args = maps.Clone(args)
	args["enable"] = w.Enable
	rows, err := tx.Query(ctx, `
		SELECT r.token, r.platform, r.person, r.tags, r.consent, r.installation, coalesce(`+same+`, false)
		FROM import_row r LEFT JOIN device d ON d.token_hash = r.token_hash
		WHERE `+part+` AND (d.id IS NOT NULL OR r.installation IS NOT NULL AND EXISTS (
			SELECT 1 FROM device i WHERE i.installation = r.installation))
		ORDER BY r.row_no`, args)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var d DeviceInput
		var tags *string
		var same bool
		if err := rows.Scan(&d.Token, &d.Platform, &d.User, &tags, &d.Consent, &d.Installation, &same); err != nil {
			return nil, 0, err
		}
		if same {
			unchanged++
			continue
		}
		if tags != nil {
			list := []string{}
			if *tags != "" {
				list = strings.Split(*tags, "|")
			}
			d.Tags = &list
		}
		changes = append(changes, d)
	}
	return changes, unchanged, rows.Err()
}

// newRows adds the devices that are not there yet and says how many; a dry run
// counts them.
func newRows(ctx context.Context, tx pgx.Tx, w ImportWork, args pgx.StrictNamedArgs) (n int64, err error) {
	if w.DryRun {
		err = tx.QueryRow(ctx, "SELECT count(*) FROM import_row r WHERE "+part+" AND NOT "+stored, args).Scan(&n)
		return n, err
	}
	tag, err := tx.Exec(ctx, insertRows+part+" AND NOT "+stored+" ORDER BY r.row_no", args)
	return tag.RowsAffected(), err
}

// mergeRows lays rows over the devices that they name, as PutDevices does, and says
// how many became new ones, since theirs went away meanwhile.
func mergeRows(ctx context.Context, tx pgx.Tx, changes []DeviceInput, w ImportWork) (created int64, err error) {
	if len(changes) == 0 {
		return 0, nil
	}
	list, err := lockDevices(ctx, tx, changes)
	if err != nil {
		return 0, err
	}
	set := newDeviceSet(list)
	for _, d := range changes {
		set.put(d)
	}
	old, fresh := set.split()
	for _, d := range old {
		d.keep = d.disabled && !w.Enable
	}
	_, err = writeDevices(ctx, tx, old, fresh, w.actor())
	return int64(len(fresh)), err
}

// RejectRow takes the next row of a list out, which the database refused with err,
// and goes on behind it.
func (db *DB) RejectRow(ctx context.Context, w *ImportWork, cause error) (err error) {
	defer wrap(&err, "RejectRow(%d, %d)", w.ID, w.WriteTo+1)
	row := w.WriteTo + 1
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE import_row SET over = true, bad = true WHERE import_id = $1 AND row_no = $2 AND NOT over`, w.ID, row)
		if err != nil {
			return err
		}
		if n := tag.RowsAffected(); n != 1 {
			return errors.New("there is no such row to reject")
		}
		r := ImportRow{Number: row, Reject: &ImportReject{Reason: ReasonRefused, Message: "the database refused the row: " + cause.Error()}}
		if err := addRejects(ctx, tx, w.ID, []ImportRow{r}); err != nil {
			return err
		}
		return w.step(ctx, tx, "write_to = @to, rejected = rejected + 1", map[string]any{"to": row})
	})
	if err == nil {
		w.WriteTo = row
	}
	return err
}
