package db

import (
	"context"
	"errors"
	"maps"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// stagedColumns are those of a stagedRow, for a query whose row is named r.
const stagedColumns = `r.row_no, r.token, r.vendor, r.environment, r.p256dh, r.auth, r.platform, r.person AS "user",
	string_to_array(r.tags, '|') AS tags, r.consent, r.installation`

// stagedRow is a row of a list as it was staged.
type stagedRow struct {
	RowNo int64
	DeviceInput
	Same bool // it changes nothing
}

// changedRows gives the rows whose device is there and changes, and how many change
// nothing.
func changedRows(ctx context.Context, tx pgx.Tx, w ImportWork, args pgx.StrictNamedArgs) (changes []stagedRow, unchanged int64, err error) {
	args = maps.Clone(args)
	args["enable"] = w.Enable
	rows, err := tx.Query(ctx, `
		SELECT `+stagedColumns+`, coalesce(`+same+`, false) AS same
		FROM import_row r LEFT JOIN device d ON d.token_hash = r.token_hash
		WHERE `+part+` AND (d.id IS NOT NULL OR r.installation IS NOT NULL AND EXISTS (
			SELECT 1 FROM device i WHERE i.installation = r.installation))
		ORDER BY r.row_no`, args)
	all, err := allRows[stagedRow](rows, err)
	for _, r := range all {
		if r.Same {
			unchanged++
			continue
		}
		changes = append(changes, r)
	}
	return changes, unchanged, err
}

// mergeRows lays rows over the devices that they name, as PutDevices does, and says
// how many became new ones, since theirs went away meanwhile, and which do not go
// with their device. A dry run finds the latter and writes nothing.
func mergeRows(ctx context.Context, tx pgx.Tx, changes []stagedRow, w ImportWork) (created int64, rejects []ImportRow, err error) {
	if len(changes) == 0 {
		return 0, nil, nil
	}
	inputs := make([]DeviceInput, len(changes))
	for i, r := range changes {
		inputs[i] = r.DeviceInput
	}
	list, err := lockDevices(ctx, tx, inputs)
	if err != nil {
		return 0, nil, err
	}
	set := newDeviceSet(list)
	for i, d := range inputs {
		if _, faults := set.put(d); faults != nil {
			rejects = append(rejects, ImportRow{Number: changes[i].RowNo, Input: d, Reject: d.reject(faults, showMerged)})
		}
	}
	if w.DryRun {
		return 0, rejects, nil
	}
	old, fresh := set.split()
	for _, d := range old {
		d.keep = d.disabled && !w.Enable
	}
	_, err = writeDevices(ctx, tx, old, fresh, w.actor())
	return int64(len(fresh)), rejects, err
}

// showMerged gives a cell of a row that went as far as its device: its parts have
// been checked, and only the token must not be told.
func showMerged(column, value string) string {
	if column == "token" {
		return maskToken(value)
	}
	return value
}

// rejectRows takes rows out of a list that were good by themselves, with the cells
// that are read, to be mended.
func rejectRows(ctx context.Context, tx pgx.Tx, w ImportWork, rejects []ImportRow) error {
	if len(rejects) == 0 {
		return nil
	}
	var columns []string
	if err := tx.QueryRow(ctx, "SELECT columns FROM import WHERE id = $1", w.ID).Scan(&columns); err != nil {
		return err
	}
	numbers := make([]int64, len(rejects))
	for i := range rejects {
		numbers[i] = rejects[i].Number
		rejects[i].Cells = make([]string, len(columns))
		for c, name := range columns {
			rejects[i].Cells[c] = rejects[i].Input.cell(columnName(name))
		}
	}
	if _, err := tx.Exec(ctx, `
		UPDATE import_row SET over = true, bad = true WHERE import_id = $1 AND row_no = ANY ($2)`, w.ID, numbers); err != nil {
		return err
	}
	return addRejects(ctx, tx, w.ID, rejects, true)
}

// columnName gives the name of a list's column as it is compared by.
func columnName(cell string) string {
	return strings.ToLower(strings.TrimFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }))
}

// RejectRow takes the next row of a list out, which the database refused with err,
// and goes on behind it.
func (db *DB) RejectRow(ctx context.Context, w *ImportWork, cause error) (err error) {
	defer wrap(&err, "RejectRow(%d, %d)", w.ID, w.WriteTo+1)
	row := w.WriteTo + 1
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := oneRow[stagedRow](tx.Query(ctx, `
			SELECT `+stagedColumns+`, false AS same FROM import_row r
			WHERE r.import_id = $1 AND r.row_no = $2 AND NOT r.over FOR UPDATE`, w.ID, row))
		if errors.Is(err, ErrNotFound) {
			return errors.New("there is no such row to reject")
		}
		if err != nil {
			return err
		}
		r := ImportRow{Number: row, Input: found.DeviceInput,
			Reject: &ImportReject{Reason: ReasonRefused, Message: "the database refused the row: " + cause.Error()}}
		if err := rejectRows(ctx, tx, *w, []ImportRow{r}); err != nil {
			return err
		}
		return w.step(ctx, tx, "write_to = @to, rejected = rejected + 1", map[string]any{"to": row})
	})
	if err == nil {
		w.WriteTo = row
	}
	return err
}
