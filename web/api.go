package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bongsu/db"
)

const apiRoot = "/api/v1"

// defaultPage is how many rows a list answers when limit is not given.
const defaultPage = 50

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the client has left if this fails
	return nil
}

// list is the answer of every list. Next is null at the end.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next_cursor"`
}

// writePage answers with a page of rows, each shaped for the answer.
func writePage[R, T any](w http.ResponseWriter, p db.Page[R], shape func(R) T) error {
	l := list[T]{Items: make([]T, len(p.Items))}
	for i, row := range p.Items {
		l.Items[i] = shape(row)
	}
	if p.Next != "" {
		l.Next = &p.Next
	}
	return writeJSON(w, http.StatusOK, l)
}

// params are the parameters of a query, each given at most once.
type params struct {
	values url.Values
	faults faults
}

// query reads r's parameters. Those that are not in known, are given twice or
// are no text are faults.
func query(r *http.Request, known ...string) *params {
	q := &params{}
	var err error
	if q.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		q.faults.say("query", "cannot be read: %s", err)
	}
	names := make([]string, 0, len(q.values))
	for name := range q.values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all := q.values[name]
		switch {
		case !slices.Contains(known, name):
			q.faults.unknown = true
			q.faults.say(name, "is not a parameter here; there are: %s", strings.Join(known, ", "))
		case len(all) > 1:
			q.faults.say(name, "is there twice")
		case !utf8.ValidString(all[0]) || strings.ContainsRune(all[0], 0):
			q.faults.say(name, "is not valid text")
		}
	}
	return q
}

// page reads cursor and limit.
func (q *params) page() (cursor string, limit int) {
	limit = defaultPage
	if s := q.values.Get("limit"); q.values.Has("limit") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > db.MaxPage {
			q.faults.say("limit", "must be a number from 1 to %d", db.MaxPage)
		}
		limit = n
	}
	return q.values.Get("cursor"), limit
}

// number reads an id; nil where it is not given.
func (q *params) number(name string) *int64 {
	if !q.values.Has(name) {
		return nil
	}
	n, err := strconv.ParseInt(q.values.Get(name), 10, 64)
	if err != nil || n < 1 {
		q.faults.say(name, "must be a whole number above 0")
	}
	return &n
}

// moment reads a time in RFC 3339; nil where it is not given.
func (q *params) moment(name string) *time.Time {
	if !q.values.Has(name) {
		return nil
	}
	t, err := time.Parse(time.RFC3339, q.values.Get(name))
	if err != nil {
		q.faults.say(name, "must be a time such as 2026-12-31T09:00:00Z")
		return nil
	}
	return &t
}

// noQuery refuses all parameters.
func noQuery(r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	q := query(r)
	return q.faults.err()
}

// noBody refuses fields in the body of an act that takes none. An empty body
// and an empty object are the same.
func noBody(r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	raw, err := readJSON(r)
	if err != nil {
		return err
	}
	var f faults
	newObject(raw, "", &f).end()
	return f.err()
}
