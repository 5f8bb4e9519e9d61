// Package pushweb is the vendor of browsers: Web Push by RFC 8030, encrypted by
// RFC 8291, signed by RFC 8292. It holds the wire, the rule for endpoints, the
// connections and what the push services' answers mean. It knows nothing of the
// ledger, of schedules and of other vendors, and never sends a message a second
// time by itself.
package pushweb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// What a Config with a zero in it means.
const (
	DefaultTimeout     = 10 * time.Second
	DefaultMaxInFlight = 256
)

// Config says who sends, to which push services, and how far a call may go.
type Config struct {
	Key          []byte        // the VAPID private key: PEM, or base64url of its 32 bytes
	Subject      string        // mailto:… or https://…, where a push service reaches whoever sends
	Hosts        []string      // where an endpoint may be; "*." before a host: all below it; empty: DefaultHosts
	AllowPrivate bool          // for tests and the demo alone: plain http, any port and address, and this machine
	Timeout      time.Duration // one whole call, from the wait for a connection to the answer's last byte
	MaxInFlight  int           // calls at once to one origin, in steps of 90 by HTTP/2
}

// Vendor sends straight to the push services: a proxy named in the environment is
// not used, a redirect is not followed.
type Vendor struct {
	signer  *signer
	rule    endpoints
	lanes   *lanes
	timeout time.Duration
}

var _ push.Vendor = (*Vendor)(nil)

// options are what tests put in the place of the world.
type options struct {
	roots    *x509.CertPool
	resolver *net.Resolver
	plain2   bool // HTTP/2 without TLS for http
}

func (o options) tls() *tls.Config { return &tls.Config{RootCAs: o.roots} }

// New makes a vendor without calling anybody. It fails where the key, the subject
// or a host can never work; the error tells nothing of the key.
func New(c Config) (*Vendor, error) { return newVendor(c, options{}) }

func newVendor(c Config, o options) (*Vendor, error) {
	key, err := parseKey(c.Key)
	if err != nil {
		return nil, err
	}
	public, err := publicText(key)
	if err != nil {
		return nil, err
	}
	if err := checkSubject(c.Subject); err != nil {
		return nil, err
	}
	rule, err := newEndpoints(c.Hosts, c.AllowPrivate)
	if err != nil {
		return nil, err
	}
	if c.Timeout < 0 || c.MaxInFlight < 0 {
		return nil, errors.New("pushweb: a limit is negative")
	}
	if o.resolver != nil {
		rule.resolver = o.resolver
	}
	c.Timeout, c.MaxInFlight = or(c.Timeout, DefaultTimeout), or(c.MaxInFlight, DefaultMaxInFlight)
	v := &Vendor{
		signer:  &signer{key: key, public: public, subject: c.Subject},
		rule:    rule,
		timeout: c.Timeout,
	}
	v.lanes = newLanes(c, &v.rule, o)
	return v, nil
}

// Kind is webpush.
func (v *Vendor) Kind() push.Kind { return push.KindWebPush }

// PublicKey is what a page subscribes with (applicationServerKey): the uncompressed
// point in base64url.
func (v *Vendor) PublicKey() string { return v.signer.public }

// Weigh is the function Weigh.
func (v *Vendor) Weigh(m push.Message) push.Weight { return Weigh(m) }

// Weigh counts the payload before it is encrypted, in bytes.
func Weigh(m push.Message) push.Weight {
	plain, err := encode(&m)
	if err != nil {
		return push.Weight{Bytes: MaxPlain + 1, Max: MaxPlain}
	}
	return push.Weight{Bytes: len(plain), Max: MaxPlain}
}

// Credential tells the subject and the public key's fingerprint.
func (v *Vendor) Credential() push.Credential {
	return push.Credential{Scope: v.signer.subject, Fingerprint: wire.Fingerprint(v.signer.public)}
}

