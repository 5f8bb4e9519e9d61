// Package pushhttp is the HTTP vendor: one POST with a JSON body for each
// message, and a status with a JSON object as the answer. It holds the wire, the
// limits of one call and what an answer means. It knows nothing of the ledger,
// of schedules and of other vendors, and never sends a message a second time by
// itself.
package pushhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// What a Config with a zero in it means.
const (
	DefaultTimeout      = 3 * time.Second
	DefaultMaxInFlight  = 256
	DefaultPayloadBytes = 4096
)

// Config says where the vendor is and how far a call may go.
type Config struct {
	URL          string        // http or https; every message is posted to it
	Token        string        // the bearer token; empty: no Authorization header
	Timeout      time.Duration // one whole call, from the dial to the last byte of the answer
	MaxInFlight  int           // how many calls at once keep their connection for the next
	PayloadBytes int           // what title, body and link may weigh together
}

// Vendor sends by HTTP/1.1, straight to the configured address: a proxy named
// in the environment is not used, a redirect is not followed.
type Vendor struct {
	transport *http.Transport
	base      *http.Request
	token     string
	header    http.Header
	timeout   time.Duration
	max       int
}

var _ push.Vendor = (*Vendor)(nil)

// New makes a vendor without calling anybody. It fails where the URL or the
// token can never work; the error names neither.
func New(c Config) (*Vendor, error) {
	u, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, errors.New("pushhttp: the token has characters that no header may carry")
	}
	if c.Timeout < 0 || c.MaxInFlight < 0 || c.PayloadBytes < 0 {
		return nil, errors.New("pushhttp: a limit is negative")
	}
	v := &Vendor{
		base:    &http.Request{Method: http.MethodPost, URL: u, Host: u.Host},
		token:   c.Token,
		header:  http.Header{"Content-Type": {"application/json"}, "User-Agent": {"bongsu"}},
		timeout: or(c.Timeout, DefaultTimeout),
		max:     or(c.PayloadBytes, DefaultPayloadBytes),
	}
	if c.Token != "" {
		v.header["Authorization"] = []string{"Bearer " + c.Token}
	}
	v.transport = newTransport(v.timeout, or(c.MaxInFlight, DefaultMaxInFlight))
	return v, nil
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	var bad *url.Error
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("pushhttp: the URL cannot be read: %w", bad.Err)
	case err != nil:
		return nil, errors.New("pushhttp: the URL cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("pushhttp: the URL must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, errors.New("pushhttp: the URL must not carry a user or password")
	}
	return u, nil
}

// ConnectLimit is the limit of the connection within a call of this limit: two
// thirds, so that a host that is gone leaves a word about it and not just a
// timeout.
func ConnectLimit(timeout time.Duration) time.Duration { return timeout * 2 / 3 }

func newTransport(timeout time.Duration, maxInFlight int) *http.Transport {
	dial := ConnectLimit(timeout)
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dial}).DialContext,
		TLSHandshakeTimeout:    dial,
		MaxIdleConnsPerHost:    maxInFlight,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: wire.MaxAnswer,
		DisableCompression:     true,
		Protocols:              &http1,
	}
}

// Kind is push.KindHTTP.
func (v *Vendor) Kind() push.Kind { return push.KindHTTP }

// Weigh counts title, body and link together, in bytes of UTF-8.
func (v *Vendor) Weigh(m push.Message) push.Weight {
	w := Weigh(m)
	w.Max = v.max
	return w
}

// Weigh counts title, body and link together, in bytes of UTF-8, as a Vendor with the
// preset does.
func Weigh(m push.Message) push.Weight {
	return push.Weight{Bytes: len(m.Title) + len(m.Body) + len(m.Link), Max: DefaultPayloadBytes}
}

// Credential tells the host and the bearer token's fingerprint.
func (v *Vendor) Credential() push.Credential {
	return push.Credential{Scope: v.base.Host, Fingerprint: wire.Fingerprint(v.token)}
}

// Close ends the connections that no call uses.
func (v *Vendor) Close() { v.transport.CloseIdleConnections() }

// Send makes one POST, never two, within the limit of a call or ctx, whichever
// ends first. The answer is in the Result. Where there is none the error is a
// *push.NoAnswerError; it tells whether the call had begun to leave. Neither
// carries the bearer token or the address.
func (v *Vendor) Send(ctx context.Context, m push.Message) (push.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	hide := wire.Hider{Bearer: v.token, Address: m.Token}
	// GotConn runs in this goroutine, before a byte of the call can leave.
	written := false
	trace := httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { written = true }}
	// RoundTrip and not Client.Do: it follows no redirect.
	resp, err := v.transport.RoundTrip(v.request(httptrace.WithClientTrace(ctx, &trace), &m))
	if err != nil {
		return push.Result{}, wire.NoAnswer(ctx, err, written, hide)
	}
	defer resp.Body.Close()
	return read(ctx, resp, hide)
}

// request leaves GetBody nil. With it net/http would post again by itself when a
// reused connection breaks, since an Idempotency-Key tells it that it may. The
// body is a bare bytes.Reader: for other types net/http sends the head and the
// body in two packets.
func (v *Vendor) request(ctx context.Context, m *push.Message) *http.Request {
	req := v.base.WithContext(ctx)
	req.Header = make(http.Header, len(v.header)+1)
	for name, values := range v.header {
		req.Header[name] = values
	}
	req.Header["Idempotency-Key"] = []string{m.Key}
	body := encode(m)
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return req
}

func or[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
