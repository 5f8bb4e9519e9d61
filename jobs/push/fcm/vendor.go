// Package pushfcm is Firebase Cloud Messaging by its HTTP v1 API. It holds the
// request, the access token's life, the connections, the limits of one call and
// what an answer means. It knows nothing of the ledger, of schedules and of other
// vendors. It sends a message a second time in one case only: the first was
// refused for the access token, so it told nobody, and a fresh one is at hand.
package pushfcm

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// What a Config with a zero in it means.
const (
	DefaultURL         = "https://fcm.googleapis.com"
	DefaultTimeout     = 10 * time.Second
	DefaultMaxInFlight = 256
)

// Config says for whom to send and how far a call may go.
type Config struct {
	Key         []byte        // the service account key, JSON
	URL         string        // the host; http:// is HTTP/2 without TLS, for a stand-in
	Timeout     time.Duration // one whole Send, also what it waits for an access token
	MaxInFlight int           // calls at once; more wait for their turn
}

// Vendor sends by HTTP/2, straight to the host: a proxy named in the environment
// is not used, a redirect is not followed. It never changes: another key is
// another Vendor.
type Vendor struct {
	url        *url.URL
	lanes      *lanes
	granter    *granter
	tokens     *tokens
	timeout    time.Duration
	credential push.Credential
}

var (
	_ push.Vendor = (*Vendor)(nil)
	_ push.Tester = (*Vendor)(nil)
)

// New makes a vendor without calling anybody. It fails where the key or the URL
// can never work; the error tells nothing of the key but the name of a field.
func New(c Config) (*Vendor, error) {
	if c.Timeout < 0 || c.MaxInFlight < 0 {
		return nil, errors.New("pushfcm: a limit is negative")
	}
	u, err := parseURL(or(c.URL, DefaultURL))
	if err != nil {
		return nil, err
	}
	plain := u.Scheme == "http"
	a, err := readKey(c.Key, plain)
	if err != nil {
		return nil, err
	}
	timeout := or(c.Timeout, DefaultTimeout)
	v := &Vendor{
		url:        u.JoinPath("v1", "projects", a.Project, "messages:send"),
		lanes:      newLanes(or(c.MaxInFlight, DefaultMaxInFlight), timeout*2/3, plain),
		granter:    newGranter(a),
		timeout:    timeout,
		credential: push.Credential{Scope: a.Project, Fingerprint: wire.Fingerprint(a.Key)},
	}
	v.tokens = newTokens(v.granter.grant)
	return v, nil
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("pushfcm: the URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("pushfcm: the URL must begin with http:// or https:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("pushfcm: the URL must be a host only, without a user, query or fragment")
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath would leave it without
	}
	return u, nil
}

// Kind is push.KindFCM.
func (v *Vendor) Kind() push.Kind { return push.KindFCM }

// Weigh is the function Weigh.
func (v *Vendor) Weigh(m push.Message) push.Weight { return Weigh(m) }

// Weigh counts what reaches the app, the notification and the data, as JSON. FCM
// counts keys and values, so it finds a few bytes less and never more.
func Weigh(m push.Message) push.Weight {
	return push.Weight{Bytes: len(marshal(payloadOf(&m))), Max: maxPayload}
}

// Credential tells the project and the private key's fingerprint.
func (v *Vendor) Credential() push.Credential { return v.credential }

// Close ends the connections that no call uses and an exchange for a token that
// is under way. Calls that are under way end as they would; later ones may be made
// as long as the token is good, and are told to wait after that.
func (v *Vendor) Close() {
	v.tokens.close()
	v.lanes.close()
}

// Send makes one request, or two as the package says, within the limit of a call
// or ctx, whichever ends first. The answer is in the Result; that there is no
// access token is one too. Where there is no answer the error is a
// *push.NoAnswerError. Neither carries the key, an access token or the address.
func (v *Vendor) Send(ctx context.Context, m push.Message) (push.Result, error) {
	return v.post(ctx, encode(&m, time.Now()), strings.TrimPrefix(m.Token, fidPrefix))
}

// Test asks whether FCM would take a message to a topic. It tells no device.
func (v *Vendor) Test(ctx context.Context) (push.Result, error) {
	check := request{ValidateOnly: true, Message: envelope{
		Topic: "bongsu-check", payload: payload{Notification: notification{Title: "check", Body: "check"}},
	}}
	return v.post(ctx, marshal(check), "")
}

func (v *Vendor) post(ctx context.Context, body []byte, address string) (push.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	token, none, err := v.tokens.get(ctx)
	if token == "" {
		return resultOf(none), err
	}
	r, err := v.call(ctx, token, body, address)
	if err != nil || !refusedToken(r) {
		return r, err
	}
	token, none, err = v.tokens.replace(ctx, token)
	switch {
	case token != "":
		return v.call(ctx, token, body, address)
	case none != nil || err != nil:
		return resultOf(none), err
	}
	return r, nil
}

func resultOf(r *push.Result) push.Result {
	if r == nil {
		return push.Result{}
	}
	return *r
}

// refusedToken: FCM answers 401 also where Apple or a browser's service refused
// what the project has for them, which no access token of ours mends.
func refusedToken(r push.Result) bool {
	return r.Status == http.StatusUnauthorized && r.Code != thirdParty
}

// call makes one request.
func (v *Vendor) call(ctx context.Context, token string, payload []byte, address string) (push.Result, error) {
	hide := wire.Hider{Bearer: token, Address: address}
	lane, err := v.lanes.enter(ctx)
	if err != nil {
		return push.Result{}, wire.NoAnswer(ctx, err, false, hide)
	}
	defer v.lanes.leave(lane)
	req := v.request(ctx, token)
	body := wire.NewBody(req, payload)
	// RoundTrip and not Client.Do: it follows no redirect.
	resp, err := lane.transport.RoundTrip(req)
	if err != nil {
		return push.Result{}, wire.NoAnswer(ctx, err, body.Written() && !wire.Unprocessed(err), hide)
	}
	defer resp.Body.Close()
	return read(ctx, resp, hide)
}

func (v *Vendor) request(ctx context.Context, token string) *http.Request {
	req := (&http.Request{Method: http.MethodPost, URL: v.url, Host: v.url.Host}).WithContext(ctx)
	req.Header = http.Header{
		"Authorization": {"Bearer " + token},
		"Content-Type":  {"application/json; charset=utf-8"},
		"User-Agent":    {"bongsu"},
	}
	return req
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
