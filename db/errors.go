package db

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The kinds of error that a caller can act on. All others are internal.
var (
	ErrNotFound = errors.New("not found")
	ErrStale    = errors.New("somebody else was faster")
)

// FieldError says what is wrong with one field of an input, and what to do.
type FieldError struct {
	Field   string // as the API names it, such as title or devices[3].token
	Message string
}

// InvalidError says which fields of an input are wrong. Nothing was stored.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("invalid input")
	for i, f := range e.Fields {
		fmt.Fprintf(&b, "%s%s: %s", map[bool]string{true: ": ", false: "; "}[i == 0], f.Field, f.Message)
	}
	return b.String()
}

// Invalid is an InvalidError for one field.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Fields: []FieldError{{field, fmt.Sprintf(format, args...)}}}
}

// ConflictError says that what was asked does not go with what is stored.
type ConflictError struct {
	Code    string // stable, such as key_reused or wrong_state
	Field   string // the field at fault, where there is one
	Message string // what is the case, and what to do
	ID      int64  // of the object that stands in the way, where there is one
}

func (e *ConflictError) Error() string { return e.Message }

// orNotFound turns pgx's word for no rows into ours.
func orNotFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// pgCode gives the SQLSTATE of err, or "".
func pgCode(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}
