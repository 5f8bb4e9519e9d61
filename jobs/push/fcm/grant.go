package pushfcm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

const (
	scope        = "https://www.googleapis.com/auth/firebase.messaging"
	grantTimeout = 10 * time.Second // one exchange, whatever the limit of a call
)

// granter exchanges the service account key for an access token.
type granter struct {
	config    jwt.Config
	transport *http.Transport
}

func newGranter(a account) *granter {
	return &granter{
		config: jwt.Config{
			Email: a.Email, PrivateKey: []byte(a.Key), PrivateKeyID: a.KeyID, TokenURL: a.TokenURI, Scopes: []string{scope},
		},
		// Once an hour is no reason to keep a connection.
		transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: grantTimeout * 2 / 3}).DialContext,
			TLSHandshakeTimeout:    grantTimeout * 2 / 3,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
			DisableKeepAlives:      true,
		},
	}
}

// grant makes one exchange. It gives a token or, as the result of the send that
// needs one, why there is none.
func (g *granter) grant(ctx context.Context) (access, *push.Result) {
	ctx, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	trip := &trip{ctx: ctx, transport: g.transport}
	client := &http.Client{Transport: trip, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	asked := time.Now()
	token, err := g.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
	if err != nil {
		return access{}, trip.refusal(err)
	}
	if token.AccessToken == "" || strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return access{}, waitFor(push.Timeout, "token_unreadable", "the token endpoint gave no token that a header may carry")
	}
	return newAccess(token.AccessToken, asked, token.Expiry), nil
}

// trip carries one exchange. The library gives its request no context and tells
// of errors in words only, so both pass through here.
type trip struct {
	ctx       context.Context
	transport *http.Transport
	hide      wire.Hider // the assertion: for an hour it is as good as the key
	begun     bool
	err       error
}

func (t *trip) RoundTrip(req *http.Request) (*http.Response, error) {
	t.begun = true
	t.hide.Bearer = assertionOf(req)
	resp, err := t.transport.RoundTrip(req.WithContext(t.ctx))
	t.err = err
	return resp, err
}

// assertionOf reads the form without using its body up.
func assertionOf(req *http.Request) string {
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	form, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return ""
	}
	return values.Get("assertion")
}

// refusal says what a failed exchange means for a send.
func (t *trip) refusal(err error) *push.Result {
	var answered *oauth2.RetrieveError
	switch {
	case errors.As(err, &answered):
		return t.answered(answered.Response, answered.Body)
	case !t.begun:
		return &push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: "key_unusable",
			Message: "the service account key cannot sign"}
	case t.err == nil && t.ctx.Err() == nil:
		return waitFor(push.Timeout, "token_unreadable", "the answer of the token endpoint cannot be read")
	case t.err == nil:
		t.err = t.ctx.Err() // it ended while the answer was read
	}
	reason := push.Unreachable
	var none *push.NoAnswerError
	if errors.As(wire.NoAnswer(t.ctx, t.err, false, t.hide), &none) && none.Timeout {
		reason = push.Timeout
	}
	return waitFor(reason, "token_"+none.Code, "the token endpoint: "+t.hide.Words(none.Err.Error(), 400))
}

// answered reads a refusal of the token endpoint (RFC 6749, section 5.2): what is
// wrong with the key, the account or the clock is ours to mend, the rest passes.
func (t *trip) answered(resp *http.Response, body []byte) *push.Result {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if !decode(body, &said) || said.Error == "" {
		said.Error, said.Description = fmt.Sprintf("token_http_%d", resp.StatusCode), t.hide.Excerpt(body)
	}
	r := &push.Result{
		Outcome: push.Settings, Reason: push.CredentialsRefused, Status: resp.StatusCode,
		Code:    t.hide.Words(said.Error, wire.MaxCode),
		Message: t.hide.Words("the token endpoint refused: "+said.Description, wire.MaxMessage),
	}
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		r.Outcome, r.Reason = push.Wait, push.RateLimited
	case s >= 500, s == http.StatusRequestTimeout:
		r.Outcome, r.Reason = push.Wait, push.VendorError
	}
	if r.Outcome == push.Wait {
		r.RetryAfter = wire.RetryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	return r
}

func waitFor(reason push.Reason, code, message string) *push.Result {
	return &push.Result{Outcome: push.Wait, Reason: reason, Code: code, Message: message}
}

// decode reads JSON and lets a member of another kind than expected pass as
// absent.
func decode(body []byte, into any) bool {
	err := json.Unmarshal(body, into)
	var kind *json.UnmarshalTypeError
	return err == nil || errors.As(err, &kind)
}
