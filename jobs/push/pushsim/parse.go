package pushsim

import (
	"encoding/json"
	"strconv"
	"time"
)

// call is what the stand-in reads from one request.
type call struct {
	token  string
	notice int64
	key    string // Idempotency-Key, empty without one
	at     time.Time
}

// parse takes the token and the notice out of the body. It is false where the
// body is not a JSON object that has both. It walks the object itself, since
// filling a struct takes three times as long.
func (c *call) parse(body []byte) bool {
	if !json.Valid(body) {
		return false
	}
	var name, token, notice string
	depth, value := 0, false // value: a member's name and colon have been passed
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case b == '{' || b == '[':
			if depth == 0 && b == '[' {
				return false
			}
			depth++
			value = false
		case b == '}' || b == ']':
			depth--
		case b == ':':
			value = true
		case b == ',':
			value = false
		case b == '"':
			end := stringEnd(body, i)
			if depth == 1 && !value {
				name = unquote(body[i:end])
			} else if depth == 1 && name == "token" {
				token = unquote(body[i:end])
			}
			i = end - 1
		case value && depth == 1 && name == "notice_id" && (b == '-' || b >= '0' && b <= '9'):
			end := numberEnd(body, i)
			notice = string(body[i:end])
			i = end - 1
		}
	}
	n, err := strconv.ParseInt(notice, 10, 64)
	c.token, c.notice = token, n
	return err == nil && token != ""
}

// stringEnd gives the place after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func numberEnd(b []byte, i int) int {
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] > ' ' {
		i++
	}
	return i
}

func unquote(b []byte) string {
	for _, c := range b {
		if c == '\\' || c >= 0x80 {
			var s string
			_ = json.Unmarshal(b, &s) // a valid string
			return s
		}
	}
	return string(b[1 : len(b)-1])
}

// dropKey names the call for drop-: by its key, else by whom and what.
func (c *call) dropKey() string {
	if c.key != "" {
		return "key " + c.key
	}
	return strconv.FormatInt(c.notice, 10) + " " + c.token
}
