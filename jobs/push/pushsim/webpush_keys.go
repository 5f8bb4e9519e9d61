package pushsim

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Subscription is what a browser hands out, in its spelling.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"` // base64url
		Auth   string `json:"auth"`   // base64url
	} `json:"keys"`
}

// WebPushURL is what endpoints begin with; empty for a Server made by New.
func (s *Server) WebPushURL() string {
	if s.url == "" {
		return ""
	}
	return strings.TrimSuffix(s.url, "send") + "wp/"
}

// WebPushSubscription gives the subscription that belongs to a token. base is what
// endpoints begin with, such as WebPushURL. The keys follow from the token, so that a
// million of them need no room, and they are secret to nobody.
func WebPushSubscription(base, token string) Subscription {
	private, auth := browserKeys(token)
	s := Subscription{Endpoint: base + url.PathEscape(token)}
	s.Keys.P256dh = base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())
	s.Keys.Auth = base64.RawURLEncoding.EncodeToString(auth)
	return s
}

func browserKeys(token string) (private *ecdh.PrivateKey, auth []byte) {
	secret := sha256.Sum256([]byte("auth " + token))
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "key %d %s", n, token))
		// One sum in 2^32 is no private key.
		if private, err := ecdh.P256().NewPrivateKey(sum[:]); err == nil {
			return private, secret[:16]
		}
	}
}

const (
	maxRecord  = 4096 // bytes of a body
	recordHead = 16 + 4 + 1 + 65
)

var errNotOpened = errors.New("the keys of the subscription do not open it")

// open decrypts a body as the browser of the token does (RFC 8188 and RFC 8291). The
// body is at least recordHead long.
func open(token string, body []byte) ([]byte, error) {
	private, auth := browserKeys(token)
	salt, theirs, sealed := body[:16], body[21:recordHead], body[recordHead:]
	sender, err := ecdh.P256().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := private.ECDH(sender)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(private.PublicKey().Bytes()) + string(theirs)
	ikm, err := hkdf.Key(sha256.New, shared, auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err != nil {
		return nil, errNotOpened
	}
	// After the text stands 2 for the last record, then padding of zeros.
	text, ok := strings.CutSuffix(strings.TrimRight(string(plain), "\x00"), "\x02")
	if !ok {
		return nil, errNotOpened
	}
	return []byte(text), nil
}

// oneRecord tells whether a body has the head of RFC 8188 with a key of P-256 in it
// and all of its text in the first record.
func oneRecord(body []byte) bool {
	return len(body) > recordHead && body[20] == 65 && body[21] == 4 &&
		int(binary.BigEndian.Uint32(body[16:20])) >= len(body)-recordHead
}
