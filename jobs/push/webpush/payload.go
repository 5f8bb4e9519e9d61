package pushweb

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"bongsu/jobs/push"
)

const (
	maxTTL = 28 * 24 * time.Hour // what the push services keep a message for at most
	soon   = time.Hour
)

// payload is what the page's service worker reads out of a push event.
type payload struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	Link     string `json:"link,omitempty"`
	NoticeID int64  `json:"notice_id"`
	Tag      string `json:"tag"` // for showNotification: the same one replaces
}

func encode(m *push.Message) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // no page reads it, and it makes six bytes of one
	if err := e.Encode(payload{m.Title, m.Body, m.Link, m.NoticeID, m.CollapseID}); err != nil {
		return nil, fmt.Errorf("pushweb: writing the payload: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ttl is how long the push service may keep a message, in whole seconds.
func ttl(expires, now time.Time) time.Duration {
	if expires.IsZero() {
		return maxTTL
	}
	return min(max(expires.Sub(now), 0), maxTTL).Truncate(time.Second)
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// urgency wakes a sleeping phone only for what cannot wait until it is taken up.
func urgency(ttl time.Duration) string {
	if ttl <= soon {
		return "high"
	}
	return "normal"
}

// topic makes 32 characters of the base64url alphabet, the longest that RFC 8030
// allows and a length that all push services take. A message with the same one
// takes the place of one that still waits for its browser.
func topic(collapseID string) string {
	if collapseID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("topic " + collapseID))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}
