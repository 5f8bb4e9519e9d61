package pushhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// answer is what came back, as far as it was read.
type answer struct {
	status int
	header http.Header
	body   []byte
	broken error // why the body ends early
	hide   wire.Hider
}

// read takes the answer in.
func read(ctx context.Context, resp *http.Response, hide wire.Hider) (push.Result, error) {
	a := answer{status: resp.StatusCode, header: resp.Header, hide: hide}
	var r push.Result
	var err error
	wire.Read(resp, func(body []byte, broken error) {
		a.body, a.broken = body, broken
		r, err = a.result(ctx)
	})
	return r, err
}

// result says what the answer means. It keeps no part of the body.
func (a *answer) result(ctx context.Context) (push.Result, error) {
	switch {
	case a.status >= 200 && a.status < 300:
		return a.success(ctx)
	case a.status < 200 || a.status >= 600:
		return push.Result{}, wire.Nonsense("bad_status", fmt.Errorf("HTTP status %d means nothing", a.status))
	}
	r := push.Result{Status: a.status}
	f, _ := readObject(a.body)
	r.Code, r.Message = a.words(f)
	r.Outcome, r.Reason = meaning(a.status)
	switch r.Outcome {
	case push.Transient, push.Wait:
		r.RetryAfter = wire.RetryAfter(a.header.Get("Retry-After"), time.Now())
	case push.Settings:
		if to := a.header.Get("Location"); a.status < 400 && to != "" {
			r.Message = a.hide.Words("redirected to "+to, wire.MaxMessage)
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
	case errors.Is(a.broken, wire.ErrTooLarge):
		return push.Result{}, wire.Nonsense("too_large", a.broken)
	case a.broken != nil:
		return push.Result{}, wire.NoAnswer(ctx, a.broken, true, a.hide)
	}
	r := push.Result{Outcome: push.Sent, Status: a.status}
	if len(bytes.TrimSpace(a.body)) == 0 {
		return r, nil
	}
	f, ok := readObject(a.body)
	if !ok {
		return push.Result{}, wire.Nonsense("not_json",
			fmt.Errorf("HTTP %d without a JSON object: %s", a.status, a.hide.Excerpt(a.body)))
	}
	if f.failed() {
		r.Outcome, r.Reason = push.Permanent, push.Rejected
		r.Code, r.Message = a.words(f)
		return r, nil
	}
	r.MessageID = a.hide.Words(text(f.messageID), wire.MaxMessageID)
	return r, nil
}
