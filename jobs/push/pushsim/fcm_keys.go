package pushsim

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// fcmKeys knows the service accounts' keys and the access tokens that they got.
type fcmKeys struct {
	mu     sync.Mutex
	keys   map[string]fcmKey // by their private_key_id
	tokens map[string]fcmToken

	answers atomic.Int64 // while GoAwayEvery is on
}

type fcmKey struct {
	project, email, audience string
	public                   *rsa.PublicKey
	revoked                  bool
}

type fcmToken struct {
	key  string // its private_key_id
	ends time.Time
}

// FCMURL is where a sender to FCM calls; empty for a Server made by New.
func (s *Server) FCMURL() string { return strings.TrimSuffix(s.url, "/send") }

// NewFCMKey makes a service account with a key of RSA 2048 and gives the key as
// the JSON file that Google gives. base is where the sender finds the stand-in,
// such as FCMURL; its /token is the token_uri.
func (s *Server) NewFCMKey(project, base string) ([]byte, error) {
	if project == "" || strings.ContainsAny(project, "/ ") {
		return nil, errors.New("pushsim: a project has a name without spaces and slashes")
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("pushsim: making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("pushsim: writing a key: %w", err)
	}
	id := randomHex(20)
	k := fcmKey{project: project, email: "sender@" + project + ".iam.gserviceaccount.com",
		audience: strings.TrimSuffix(base, "/") + "/token", public: &private.PublicKey}
	s.fcm.mu.Lock()
	defer s.fcm.mu.Unlock()
	if s.fcm.keys == nil {
		s.fcm.keys, s.fcm.tokens = make(map[string]fcmKey), make(map[string]fcmToken)
	}
	s.fcm.keys[id] = k
	return json.MarshalIndent(map[string]string{
		"type": "service_account", "project_id": project, "private_key_id": id,
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": k.email, "client_id": "100000000000000000000", "token_uri": k.audience,
		"universe_domain": "googleapis.com",
	}, "", "  ")
}

// RevokeFCMKeys deletes every key made so far and the access tokens that they
// got. Keys that are made later are good.
func (s *Server) RevokeFCMKeys() {
	s.fcm.mu.Lock()
	defer s.fcm.mu.Unlock()
	for id, k := range s.fcm.keys {
		k.revoked = true
		s.fcm.keys[id] = k
	}
	clear(s.fcm.tokens)
}

// ForgetFCMTokens ends every access token. The keys stay good.
func (s *Server) ForgetFCMTokens() {
	s.fcm.mu.Lock()
	defer s.fcm.mu.Unlock()
	clear(s.fcm.tokens)
}

// issue gives a new access token of a key that is known.
func (f *fcmKeys) issue(key string, life time.Duration) string {
	token := "ya29.sim-" + randomHex(32)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[token] = fcmToken{key: key, ends: time.Now().Add(life)}
	return token
}

// project gives what an Authorization header speaks for; nothing for one that is
// not good.
func (f *fcmKeys) project(authorization string) string {
	bearer, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.tokens[bearer]
	if !ok || !time.Now().Before(t.ends) {
		return ""
	}
	return f.keys[t.key].project
}

func (f *fcmKeys) key(id string) (fcmKey, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.keys[id]
	return k, ok && !k.revoked
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
