package db

import (
	"context"
	"fmt"
	"time"
)

// ImportOptions say what to do with a list. They are part of an import's key.
type ImportOptions struct {
	DryRun   bool  // count only
	Enable   bool  // enable again devices that are disabled
	FullList bool  // disable, once confirmed, the devices that the list does not name
	AgainOf  int64 // the import that is repeated on purpose; 0: none
}

// Import is a device list on its way into the ledger. Total counts the rows read
// so far, and all of them once TotalKnown. Created + updated + unchanged +
// rejected + doubled is what is done of them.
type Import struct {
	ID             int64
	FileName       string
	FileSize       int64
	DryRun         bool
	Enable         bool
	FullList       bool
	AgainOf        *int64
	AcceptedBy     string
	AcceptedByName string
	AcceptedAt     time.Time

	State       string // pending, running, done, failed or cancelled
	Phase       string // while it runs: reading, matching, writing, counting, confirm or disabling
	Version     int64
	StartedAt   *time.Time
	FinishedAt  *time.Time
	ProgressAt  time.Time
	EndedByName *string // who cancelled it

	Columns         []string // of the list, as found
	Ignored         []string // those that mean nothing
	BytesRead       int64
	Total           int64
	TotalKnown      bool
	Created         int64
	Updated         int64
	Unchanged       int64
	Rejected        int64
	Doubled         int64 // overtaken by a later row about the same device
	Missing         int64 // enabled devices that a full list does not name
	Enabled         int64 // enabled devices when those were counted
	Disabled        int64
	ConfirmedByName *string
	ErrorCode       *string
	ErrorMessage    *string
	Now             time.Time // of the database
}

// States of an import.
const (
	ImportPending   = "pending"
	ImportRunning   = "running"
	ImportDone      = "done"
	ImportFailed    = "failed"
	ImportCancelled = "cancelled"
)

// MissingShare is the share of the enabled devices above which disabling the
// missing ones wants a second word.
const MissingShare = 0.2

// Processed is how many rows have come to their end.
func (i Import) Processed() int64 {
	return i.Created + i.Updated + i.Unchanged + i.Rejected + i.Doubled
}

// Ended says whether nothing more happens to it.
func (i Import) Ended() bool { return i.State != ImportPending && i.State != ImportRunning }

// ManyMissing says whether disabling the missing devices wants a second word.
func (i Import) ManyMissing() bool {
	return float64(i.Missing) > MissingShare*float64(i.Enabled)
}

const importColumns = `id, file_name, file_size, dry_run, enable, full_list, again_of, accepted_by, accepted_by_name, accepted_at,
	state, phase, version, started_at, finished_at, progress_at, ended_by_name, columns, ignored, bytes_read, total, total_known,
	created, updated, unchanged, rejected, doubled, missing, enabled, disabled, confirmed_by_name, error_code, error_message,
	now() AS now`

func importRow(ctx context.Context, q querier, id int64) (Import, error) {
	return oneRow[Import](q.Query(ctx, "SELECT "+importColumns+" FROM import WHERE id = $1", id))
}

// Import gives an import by number, or ErrNotFound.
func (db *DB) Import(ctx context.Context, id int64) (i Import, err error) {
	defer wrap(&err, "Import(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		i, err = importRow(ctx, q, id)
		return err
	})
	return i, err
}

// ImportFilter narrows a list of imports; what is empty does not.
type ImportFilter struct {
	By    string // user:3 or token:7
	State string
}

// Imports lists imports, the newest first.
func (db *DB) Imports(ctx context.Context, f ImportFilter, cursorText string, limit int) (p Page[Import], err error) {
	defer wrap(&err, "Imports(%+v)", f)
	below, err := keysetDown(cursorText, limit)
	if err != nil {
		return p, err
	}
	var rows []Import
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[Import](q.Query(ctx, "SELECT "+importColumns+` FROM import
			WHERE id < $1 AND ($2 = '' OR accepted_by = $2) AND ($3 = '' OR state = $3)
			ORDER BY id DESC LIMIT $4`, below, f.By, f.State, limit+1))
		return err
	})
	if err != nil {
		return p, err
	}
	return page(rows, limit, func(i Import) cursor { return cursor{i.ID} }), nil
}

// ImportReason is how many rows were rejected for one reason.
type ImportReason struct {
	Reason string
	N      int64
}

// ImportReasons gives why rows of an import were rejected, the commonest first.
func (db *DB) ImportReasons(ctx context.Context, id int64) (list []ImportReason, err error) {
	defer wrap(&err, "ImportReasons(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[ImportReason](q.Query(ctx, `
			SELECT reason, n FROM import_reason WHERE import_id = $1 ORDER BY n DESC, reason`, id))
		return err
	})
	return list, err
}

// ImportReject is a row that did not go in.
type ImportReject struct {
	Row     int64 // as a spreadsheet counts
	Column  string
	Value   string // masked where it is a token
	Reason  string
	Message string
	Cells   []string // the row as found
}

// ImportRejects gives rows of an import that did not go in, in their order, from
// behind a row on; at most limit of them.
func (db *DB) ImportRejects(ctx context.Context, id, after int64, limit int) (list []ImportReject, err error) {
	defer wrap(&err, "ImportRejects(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[ImportReject](q.Query(ctx, `
			SELECT row_no AS row, col AS column, value, reason, message, cells FROM import_reject
			WHERE import_id = $1 AND row_no > $2 ORDER BY row_no LIMIT $3`, id, after, limit))
		return err
	})
	return list, err
}

func importObject(id int64) string { return fmt.Sprintf("import:%d", id) }

// ImportStates gives how many imports are in each state: those of one sender, or
// all where by is "".
func (db *DB) ImportStates(ctx context.Context, by string) (counts map[string]int64, err error) {
	defer wrap(&err, "ImportStates(%q)", by)
	type row struct {
		State string
		N     int64
	}
	var rows []row
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		rows, err = allRows[row](q.Query(ctx, `
			SELECT state, count(*) AS n FROM import WHERE $1 = '' OR accepted_by = $1 GROUP BY state`, by))
		return err
	})
	counts = map[string]int64{}
	for _, r := range rows {
		counts[r.State] = r.N
	}
	return counts, err
}
