package pushweb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const subject = "mailto:push@example.com"

func testSigner(t *testing.T) *signer {
	t.Helper()
	pemBytes, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := parseKey(pemBytes)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{key: key, public: public, subject: subject}
}

// claims verifies a token as a push service does.
func claims(t *testing.T, s *signer, token string) (aud string, exp time.Time, sub string) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q has %d parts", token, len(parts))
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytesOf(t, s.public))
	if err != nil {
		t.Fatal(err)
	}
	sum, sig := sha256.Sum256([]byte(parts[0]+"."+parts[1])), bytesOf(t, parts[2])
	if len(sig) != 64 || !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		t.Fatal("the signature does not hold")
	}
	if head := string(bytesOf(t, parts[0])); head != `{"typ":"JWT","alg":"ES256"}` {
		t.Errorf("the head is %s", head)
	}
	var c struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(bytesOf(t, parts[1]), &c); err != nil {
		t.Fatal(err)
	}
	return c.Aud, time.Unix(c.Exp, 0), c.Sub
}

func (s *signer) mustToken(t *testing.T, origin string) string {
	t.Helper()
	text, err := s.token(origin)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTokenIsKeptTwelveHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testSigner(t)
		first := s.mustToken(t, "https://a.example")
		aud, exp, sub := claims(t, s, first)
		if aud != "https://a.example" || sub != subject || time.Until(exp) > 24*time.Hour || time.Until(exp) < 12*time.Hour {
			t.Errorf("signed %s, %s, holds %v", aud, sub, time.Until(exp))
		}
		if s.mustToken(t, "https://b.example") == first {
			t.Error("two origins share a token")
		}
		time.Sleep(tokenKept - time.Second)
		if s.mustToken(t, "https://a.example") != first {
			t.Error("a token was renewed before its time")
		}
		time.Sleep(time.Second)
		second := s.mustToken(t, "https://a.example")
		if second == first {
			t.Error("a token of 12 hours is still in use")
		}
		s.forget("https://a.example", first)
		if s.mustToken(t, "https://a.example") != second {
			t.Error("a new token went with the old one")
		}
		s.forget("https://a.example", second)
		if s.mustToken(t, "https://a.example") == second {
			t.Error("a forgotten token is still in use")
		}
	})
}

func TestTokensAreBounded(t *testing.T) {
	s := testSigner(t)
	for i := range maxTokens + 10 {
		s.mustToken(t, fmt.Sprintf("https://%d.example", i))
		if len(s.tokens) > maxTokens {
			t.Fatalf("%d tokens are kept", len(s.tokens))
		}
	}
}

func TestSubject(t *testing.T) {
	for _, good := range []string{subject, "https://example.com", "https://example.com/contact"} {
		if err := checkSubject(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "push@example.com", "mailto:", "mailto:mailto:push@example.com", "mailto:Push <push@example.com>",
		"mailto:a@example.com,b@example.com", "mailto:push@localhost", "http://example.com", "https://", "https://localhost", "https://u:p@example.com", "tel:+1",
	} {
		if checkSubject(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestKeyForms(t *testing.T) {
	pemBytes, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := parseKey(pemBytes)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := key.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	parameters := "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
	for name, form := range map[string]string{
		"PKCS 8":            string(pemBytes),
		"SEC 1":             string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})),
		"with parameters":   parameters + string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})),
		"base64url":         base64.RawURLEncoding.EncodeToString(raw) + "\n",
		"base64 and padded": base64.StdEncoding.EncodeToString(raw),
	} {
		v, err := New(Config{Key: []byte(form), Subject: subject})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v.PublicKey() != public || len(bytesOf(t, public)) != pointSize {
			t.Errorf("%s: the public key is %s, want %s", name, v.PublicKey(), public)
		}
		v.Close()
	}
}
