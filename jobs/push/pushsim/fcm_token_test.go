package pushsim_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

const (
	messagingScope = "https://www.googleapis.com/auth/firebase.messaging"
	jwtGrant       = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// account is a service account key as a client reads it.
type account struct {
	Type     string `json:"type"`
	Project  string `json:"project_id"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"`
	Email    string `json:"client_email"`
	TokenURI string `json:"token_uri"`
}

func readAccount(t *testing.T, key []byte) account {
	t.Helper()
	var a account
	if err := json.Unmarshal(key, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// assertion signs head and claims.
func (a account) assertion(t *testing.T, head, claims map[string]any) string {
	t.Helper()
	block, _ := pem.Decode([]byte(a.Key))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(head) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// claims is a good set.
func (a account) claims() map[string]any {
	now := time.Now()
	return map[string]any{"iss": a.Email, "scope": messagingScope, "aud": a.TokenURI, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
}

func (a account) head() map[string]any {
	return map[string]any{"alg": "RS256", "typ": "JWT", "kid": a.KeyID}
}

// grant asks for an access token.
func (c *client) grant(grantType, assertion string) reply {
	c.t.Helper()
	form := url.Values{"grant_type": {grantType}, "assertion": {assertion}}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, strings.TrimSuffix(c.url, "/send")+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.do(req)
}

// access gives a good access token of the account.
func (c *client) access(a account) string {
	c.t.Helper()
	r := c.grant(jwtGrant, a.assertion(c.t, a.head(), a.claims()))
	var said struct {
		Token   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(r.body), &said); err != nil || r.status != 200 || said.Token == "" || said.Expires <= 0 {
		c.t.Fatalf("no access token: %+v", r)
	}
	return said.Token
}

func startFCM(t *testing.T, cfg pushsim.Config) (*pushsim.Server, *client, account) {
	t.Helper()
	s, c := start(t, cfg)
	key, err := s.NewFCMKey("p1", s.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	return s, c, readAccount(t, key)
}

func TestFCMTokenEndpoint(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{})
	other, err := s.NewFCMKey("p2", s.FCMURL())
	if err != nil {
		t.Fatal(err)
	}
	if a.Type != "service_account" || a.Project != "p1" || a.TokenURI != s.FCMURL()+"/token" {
		t.Errorf("the key is %+v", a)
	}
	now := time.Now()
	for _, k := range []struct {
		name   string
		signer account
		part   string // "head" or a claim that value replaces
		value  any
		want   string
	}{
		{name: "good", signer: a},
		{name: "cloud-platform", signer: a, part: "scope", value: "https://www.googleapis.com/auth/cloud-platform openid"},
		{name: "clock 4 min early", signer: a, part: "iat", value: now.Add(4 * time.Minute).Unix()},
		{name: "another's key", signer: account{Key: readAccount(t, other).Key, KeyID: a.KeyID, Email: a.Email, TokenURI: a.TokenURI}, want: "invalid_grant"},
		{name: "a key that nobody knows", signer: a, part: "kid", value: "x", want: "invalid_grant"},
		{name: "another algorithm", signer: a, part: "alg", value: "none", want: "invalid_grant"},
		{name: "another account", signer: a, part: "iss", value: "x@example.com", want: "invalid_grant"},
		{name: "another audience", signer: a, part: "aud", value: "https://oauth2.googleapis.com/token", want: "invalid_grant"},
		{name: "two hours", signer: a, part: "exp", value: now.Add(2 * time.Hour).Unix(), want: "invalid_grant"},
		{name: "over", signer: a, part: "exp", value: now.Add(-10 * time.Minute).Unix(), want: "invalid_grant"},
		{name: "from the future", signer: a, part: "iat", value: now.Add(10 * time.Minute).Unix(), want: "invalid_grant"},
		{name: "another scope", signer: a, part: "scope", value: "openid", want: "invalid_scope"},
	} {
		head, claims := k.signer.head(), k.signer.claims()
		if k.part == "kid" || k.part == "alg" {
			head[k.part] = k.value
		} else if k.part != "" {
			claims[k.part] = k.value
		}
		r := c.grant(jwtGrant, k.signer.assertion(t, head, claims))
		if (r.status == 200) != (k.want == "") || !strings.Contains(r.body, k.want) {
			t.Errorf("%s: got %d %s, want %q", k.name, r.status, r.body, k.want)
		}
	}
	for _, bad := range []string{"", "a.b", "a.b.c", "...."} {
		if r := c.grant(jwtGrant, bad); r.status != 400 || !strings.Contains(r.body, "invalid_grant") {
			t.Errorf("%q: got %+v", bad, r)
		}
	}
	if r := c.grant("password", "x"); r.status != 400 || !strings.Contains(r.body, "unsupported_grant_type") {
		t.Errorf("got %+v", r)
	}
	if n := s.Counts(); n.Calls != 0 || n.Tokens != 17 {
		t.Errorf("counted %+v", n)
	}
}

func TestFCMTokenSwitches(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{Switches: pushsim.Switches{FCM: pushsim.FCMSwitches{TokenOutage: true}}})
	good := func() string { return a.assertion(t, a.head(), a.claims()) }
	if r := c.grant(jwtGrant, good()); r.status != 503 {
		t.Errorf("got %+v, want an outage", r)
	}
	var now struct {
		FCM struct {
			TokenOutage bool   `json:"token_outage"`
			TokenLife   string `json:"token_life"`
		}
	}
	if status := c.control("switches", `{"fcm":{"token_outage":false,"token_life":"90s"}}`, &now); status != 200 || now.FCM.TokenLife != "1m30s" || now.FCM.TokenOutage {
		t.Errorf("got %d and %+v", status, now)
	}
	if r := c.grant(jwtGrant, good()); r.status != 200 || !strings.Contains(r.body, `"expires_in":90`) {
		t.Errorf("got %+v, want a token for 90 s", r)
	}
	for _, bad := range []string{`{"fcm":{"token_life":"-1s"}}`, `{"fcm":{"goaway_every":-1}}`, `{"fcm":{"retry_after":"soon"}}`, `{"fcm":{"x":1}}`} {
		if status := c.control("switches", bad, nil); status != 400 {
			t.Errorf("%s: got %d", bad, status)
		}
	}
	s.RevokeFCMKeys()
	if r := c.grant(jwtGrant, good()); r.status != 400 || !strings.Contains(r.body, "invalid_grant") {
		t.Errorf("a revoked key got %+v", r)
	}
}
