package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// tally is what a part of a list came to.
type tally struct{ created, updated, unchanged, rejected int64 }

// WriteImport brings the next rows of a list, at most limit numbers of them, into
// the devices, together with the counts. more says that there are further rows.
// The rules are PutDevices', but that a disabled device stays so unless the import
// enables, that a row which changes nothing writes nothing, and that one whose
// address does not go with its device is rejected.
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
				unchanged = unchanged + @unchanged, rejected = rejected + @rejected`,
				map[string]any{"to": to, "created": t.created, "updated": t.updated, "unchanged": t.unchanged, "rejected": t.rejected})
		})
		lock = "SELECT pg_advisory_xact_lock($1)"
		switch pgCode(err) {
		case "23505", "40P01", "55P03": // somebody else's row, a deadlock, a long wait for a lock
			continue
		}
		break
	}
	if err == nil {
		w.WriteTo, w.AllNew = to, t.updated+t.unchanged+t.rejected == 0
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
	AND (r.vendor IS NULL OR d.kind = r.vendor AND d.environment IS NOT DISTINCT FROM r.environment
		AND d.p256dh IS NOT DISTINCT FROM r.p256dh AND d.auth IS NOT DISTINCT FROM r.auth)
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
	created, rejects, err := mergeRows(ctx, tx, changes, w)
	if err != nil {
		return t, err
	}
	t.created, t.rejected = t.created+created, int64(len(rejects))
	t.updated = int64(len(changes)) - created - t.rejected
	return t, rejectRows(ctx, tx, w, rejects)
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
	INSERT INTO device (token, token_hash, kind, environment, p256dh, auth, platform, person, tags, consent, installation,
		registered_at)
	SELECT r.token, r.token_hash, coalesce(r.vendor, 'http'), r.environment, r.p256dh, r.auth, r.platform,
		nullif(r.person, ''), coalesce(string_to_array(r.tags, '|'), '{}'), coalesce(r.consent, true), r.installation,
		clock_timestamp()
	FROM import_row r WHERE `

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
