package pushhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"bongsu/jobs/push"
)

const (
	maxAnswer     = 64 << 10 // bytes of an answer that are read
	maxRetryAfter = time.Hour
)

// answer is what came back, as far as it was read.
type answer struct {
	status int
	header http.Header
	body   []byte
	broken error // why the body ends early
	hide   hider
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var errTooLarge = fmt.Errorf("the answer is over %d bytes", maxAnswer)

// read takes the answer in and closes it. The connection is used again if the
// answer was read to its end.
func read(ctx context.Context, resp *http.Response, hide hider) (push.Result, error) {
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, hide: hide}
	if a.status == http.StatusSwitchingProtocols {
		return a.result(ctx) // its body is the bare connection
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	_, a.broken = buf.ReadFrom(io.LimitReader(resp.Body, maxAnswer+1))
	if buf.Len() > maxAnswer {
		buf.Truncate(maxAnswer)
		a.broken = errTooLarge
	}
	a.body = buf.Bytes()
	return a.result(ctx)
}

// result says what the answer means. It keeps no part of the body.
func (a *answer) result(ctx context.Context) (push.Result, error) {
	switch {
	case a.status >= 200 && a.status < 300:
		return a.success(ctx)
	case a.status < 200 || a.status >= 600:
		return push.Result{}, nonsense("bad_status", fmt.Errorf("HTTP status %d means nothing", a.status))
	}
	r := push.Result{Status: a.status}
	f, _ := readObject(a.body)
	r.Code, r.Message = a.words(f)
	r.Outcome, r.Reason = meaning(a.status)
	switch r.Outcome {
	case push.Transient, push.Wait:
		r.RetryAfter = retryAfter(a.header.Get("Retry-After"), time.Now())
	case push.Settings:
		if to := a.header.Get("Location"); a.status < 400 && to != "" {
			r.Message = a.hide.words("redirected to "+to, maxMessage)
		}
	default: // the others carry nothing more
	}
	return r, nil
}

// meaning is the table of the statuses that are no success.
func meaning(status int) (push.Outcome, push.Reason) {
	switch status {
	case http.StatusUnauthorized:
		return push.Settings, push.CredentialsRefused
	case http.StatusForbidden:
		return push.Suspect, push.Rejected
	case http.StatusGone:
		return push.Dead, push.TokenExpired
	case http.StatusTooManyRequests:
		return push.Wait, push.RateLimited
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return push.Transient, push.VendorError
	}
	switch {
	case status >= 500:
		return push.Transient, push.VendorError
	case status < 400:
		return push.Settings, push.CredentialsRefused
	}
	return push.Permanent, push.Rejected
}

// success reads a 2xx, which is one only with an empty body or a JSON object
// without an error in it.
func (a *answer) success(ctx context.Context) (push.Result, error) {
	switch {
	case errors.Is(a.broken, errTooLarge):
		return push.Result{}, nonsense("too_large", a.broken)
	case a.broken != nil:
		return push.Result{}, noAnswer(ctx, a.broken, true, a.hide)
	}
	r := push.Result{Outcome: push.Sent, Status: a.status}
	if len(bytes.TrimSpace(a.body)) == 0 {
		return r, nil
	}
	f, ok := readObject(a.body)
	if !ok {
		return push.Result{}, nonsense("not_json",
			fmt.Errorf("HTTP %d without a JSON object: %s", a.status, a.excerpt()))
	}
	if f.failed() {
		r.Outcome, r.Reason = push.Permanent, push.Rejected
		r.Code, r.Message = a.words(f)
		return r, nil
	}
	r.MessageID = a.hide.words(text(f.messageID), maxMessageID)
	return r, nil
}

// nonsense is an answer that is none: it says as little as a timeout does.
func nonsense(code string, err error) error {
	return &push.NoAnswerError{Written: true, Timeout: true, Code: code, Err: err}
}

// retryAfter reads the header in both its forms. What is not one of them, lies
// in the past or is negative gives 0.
func retryAfter(value string, now time.Time) time.Duration {
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
