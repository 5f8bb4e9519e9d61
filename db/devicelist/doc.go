// Package devicelist reads and writes device lists as CSV: what an operator
// exports from a spreadsheet, and what a program writes. It knows the format
// alone; what a device may be is the ledger's to say. It does no I/O but through
// the reader or writer that it is given, and its memory is bounded for any input.
package devicelist

import "fmt"

// The limits of a list.
const (
	MaxBytes  = 512 << 20 // of the text, once it is unpacked
	MaxRows   = 2_000_000 // without the header
	MaxRecord = 1 << 20   // bytes of one row
	MaxCell   = 64 << 10  // bytes of one cell
	MaxCells  = 1000      // in one row
)

// Columns are the columns that mean something, in the order in which lists are
// written.
var Columns = []string{"token", "platform", "user", "tags", "consent", "installation"}

// FormatError says why what was given is no list, or why its rest cannot be read,
// and what to do.
type FormatError struct {
	Code    string // stable, such as not_csv
	Message string
	Row     int64 // where it was found, as a spreadsheet counts; 0: in the whole file
}

func (e *FormatError) Error() string { return e.Message }

func formatError(code string, row int64, format string, args ...any) error {
	return &FormatError{Code: code, Row: row, Message: fmt.Sprintf(format, args...)}
}

// Head is what the beginning of a list tells.
type Head struct {
	Encoding  string   // UTF-8, UTF-16LE or UTF-16BE
	Delimiter rune     // ',', ';' or a tab
	Gzip      bool     // it came packed
	Columns   []string // all names, as found
	Known     []string // those of Columns that mean something
	Ignored   []string // the others
}

// Row is one row of a list.
type Row struct {
	Number int64    // as a spreadsheet counts: the header is row 1
	Cells  []string // as found, without the apostrophe before what looks like a formula

	Token, Platform string
	User            *string // nil where the column is absent; "" takes the person away
	Tags            *[]string
	Consent         *bool   // nil where the column is absent or the cell is empty
	Installation    *string // likewise

	Problems []Problem // empty: the row is well formed
}

// Problem is what is wrong with one cell of a row, or with the row.
type Problem struct {
	Column  string // "" where it is the row
	Value   string // the cell, shortened, masked where it is a token
	Reason  string // stable, such as bad_consent
	Message string
}
