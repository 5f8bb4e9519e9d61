package pushsim_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
	pushweb "bongsu/jobs/push/webpush"
)

// bent is a stand-in behind a handler that bends what a good sender sent.
type bent struct {
	*pushsim.Server
	url    string
	vendor *pushweb.Vendor
	bend   func(*http.Request)
}

func newBent(t *testing.T, cfg pushsim.Config) *bent {
	t.Helper()
	sim, err := pushsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := &bent{Server: sim, bend: func(*http.Request) {}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.bend(r)
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { sim.Close(); server.Close() })
	b.url = server.URL
	key, _, err := pushweb.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	b.vendor, err = pushweb.New(pushweb.Config{Key: key, Subject: "mailto:push@example.com", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.vendor.Close)
	return b
}

// send is one call with a good message to a token, bent.
func (b *bent) send(t *testing.T, token string, bend func(*http.Request)) push.Result {
	t.Helper()
	b.bend = bend
	sub := pushsim.WebPushSubscription(b.url+"/wp/", token)
	r, err := b.vendor.Send(t.Context(), push.Message{NoticeID: 7, Title: "t", CollapseID: "7", Address: push.Address{
		Kind: push.KindWebPush, Token: sub.Endpoint, P256dh: sub.Keys.P256dh, Auth: sub.Keys.Auth}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// jwt signs claims with a new key and gives the header.
func jwt(t *testing.T, alg string, claims map[string]any) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding
	text := b64.EncodeToString(fmt.Appendf(nil, `{"typ":"JWT","alg":%q}`, alg)) + "." + b64.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	var sig [64]byte
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return "vapid t=" + text + "." + b64.EncodeToString(sig[:]) + ", k=" + b64.EncodeToString(point)
}

func TestWebPushChecksVapid(t *testing.T) {
	b := newBent(t, pushsim.Config{})
	good := func() map[string]any {
		return map[string]any{"aud": b.url, "exp": time.Now().Add(23 * time.Hour).Unix(), "sub": "mailto:a@example.com"}
	}
	with := func(name string, value any) string {
		c := good()
		c[name] = value
		return jwt(t, "ES256", c)
	}
	other := strings.Split(jwt(t, "ES256", good()), ", k=")[1]
	for name, c := range map[string]struct{ header, words string }{
		"good":                {jwt(t, "ES256", good()), ""},
		"https subject":       {with("sub", "https://example.com"), ""},
		"none":                {"", "scheme"},
		"bearer":              {strings.Replace(jwt(t, "ES256", good()), "vapid", "Bearer", 1), "scheme"},
		"no k":                {strings.Split(jwt(t, "ES256", good()), ", k=")[0], "k is no key"},
		"no t":                {"vapid k=" + other, "no JWT"},
		"another's signature": {strings.Split(jwt(t, "ES256", good()), ", k=")[0] + ", k=" + other, "signature"},
		"another algorithm":   {jwt(t, "none", good()), "alg"},
		"another origin":      {with("aud", "https://else.example"), "aud"},
		"endpoint as aud":     {with("aud", b.url+"/wp/x"), "aud"},
		"past":                {with("exp", time.Now().Add(-time.Second).Unix()), "past"},
		"two days":            {with("exp", time.Now().Add(48*time.Hour).Unix()), "24 hours"},
		"bare address":        {with("sub", "a@example.com"), "sub"},
		"mailto twice":        {with("sub", "mailto:mailto:a@example.com"), "sub"},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.send(t, "token "+name, func(r *http.Request) { r.Header.Set("Authorization", c.header) })
			switch {
			case c.words == "" && r.Outcome != push.Sent:
				t.Errorf("got %+v, want it taken", r)
			case c.words != "" && (r.Status != 401 || !strings.Contains(r.Message, c.words)):
				t.Errorf("got %+v, want 401 for %s", r, c.words)
			case c.words != "" && b.Delivered("token "+name, 7) != 0:
				t.Error("it was delivered")
			}
		})
	}
}

func TestWebPushChecksTheCall(t *testing.T) {
	b := newBent(t, pushsim.Config{})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	body := func(change func([]byte) []byte) func(*http.Request) {
		return func(r *http.Request) {
			all, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(strings.NewReader(string(change(all))))
		}
	}
	for name, c := range map[string]struct {
		bend   func(*http.Request)
		status int
		code   string
	}{
		"as it is":         {func(*http.Request) {}, 201, ""},
		"no TTL":           {func(r *http.Request) { r.Header.Del("TTL") }, 400, "111"},
		"TTL below 0":      {header("TTL", "-1"), 400, "BadTtl"},
		"TTL as words":     {header("TTL", "soon"), 400, "BadTtl"},
		"TTL 0":            {header("TTL", "0"), 201, ""},
		"urgency":          {header("Urgency", "now"), 400, "BadUrgency"},
		"topic of 33":      {header("Topic", strings.Repeat("a", 33)), 400, "BadWebPushTopic"},
		"topic of 29":      {header("Topic", strings.Repeat("a", 29)), 400, "BadWebPushTopic"},
		"topic with dots":  {header("Topic", "a.b."), 400, "BadWebPushTopic"},
		"empty topic":      {header("Topic", ""), 400, "BadWebPushTopic"},
		"no topic":         {func(r *http.Request) { r.Header.Del("Topic") }, 201, ""},
		"old encoding":     {header("Content-Encoding", "aesgcm"), 415, "110"},
		"4097 bytes":       {body(func(b []byte) []byte { return append(b, make([]byte, 4097-len(b))...) }), 413, "PayloadTooLarge"},
		"100 KB":           {body(func(b []byte) []byte { return make([]byte, 100<<10) }), 413, "PayloadTooLarge"},
		"no head":          {body(func(b []byte) []byte { return b[:80] }), 400, "110"},
		"records too":      {body(func(b []byte) []byte { b[18], b[19] = 0, 20; return b }), 400, "110"},
		"a bit turned":     {body(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), 400, "110"},
		"another's device": {func(r *http.Request) { r.URL.Path = "/wp/another" }, 400, "110"},
		"no token":         {func(r *http.Request) { r.URL.Path = "/wp/"; r.URL.RawPath = "" }, 404, "102"},
		"GET":              {func(r *http.Request) { r.Method = http.MethodGet }, 405, "MethodNotAllowed"},
	} {
		t.Run(name, func(t *testing.T) {
			token := "token " + name
			r := b.send(t, token, c.bend)
			if r.Status != c.status || r.Code != c.code {
				t.Errorf("got %+v, want %d %s", r, c.status, c.code)
			}
			if want := c.status / 200; c.status == 201 && b.Delivered(token, 7) != want || c.status != 201 && b.Delivered(token, 7) != 0 {
				t.Errorf("it was delivered %d times", b.Delivered(token, 7))
			}
		})
	}
}

func TestWebPushSwitches(t *testing.T) {
	b := newBent(t, pushsim.Config{})
	for name, c := range map[string]struct {
		change func(*pushsim.Switches)
		status int
		retry  time.Duration
	}{
		"outage":         {func(s *pushsim.Switches) { s.Outage = true }, 503, 0},
		"page":           {func(s *pushsim.Switches) { s.WebPush.Page = true }, 503, 0},
		"refuse":         {func(s *pushsim.Switches) { s.Refuse = true }, 401, 0},
		"forbid":         {func(s *pushsim.Switches) { s.Forbid = true }, 403, 0},
		"redirect":       {func(s *pushsim.Switches) { s.Redirect = "https://else.example" }, 302, 0},
		"limit":          {func(s *pushsim.Switches) { s.RateLimit = 2 * time.Second }, 429, 2 * time.Second},
		"limit, open":    {func(s *pushsim.Switches) { s.RateLimit = time.Second; s.WebPush.RetryAfter = "none" }, 429, 0},
		"another key":    {func(s *pushsim.Switches) { s.WebPush.Key = "another" }, 403, 0},
		"our key":        {func(s *pushsim.Switches) { s.WebPush.Key = b.vendor.PublicKey() }, 201, 0},
		"every one ill":  {func(s *pushsim.Switches) { s.TransientShare = 1 }, 503, 0},
		"nothing is set": {func(*pushsim.Switches) {}, 201, 0},
	} {
		if err := b.Update(func(s *pushsim.Switches) { *s = pushsim.Switches{}; c.change(s) }); err != nil {
			t.Fatal(err)
		}
		if r := b.send(t, "token", func(*http.Request) {}); r.Status != c.status || r.RetryAfter != c.retry {
			t.Errorf("%s: got %+v, want %d and %v", name, r, c.status, c.retry)
		}
	}
	if err := b.Update(func(s *pushsim.Switches) { s.WebPush.RetryAfter = "later" }); err == nil {
		t.Error("a form of Retry-After that there is not was taken")
	}
}

// TestWebPushBlind counts by the Topic what it does not open.
func TestWebPushBlind(t *testing.T) {
	b := newBent(t, pushsim.Config{Switches: pushsim.Switches{WebPush: pushsim.WebPushSwitches{Blind: true}}})
	for _, topic := range []string{"one1", "one1", "two2"} {
		if r := b.send(t, "token", func(r *http.Request) { r.Header.Set("Topic", topic) }); r.Outcome != push.Sent {
			t.Fatalf("got %+v", r)
		}
	}
	if c := b.Counts(); c.Unique != 2 || c.Duplicates != 1 {
		t.Errorf("counted %+v, want two notices and one duplicate", c)
	}
}

func TestWebPushSubscriptionByControl(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		strings.TrimSuffix(s.WebPushURL(), "wp/")+"_control/webpush/subscription?token=a%2Fb", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got pushsim.Subscription
	if err := json.Unmarshal([]byte(c.do(req).body), &got); err != nil {
		t.Fatal(err)
	}
	if want := pushsim.WebPushSubscription(s.WebPushURL(), "a/b"); got != want || !strings.HasSuffix(got.Endpoint, "/wp/a%2Fb") {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := pushweb.CheckKeys(got.Keys.P256dh, got.Keys.Auth); err != nil {
		t.Error(err)
	}
}
