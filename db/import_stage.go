package db

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ImportRow is a row of a list as it was read.
type ImportRow struct {
	Number int64
	Input  DeviceInput
	Cells  []string      // as found
	Reject *ImportReject // nil: the row can go in
}

// Reasons of a row that is well formed and holds what no device may have.
const (
	ReasonBadToken        = "bad_token"
	ReasonBadPlatform     = "bad_platform"
	ReasonBadUser         = "bad_user"
	ReasonBadVendor       = "bad_vendor"
	ReasonBadEnvironment  = "bad_environment"
	ReasonBadP256dh       = "bad_p256dh"
	ReasonBadAuth         = "bad_auth"
	ReasonBadTags         = "bad_tags"
	ReasonBadInstallation = "bad_installation"
	ReasonUnsure          = "host_unsure" // nobody could tell whether the endpoint's host may be called
	ReasonRefused         = "refused"     // by the database, for a cause that no check knows
)

// Check brings the row's device into its normal form, and rejects the row where
// it holds what no device may have. show gives a cell as it may be shown.
func (r *ImportRow) Check(show func(column, value string) string) {
	r.Input = r.Input.normal()
	if r.Reject != nil {
		return
	}
	if faults := r.Input.faults(); len(faults) > 0 {
		r.Reject = r.Input.reject(faults, show)
	}
}

// CheckEndpoint rejects a row whose endpoint must not be called. Nothing else may
// be wrong with it. An error is ctx's own.
func (r *ImportRow) CheckEndpoint(ctx context.Context, checks *EndpointChecks, show func(column, value string) string) error {
	fault, unsure, err := checks.Check(ctx, r.Input)
	if err != nil || fault == nil {
		return err
	}
	r.Reject = r.Input.reject([]FieldError{*fault}, show)
	if unsure {
		r.Reject.Reason = ReasonUnsure
	}
	return nil
}

// reject says why a row with d does not go in; the first fault is its reason.
func (d DeviceInput) reject(faults []FieldError, show func(column, value string) string) *ImportReject {
	messages := make([]string, len(faults))
	for i, f := range faults {
		messages[i] = f.Field + " " + f.Message
	}
	column := faults[0].Field
	return &ImportReject{Column: column, Value: show(column, d.cell(column)), Reason: "bad_" + column,
		Message: strings.Join(messages, "; ")}
}

// cell is what a list says in a column.
func (d DeviceInput) cell(column string) string {
	switch {
	case column == "token":
		return d.Token
	case column == "platform":
		return d.Platform
	case column == "consent" && d.Consent != nil:
		return strconv.FormatBool(*d.Consent)
	case column == "vendor":
		return textOr(d.Vendor)
	case column == "environment":
		return textOr(d.Environment)
	case column == "p256dh":
		return textOr(d.P256dh)
	case column == "auth":
		return textOr(d.Auth)
	case column == "user" && d.User != nil:
		return *d.User
	case column == "tags" && d.Tags != nil:
		return strings.Join(*d.Tags, "|")
	case column == "installation" && d.Installation != nil:
		return *d.Installation
	}
	return ""
}

// DescribeImport keeps what the first row of the list said.
func (db *DB) DescribeImport(ctx context.Context, w ImportWork, columns, ignored []string) (err error) {
	defer wrap(&err, "DescribeImport(%d)", w.ID)
	return db.read(ctx, func(ctx context.Context, q querier) error {
		return w.step(ctx, q, "columns = @columns, ignored = @ignored",
			map[string]any{"columns": cleanAll(columns), "ignored": cleanAll(ignored)})
	})
}

// StageImport keeps the next rows of a list together with how far it has come:
// read is the number of the last row that was read, bytes how much of the file.
func (db *DB) StageImport(ctx context.Context, w *ImportWork, rows []ImportRow, read, bytes int64) (err error) {
	defer wrap(&err, "StageImport(%d, %d rows)", w.ID, len(rows))
	var rejects []ImportRow
	staged := make([]ImportRow, 0, len(rows))
	for _, r := range rows {
		if r.Reject != nil {
			rejects = append(rejects, r)
		}
		if r.Input.stageable() {
			staged = append(staged, r)
		}
	}
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"import_row"}, stageColumns, &stageSource{id: w.ID, rows: staged}); err != nil {
			return err
		}
		if err := addRejects(ctx, tx, w.ID, rejects, false); err != nil {
			return err
		}
		return w.step(ctx, tx, `read_to = @read, rows_read = rows_read + @rows, staged = staged + @staged, bytes_read = @bytes,
			rejected = rejected + @rejected, lease_until = greatest(lease_until, now()),
			total = greatest(rows_read + @rows, created + updated + unchanged + rejected + @rejected)`,
			map[string]any{"read": read, "rows": len(rows), "staged": len(staged), "bytes": bytes, "rejected": len(rejects)})
	})
	if err == nil {
		w.ReadTo = read
	}
	return err
}

// stageable says whether a row names a device. A rejected one is kept too: a full
// list names its device, whatever else is wrong with the row.
func (d DeviceInput) stageable() bool {
	return d.Token != "" && len(d.Token) <= MaxToken && plain(d.Token)
}

var stageColumns = []string{"import_id", "row_no", "over", "bad", "token", "token_hash", "platform", "person", "tags", "consent", "installation",
	"vendor", "environment", "p256dh", "auth"}

// stageSource gives rows to COPY.
type stageSource struct {
	id   int64
	rows []ImportRow
	at   int
	out  [15]any
}

func (s *stageSource) Next() bool { s.at++; return s.at <= len(s.rows) }
func (s *stageSource) Err() error { return nil }

func (s *stageSource) Values() ([]any, error) {
	r := &s.rows[s.at-1]
	d, bad := &r.Input, r.Reject != nil
	hash := tokenHash(d.Token)
	s.out = [15]any{s.id, r.Number, bad, bad, d.Token, hash[:], d.Platform, d.User, nil, d.Consent, d.Installation,
		d.Vendor, d.Environment, d.P256dh, d.Auth}
	if bad {
		s.out = [15]any{s.id, r.Number, bad, bad, d.Token, hash[:], ""} // it names its device and no more
	} else if d.Tags != nil {
		s.out[8] = strings.Join(*d.Tags, "|")
	}
	return s.out[:], nil
}

// addRejects keeps rows that do not go in, and counts them by reason. late says that
// they were found while the list was written.
func addRejects(ctx context.Context, tx pgx.Tx, id int64, rejects []ImportRow, late bool) error {
	if len(rejects) == 0 {
		return nil
	}
	byReason := map[string]int{}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"import_reject"}, []string{"import_id", "row_no", "col", "value", "reason", "message", "cells", "late"},
		pgx.CopyFromSlice(len(rejects), func(i int) ([]any, error) {
			r := rejects[i]
			byReason[r.Reject.Reason]++
			return []any{id, r.Number, r.Reject.Column, clean(r.Reject.Value), r.Reject.Reason, clean(r.Reject.Message), cleanAll(r.Cells), late}, nil
		}))
	if err != nil {
		return err
	}
	for reason, n := range byReason {
		if _, err := tx.Exec(ctx, `
			INSERT INTO import_reason AS t (import_id, reason, n) VALUES ($1, $2, $3)
			ON CONFLICT (import_id, reason) DO UPDATE SET n = t.n + excluded.n`, id, reason, n); err != nil {
			return err
		}
	}
	return nil
}

// clean makes a text that the database takes.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func cleanAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}