// CheckEndpoint tells whether an endpoint may be posted to, and looks its host up. An
// endpoint that never may gives an *EndpointError; any other error says that the
// look-up failed, and the same endpoint may pass later.
func (v *Vendor) CheckEndpoint(ctx context.Context, endpoint string) error {
	return v.rule.check(ctx, endpoint)
}

// Close ends the connections that no call uses.
func (v *Vendor) Close() { v.lanes.close() }

// Send makes one POST, never two, within the limit of a call or ctx, whichever ends
// first. A message that no push service could take gets its Result without a call. The
// answer is in the Result. Where there is none the error is a *push.NoAnswerError; it
// tells whether the call had begun to leave. Neither carries a credential, the endpoint
// or a key of the subscription.
func (v *Vendor) Send(ctx context.Context, m push.Message) (push.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	c, err := v.prepare(&m)
	if err != nil {
		return refused(err)
	}
	o := v.lanes.origin(c.origin, c.url.Scheme == "http" && !v.lanes.plain2)
	lane, err := v.lanes.enter(ctx, o)
	if err != nil {
		return push.Result{}, wire.NoAnswer(ctx, err, false, c.hide)
	}
	defer lane.leave()
	req := c.request(ctx)
	body := wire.NewBody(req, c.body) // net/http cannot send it twice
	// RoundTrip and not Client.Do: it follows no redirect.
	resp, err := lane.transport.RoundTrip(req)
	if err != nil {
		return push.Result{}, unanswered(ctx, err, body.Written() && !wire.Unprocessed(err), c.hide)
	}
	defer resp.Body.Close()
	o.old.Store(resp.ProtoMajor < 2)
	r, err := read(ctx, resp, c.hide)
	if r.Outcome == push.Settings {
		v.signer.forget(c.origin, c.token)
	}
	return r, err
}

// call is one POST, ready to leave.
type call struct {
	url    *url.URL
	origin string
	token  string
	header http.Header
	body   []byte
	hide   wire.Hider
}

// errTooLarge says that a payload does not fit, whoever it goes to.
var errTooLarge = errors.New("the payload is larger than a browser can be sent")

func (v *Vendor) prepare(m *push.Message) (*call, error) {
	u, err := v.rule.parse(m.Token)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(m.P256dh, m.Auth)
	if err != nil {
		return nil, err
	}
	plain, err := encode(m)
	if err != nil {
		return nil, err
	}
	if len(plain) > MaxPlain {
		return nil, errTooLarge
	}
	c := &call{url: u, origin: u.Scheme + "://" + u.Host}
	if c.body, err = keys.encrypt(plain); err != nil {
		return nil, err
	}
	if c.token, err = v.signer.token(c.origin); err != nil {
		return nil, err
	}
	c.hide = wire.Hider{Bearer: c.token, Address: m.Token,
		Also: secrets(u, v.signer.public, m.P256dh, m.Auth)}
	keep := ttl(m.ExpiresAt, time.Now())
	c.header = http.Header{
		"Authorization":    {v.signer.header(c.token)},
		"Content-Type":     {"application/octet-stream"},
		"Content-Encoding": {"aes128gcm"},
		"Ttl":              {seconds(keep)},
		"Urgency":          {urgency(keep)},
		"User-Agent":       {"bongsu"},
	}
	if t := topic(m.CollapseID); t != "" {
		c.header["Topic"] = []string{t}
	}
	return c, nil
}

// secrets are what must not come back in a push service's words. The last part of
// an endpoint's path is enough to send to it; a short one would hide plain words.
func secrets(u *url.URL, more ...string) []string {
	more = append(more, u.String(), u.RequestURI(), u.Path)
	if last := path.Base(u.Path); len(last) >= 8 {
		more = append(more, last)
	}
	return more
}

func (c *call) request(ctx context.Context) *http.Request {
	req := http.Request{Method: http.MethodPost, URL: c.url, Host: c.url.Host, Header: c.header}
	return req.WithContext(ctx)
}

func or[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
