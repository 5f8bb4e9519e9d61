package pushhttp

import (
	"bytes"
	"encoding/json"
)

// fields are the members of an answer that mean something, each as its raw
// JSON; nil where it is absent. Of a member given twice the last one counts.
type fields struct {
	err, code, message, messageID []byte
}

var bom = []byte("\xef\xbb\xbf")

// readObject takes the fields out of a JSON object. ok is false for all that is
// not exactly one JSON object, with spaces around it or not. A byte order mark
// before it is let pass, since some servers put one there.
func readObject(b []byte) (f fields, ok bool) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, bom))
	if len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return fields{}, false
	}
	members(b, func(name string, value []byte) {
		switch name {
		case "error":
			f.err = value
		case "code":
			f.code = value
		case "message":
			f.message = value
		case "message_id":
			f.messageID = value
		}
	})
	return f, true
}

// failed tells whether there is an error: null, false and "" are none.
func (f *fields) failed() bool {
	switch string(f.err) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}

// members gives each member of a valid JSON object to visit.
func members(b []byte, visit func(name string, value []byte)) {
	for i := skipSpace(b, 1); b[i] != '}'; i = skipSpace(b, i) {
		end := skipString(b, i)
		name := text(b[i:end])
		i = skipSpace(b, skipSpace(b, end)+1) // past the colon
		end = skipValue(b, i)
		visit(name, b[i:end])
		i = skipSpace(b, end)
		if b[i] == ',' {
			i++
		}
	}
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skipString gives the place after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue gives the place after the value that begins at i.
func skipValue(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue // between values: only inside an object or a list
		default:
			i = skipBare(b, i)
		}
		if depth == 0 {
			return i
		}
	}
}

// skipBare passes a number, true, false or null.
func skipBare(b []byte, i int) int {
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\n\r"), b[i]) < 0 {
		i++
	}
	return i
}

// text gives a string's content or a number as it is written; nothing for
// anything else.
func text(raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw)
	case raw[0] != '"':
		return ""
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
