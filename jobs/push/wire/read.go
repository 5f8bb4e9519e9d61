package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// MaxAnswer is how much of an answer is read, in bytes.
	MaxAnswer     = 64 << 10
	maxRetryAfter = time.Hour
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ErrTooLarge says that an answer is longer than is read.
var ErrTooLarge = fmt.Errorf("the answer is over %d bytes", MaxAnswer)

// Read takes an answer's body in and hands it to use; whoever took the answer closes
// it. use must not keep the body. broken says why it ends early; it is ErrTooLarge where there is
// more of it. The connection is used again if the answer was read to its end.
func Read(resp *http.Response, use func(body []byte, broken error)) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		use(nil, nil) // its body is the bare connection
		return
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	_, broken := buf.ReadFrom(io.LimitReader(resp.Body, MaxAnswer+1))
	if buf.Len() > MaxAnswer {
		buf.Truncate(MaxAnswer)
		broken = ErrTooLarge
	}
	use(buf.Bytes(), broken)
}

// RetryAfter reads the header Retry-After in both its forms. What is not one of them, lies
// in the past or is negative gives 0; more than an hour is an hour.
func RetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		value = strings.TrimLeft(value, "0")
		if len(value) > 5 {
			return maxRetryAfter
		}
		seconds := 0
		for _, c := range value {
			seconds = seconds*10 + int(c-'0')
		}
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	t, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(t.Sub(now), 0), maxRetryAfter)
}
