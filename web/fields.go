package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bongsu/db"
)

// unknownFieldError names fields of an input that nobody knows, and whatever
// else was wrong with it.
type unknownFieldError struct{ fields []db.FieldError }

func (e *unknownFieldError) Error() string { return "unknown fields" }

// faults gathers what is wrong with one input, so that all of it is told at once.
type faults struct {
	fields  []db.FieldError
	unknown bool
}

func (f *faults) say(field, format string, args ...any) {
	f.fields = append(f.fields, db.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

// err gives what was gathered as an error, or nil.
func (f *faults) err() error {
	switch {
	case f.unknown:
		return &unknownFieldError{f.fields}
	case f.fields != nil:
		return &db.InvalidError{Fields: f.fields}
	}
	return nil
}

// readJSON reads r's body, which must be one JSON value in UTF-8 and nothing
// more. Its errors answer 400, 408 or 413.
func readJSON(r *http.Request) (json.RawMessage, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err, "body_cut", "The body ended before its end.")
	}
	if !utf8.Valid(raw) {
		return nil, &badRequestError{400, "bad_encoding", "The body is not valid UTF-8."}
	}
	var value json.RawMessage
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, &badRequestError{400, "not_json", "The body is not one JSON value: " + err.Error() + "."}
	}
	return value, nil
}

// bodyError says why a body could not be read: it is too large, too slow, or
// what code and message say.
func bodyError(err error, code, message string) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &badRequestError{408, "body_late", "The body did not arrive in time."}
	}
	return &badRequestError{400, code, message}
}

// object reads a JSON object field by field. A field that is null counts as
// absent. What is wrong goes to its faults under the field's full name.
type object struct {
	path   string // before the names of its fields, such as "audience."
	values map[string]json.RawMessage
	known  []string
	faults *faults
}

// newObject takes raw, which is valid JSON, apart. path is the object's own
// name, "" for the whole body.
func newObject(raw json.RawMessage, path string, f *faults) *object {
	o := &object{path: path, values: map[string]json.RawMessage{}, faults: f}
	if path != "" {
		o.path += "."
	}
	if !startsWith(raw, '{') {
		f.say(orBody(path), "must be an object")
		return o
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // the brace
	for dec.More() {
		name, _ := dec.Token()
		var value json.RawMessage
		_ = dec.Decode(&value) // raw was checked as a whole
		key := name.(string)
		if _, twice := o.values[key]; twice {
			f.say(o.path+key, "is there twice")
		}
		o.values[key] = value
	}
	return o
}

func startsWith(raw json.RawMessage, c byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == c
}

func orBody(path string) string {
	if path == "" {
		return "body"
	}
	return path
}

// field gives the value of a known field, or nil where it is absent or null.
func (o *object) field(name string) json.RawMessage {
	o.known = append(o.known, name)
	raw := o.values[name]
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// end names the fields that were not asked for. Call it last.
func (o *object) end() {
	var unknown []string
	for name := range o.values {
		if !slices.Contains(o.known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		o.faults.unknown = true
		o.faults.say(o.path+name, "is not known here; there are %s", strings.Join(o.known, ", "))
	}
}

// text reads a string field; nil where it is absent.
func (o *object) text(name string) *string {
	raw := o.field(name)
	if raw == nil {
		return nil
	}
	s, ok := textValue(raw)
	if !ok {
		o.faults.say(o.path+name, "must be text without a zero character")
		return nil
	}
	return &s
}

func textValue(raw json.RawMessage) (string, bool) {
	var s string
	if !startsWith(raw, '"') || json.Unmarshal(raw, &s) != nil || strings.ContainsRune(s, 0) {
		return "", false
	}
	return s, true
}

// flag reads a boolean field; nil where it is absent.
func (o *object) flag(name string) *bool {
	raw := o.field(name)
	if raw == nil {
		return nil
	}
	yes := string(raw) == "true"
	if !yes && string(raw) != "false" {
		o.faults.say(o.path+name, "must be true or false")
		return nil
	}
	return &yes
}

// number reads an id; nil where it is absent.
func (o *object) number(name string) *int64 {
	if raw := o.values[name]; raw == nil || string(raw) == "null" {
		o.field(name)
		return nil
	}
	n := o.requiredNumber(name)
	return &n
}

func numberValue(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && n > 0
}

// requiredNumber reads an id that must be there.
func (o *object) requiredNumber(name string) int64 {
	if o.field(name) == nil {
		o.faults.say(o.path+name, "is missing")
		return 0
	}
	n, ok := numberValue(o.values[name])
	if !ok {
		o.faults.say(o.path+name, "must be a whole number above 0, without quotes")
	}
	return n
}

// moment reads a time in RFC 3339; nil where it is absent.
func (o *object) moment(name string) *time.Time {
	raw := o.field(name)
	if raw == nil {
		return nil
	}
	s, ok := textValue(raw)
	t, err := time.Parse(time.RFC3339, s)
	if !ok || err != nil {
		o.faults.say(o.path+name, "must be a time such as 2026-12-31T09:00:00Z")
		return nil
	}
	t = t.UTC()
	return &t
}

// list reads an array field, and calls each with every element and its full
// name. It gives false where the field is absent.
func (o *object) list(name string, each func(raw json.RawMessage, path string)) bool {
	raw := o.field(name)
	if raw == nil {
		return false
	}
	eachOf(raw, o.path+name, o.faults, each)
	return true
}

func eachOf(raw json.RawMessage, path string, f *faults, each func(raw json.RawMessage, path string)) {
	if !startsWith(raw, '[') {
		f.say(orBody(path), "must be a list")
		return
	}
	var all []json.RawMessage
	_ = json.Unmarshal(raw, &all) // raw was checked as a whole
	for i, one := range all {
		each(one, fmt.Sprintf("%s[%d]", path, i))
	}
}

// texts reads a list of strings; nil where it is absent.
func (o *object) texts(name string) *[]string {
	all := []string{}
	there := o.list(name, func(raw json.RawMessage, path string) {
		s, ok := textValue(raw)
		if !ok {
			o.faults.say(path, "must be text without a zero character")
		}
		all = append(all, s)
	})
	if !there {
		return nil
	}
	return &all
}

// numbers reads a list of ids; nil where it is absent.
func (o *object) numbers(name string) []int64 {
	var all []int64
	if o.list(name, func(raw json.RawMessage, path string) {
		n, ok := numberValue(raw)
		if !ok {
			o.faults.say(path, "must be a whole number above 0, without quotes")
		}
		all = append(all, n)
	}) && all == nil {
		all = []int64{}
	}
	return all
}

// part reads a field that is an object itself; nil where it is absent.
func (o *object) part(name string) *object {
	raw := o.field(name)
	if raw == nil {
		return nil
	}
	return newObject(raw, o.path+name, o.faults)
}

// orEmpty gives what s points to, or "".
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
