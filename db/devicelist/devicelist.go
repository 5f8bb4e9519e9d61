// Package devicelist reads and writes the CSV of device lists. It knows the form
// of such a file: compression, encoding, delimiter, quotes, columns. What makes
// a device a good one, such as the length of a token, is the ledger's matter. It
// is pure: it reads from an io.Reader, writes to an io.Writer and touches
// nothing else.
package devicelist

// The limits of a list. Beyond the first five a file is refused or its reading
// ends with a *FormatError.
const (
	MaxBytes   = 512 << 20 // of the file, after decompression
	MaxRows    = 2_000_000 // devices; and as many blank rows
	MaxRecord  = 1 << 20   // bytes of a row, as UTF-8
	MaxCell    = 64 << 10  // bytes of a cell, as UTF-8; also of the whole header
	MaxColumns = 1000      // cells of a row, named or not
	maxValue   = 100       // characters of a Problem's value
)

// The columns that are read. Others are told in Head.Ignored.
const (
	Token        = "token"
	Platform     = "platform"
	User         = "user"
	Tags         = "tags"
	Consent      = "consent"
	Installation = "installation"
	Vendor       = "vendor"
	Environment  = "environment"
	P256dh       = "p256dh"
	Auth         = "auth"
)

// Columns gives the columns that are read, in the order of an export.
func Columns() []string {
	return []string{Token, Platform, User, Tags, Consent, Installation, Vendor, Environment, P256dh, Auth}
}

// The encodings of a list.
const (
	UTF8    = "UTF-8"
	UTF16LE = "UTF-16LE"
	UTF16BE = "UTF-16BE"
)

// Head is what the beginning of a list tells.
type Head struct {
	Encoding  string   // UTF8, UTF16LE or UTF16BE
	Delimiter rune     // comma, semicolon or tab
	Gzip      bool     // the file is compressed
	Columns   []string // all names as found, also empty ones
	Known     []string // those of Columns() that the list has, in their order there
	Ignored   []string // the names of further columns, as found
}

// Row is a row of a list, good or not.
type Row struct {
	// Number is the row's number as a spreadsheet counts: the header is row 1, a
	// row with line breaks in quotes is one, and blank rows count.
	Number int64

	// Cells are the row's cells as found, in the order of Head.Columns, for the
	// file of rejected rows. There may be fewer or more than columns. They are
	// valid UTF-8; those of a rejected row may hold a zero byte.
	Cells []string

	Token        string    // without the spaces around it
	Platform     string    // in lower case, without the spaces around it
	User         *string   // nil: no such column; "" takes the person's link away
	Installation *string   // nil: no such column, or an empty cell
	Tags         *[]string // nil: no such column; an empty cell is no tags
	Consent      *bool     // nil: no such column, or an empty cell
	Vendor       *string   // nil: no such column, or an empty cell; in lower case, without the spaces around it
	Environment  *string   // as Vendor
	P256dh       *string   // nil: no such column, or an empty cell; without the spaces around it
	Auth         *string   // as P256dh

	// Problems say why the row cannot go in; empty: its form is good.
	Problems []Problem
}

// Problem is one thing that keeps a row out.
type Problem struct {
	Column  string // one of Columns(), or "" where it is the row's as a whole
	Value   string // printable and short, masked where it is a token or a key; "" for a whole row
	Reason  Reason
	Message string // what was found and what to do
}

// Reason says why a row is rejected.
type Reason string

// The closed list of reasons that the form of a row can give.
const (
	TooManyCells     Reason = "too_many_cells"    // more cells than the header has names
	BadQuotes        Reason = "bad_quotes"        // a quote in a cell that is not doubled
	ControlCharacter Reason = "control_character" // a line break, a tab or the like in a column that is read
	ZeroByte         Reason = "zero_byte"         // a NUL in any column
	BadConsent       Reason = "bad_consent"       // neither yes nor no
	HeaderAgain      Reason = "header_again"      // the header, repeated further down
)

// Reasons gives the closed list.
func Reasons() []Reason {
	return []Reason{TooManyCells, BadQuotes, ControlCharacter, ZeroByte, BadConsent, HeaderAgain}
}

// FormatError says that a file, or its rest, cannot be read as a list.
type FormatError struct {
	Code    string // stable, such as no_header or quote_not_closed
	Message string // what was found and what to do, in whole sentences
	Row     int64  // where it was found; 0: the file as a whole
}

func (e *FormatError) Error() string { return e.Message }
