package pushweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// The codes of a Result that no push service gave.
const (
	codeEndpoint = "bad_endpoint"
	codeKeys     = "bad_keys"
	codeTooLarge = "payload_too_large"
	codePrivate  = "private_address" // of a NoAnswerError
)

// refused is the end of a message that was not sent to anybody.
func refused(err error) (push.Result, error) {
	r := push.Result{Outcome: push.Permanent, Reason: push.Rejected}
	var endpoint *EndpointError
	var keys *KeysError
	switch {
	case errors.As(err, &endpoint):
		r.Code, r.Message = codeEndpoint, "the endpoint "+endpoint.Words
	case errors.As(err, &keys):
		r.Code, r.Message = codeKeys, keys.Key+" "+keys.Words
	case errors.Is(err, errTooLarge):
		r.Outcome, r.Code, r.Message = push.Unfit, codeTooLarge, err.Error()
	default:
		return push.Result{}, &push.NoAnswerError{Code: "not_made", Err: err}
	}
	return r, nil
}

// unanswered says how a call ended that got no answer. An endpoint that led into a
// private network is one: which address a name has is no fault of the device, since
// only the names of push services are taken.
func unanswered(ctx context.Context, err error, written bool, hide wire.Hider) error {
	var private *EndpointError
	if errors.As(err, &private) {
		return &push.NoAnswerError{Code: codePrivate, Err: private}
	}
	return wire.NoAnswer(ctx, err, written, hide)
}

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
	said := a.words()
	r := push.Result{Status: a.status, Code: said.code, Message: said.message}
	r.Outcome, r.Reason = meaning(a.status)
	retry := wire.RetryAfter(a.header.Get("Retry-After"), time.Now())
	switch {
	case a.status == http.StatusBadRequest && unfit[said.code]:
		r.Outcome = push.Unfit
	case r.Outcome == push.Settings && a.status >= 400 && a.otherKey(said):
		r.Outcome, r.Reason, r.Guarded = push.Dead, push.Rejected, true
	case r.Outcome == push.Settings && a.status < 400:
		if to := a.header.Get("Location"); to != "" {
			r.Message = a.hide.Words("redirected to "+to, wire.MaxMessage)
		}
	case r.Outcome == push.Wait:
		r.RetryAfter = retry
	case r.Outcome == push.Transient:
		r.RetryAfter = retry
		if retry > 0 && a.status >= 500 {
			r.Outcome = push.Wait // it names when it is back, for all of the origin
		}
	}
	return r, nil
}

// meaning is the table of the statuses that are no success, before the words are
// looked at.
func meaning(status int) (push.Outcome, push.Reason) {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return push.Dead, push.TokenExpired
	case http.StatusUnauthorized, http.StatusForbidden:
		return push.Settings, push.CredentialsRefused
	case http.StatusRequestEntityTooLarge:
		return push.Unfit, push.Rejected
	case http.StatusTooManyRequests, http.StatusNotAcceptable: // 406: Microsoft's way to say it
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

// unfit are the codes with 400 that are about what is the same for every device of a
// notice: Apple's words, and Mozilla's numbers for TTL and Topic.
var unfit = map[string]bool{"BadWebPushTopic": true, "BadTtl": true, "111": true, "112": true, "113": true}

// otherKey tells whether a subscription was made with another key than ours: Apple's
// word, Google's sentence, Mozilla's.
func (a *answer) otherKey(said words) bool {
	if said.code == "VapidPkHashMismatch" {
		return true
	}
	text := strings.ToLower(strings.Join(strings.Fields(string(a.body)), " "))
	return strings.Contains(text, "credentials used to create the subscription") ||
		strings.Contains(text, "vapid public key mismatch")
}

// success is any 2xx that ends as it should. What it says beside is of no interest.
func (a *answer) success(ctx context.Context) (push.Result, error) {
	if a.broken != nil && !errors.Is(a.broken, wire.ErrTooLarge) {
		return push.Result{}, wire.NoAnswer(ctx, a.broken, true, a.hide)
	}
	return push.Result{Outcome: push.Sent, Status: a.status, MessageID: a.hide.Words(a.messageID(), wire.MaxMessageID)}, nil
}

// messageID is the push service's number, in a header of its own or as the last part
// of the message's address.
func (a *answer) messageID() string {
	for _, name := range []string{"Apns-Id", "X-Wns-Msg-Id"} {
		if id := a.header.Get(name); id != "" {
			return id
		}
	}
	to := a.header.Get("Location")
	if to == "" || strings.HasSuffix(to, "/") {
		return ""
	}
	return path.Base(to)
}
