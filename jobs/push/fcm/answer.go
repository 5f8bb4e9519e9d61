package pushfcm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// defaultWait is how long a 429 without a Retry-After means.
const defaultWait = time.Minute

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
	said := readFailure(a.body)
	r := push.Result{Status: a.status}
	r.Code, r.Message = a.words(said)
	m := meaningOf(a.status, said)
	r.Outcome, r.Reason, r.Guarded, r.Doubt = m.outcome, m.reason, m.guarded, m.doubt
	switch r.Outcome {
	case push.Transient, push.Wait:
		r.RetryAfter = wire.RetryAfter(a.header.Get("Retry-After"), time.Now())
		if r.Outcome == push.Wait && r.RetryAfter == 0 {
			r.RetryAfter = defaultWait
		}
	case push.Settings:
		if to := a.header.Get("Location"); a.status < 400 && to != "" {
			r.Message = a.hide.Words("redirected to "+to, wire.MaxMessage)
		}
	default: // the others carry nothing more
	}
	return r, nil
}

// words gives what to keep of a failure: the code, and the message with the
// fields or the service behind FCM that it is about.
func (a *answer) words(said *failure) (code, message string) {
	if said == nil {
		return "", a.hide.Excerpt(a.body)
	}
	message = said.Message
	for _, v := range said.violations() {
		if v.Field != "" && !strings.Contains(message, v.Field) {
			message += " [" + v.Field + ": " + v.Description + "]"
		}
	}
	if reason := said.apnsReason(); reason != "" {
		message += " [APNs: " + reason + "]"
	}
	if strings.TrimSpace(message) == "" {
		message = a.hide.Excerpt(a.body)
	}
	return a.hide.Words(said.code(), wire.MaxCode), a.hide.Words(message, wire.MaxMessage)
}

// success reads a 2xx, which is one only with the name of a message in it.
func (a *answer) success(ctx context.Context) (push.Result, error) {
	switch {
	case errors.Is(a.broken, wire.ErrTooLarge):
		return push.Result{}, wire.Nonsense("too_large", a.broken)
	case a.broken != nil:
		return push.Result{}, wire.NoAnswer(ctx, a.broken, true, a.hide)
	}
	var taken struct {
		Name  string   `json:"name"`
		Error *failure `json:"error"`
	}
	if !isObject(a.body) || !decode(a.body, &taken) {
		return push.Result{}, wire.Nonsense("not_json", fmt.Errorf("HTTP %d without a JSON object: %s", a.status, a.hide.Excerpt(a.body)))
	}
	if taken.Error != nil {
		r := push.Result{Outcome: push.Permanent, Reason: push.Rejected, Status: a.status}
		r.Code, r.Message = a.words(taken.Error)
		return r, nil
	}
	id := taken.Name[strings.LastIndexByte(taken.Name, '/')+1:] // projects/P/messages/ID
	if id == "" {
		return push.Result{}, wire.Nonsense("no_name", fmt.Errorf("HTTP %d without the name of a message: %s", a.status, a.hide.Excerpt(a.body)))
	}
	return push.Result{Outcome: push.Sent, Status: a.status, MessageID: a.hide.Words(id, wire.MaxMessageID)}, nil
}

func isObject(b []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) }
