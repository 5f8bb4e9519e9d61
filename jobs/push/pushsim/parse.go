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

// parse reads the body. It tells whether the body is a call.
func (c *call) parse(body []byte) bool {
	var b struct {
		Token  string `json:"token"`
		Notice *int64 `json:"notice_id"`
	}
	if json.Unmarshal(body, &b) != nil || b.Token == "" || b.Notice == nil {
		return false
	}
	c.token, c.notice = b.Token, *b.Notice
	return true
}

// dropKey names the call for drop-: by its key, else by whom and what.
func (c *call) dropKey() string {
	if c.key != "" {
		return "key " + c.key
	}
	return strconv.FormatInt(c.notice, 10) + " " + c.token
}
