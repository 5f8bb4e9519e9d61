package pushweb

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A token is kept for a while and holds an hour longer, so that neither a clock
// that is somewhat off nor one that reads "24 hours at most" strictly minds it.
const (
	tokenKept  = 12 * time.Hour
	tokenHolds = 13 * time.Hour
	maxTokens  = 256 // origins at once; there are a handful
)

// signer makes the Authorization of RFC 8292, one for each origin.
type signer struct {
	key     *ecdsa.PrivateKey
	public  string // the key's public half, base64url
	subject string

	mu     sync.Mutex
	tokens map[string]token
}

type token struct {
	text string
	made time.Time
}

// checkSubject tells whether a push service can reach somebody by it; Apple
// refuses all others.
func checkSubject(subject string) error {
	const want = "pushweb: the subject must be mailto: and one address, or an https:// page, where a push service reaches you"
	if address, ok := strings.CutPrefix(subject, "mailto:"); ok {
		a, err := mail.ParseAddress(address)
		if err != nil || a.Address != address || strings.Contains(address, ":") || strings.HasSuffix(address, "@localhost") {
			return errors.New(want)
		}
		return nil
	}
	u, err := url.Parse(subject)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Hostname() == "localhost" || u.User != nil {
		return errors.New(want)
	}
	return nil
}

// token gives the JWT for an origin, an old one as long as it is fresh enough.
func (s *signer) token(origin string) (string, error) {
	now := time.Now()
	s.mu.Lock()
	t, ok := s.tokens[origin]
	s.mu.Unlock()
	if age := now.Sub(t.made); ok && age >= 0 && age < tokenKept {
		return t.text, nil
	}
	text, err := s.sign(origin, now)
	if err != nil {
		return "", err
	}
	s.keep(origin, token{text, now})
	return text, nil
}

// keep holds at most maxTokens; a full book is begun anew.
func (s *signer) keep(origin string, t token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil || len(s.tokens) >= maxTokens {
		s.tokens = make(map[string]token)
	}
	s.tokens[origin] = t
}

// forget drops a token that was refused, so that the next call has a fresh one.
func (s *signer) forget(origin, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens[origin].text == text {
		delete(s.tokens, origin)
	}
}

func (s *signer) sign(origin string, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Aud string `json:"aud"`
		Exp int64  `json:"exp"`
		Sub string `json:"sub"`
	}{origin, now.Add(tokenHolds).Unix(), s.subject})
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding
	text := b64.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + b64.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, sig, err := ecdsa.Sign(rand.Reader, s.key, sum[:])
	if err != nil {
		return "", fmt.Errorf("pushweb: signing: %w", err)
	}
	var both [64]byte
	r.FillBytes(both[:32])
	sig.FillBytes(both[32:])
	return text + "." + b64.EncodeToString(both[:]), nil
}

func (s *signer) header(token string) string { return "vapid t=" + token + ", k=" + s.public }
