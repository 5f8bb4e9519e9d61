package db

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// MaxPage is the most rows that one page of a list holds.
const MaxPage = 1000

// Page is one page of a list: Items, and the cursor of the next page, or "".
type Page[T any] struct {
	Items []T
	Next  string
}

// cursor is a keyset position: whole numbers, opaque to the reader.
type cursor []int64

func (c cursor) String() string {
	parts := make([]string, len(c))
	for i, n := range c {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, ".")))
}

// parseCursor reads a cursor of n numbers. An empty text is the beginning, and
// gives nil. Anything else that a list did not give is an InvalidError.
func parseCursor(s string, n int) (cursor, error) {
	if s == "" {
		return nil, nil
	}
	bad := Invalid("cursor", "is not one that this list gave; leave it out to begin at the start")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, bad
	}
	parts := strings.Split(string(raw), ".")
	if len(parts) != n {
		return nil, bad
	}
	c := make(cursor, n)
	for i, p := range parts {
		if c[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return nil, bad
		}
	}
	return c, nil
}

// checkLimit says whether a page of limit rows can be had.
func checkLimit(limit int) error {
	if limit < 1 || limit > MaxPage {
		return Invalid("limit", "must be from 1 to %d, not %d", MaxPage, limit)
	}
	return nil
}

// page cuts rows, read with one more than limit, to a page. at gives a row's
// position.
func page[T any](rows []T, limit int, at func(T) cursor) Page[T] {
	if len(rows) <= limit {
		return Page[T]{Items: rows}
	}
	rows = rows[:limit]
	return Page[T]{Items: rows, Next: fmt.Sprint(at(rows[limit-1]))}
}
