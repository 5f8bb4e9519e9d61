package pushweb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// NewKey makes a VAPID key: the private one as PEM (PKCS 8) for a file, and the
// public one as PublicKey gives it.
func NewKey() (pemBytes []byte, public string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("pushweb: making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, "", fmt.Errorf("pushweb: writing a key down: %w", err)
	}
	public, err = publicText(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), public, err
}

// parseKey reads a private key of P-256: PEM, as PKCS 8 or SEC 1, or base64url of
// its 32 bytes. No error tells any part of it.
func parseKey(b []byte) (*ecdsa.PrivateKey, error) {
	text := strings.TrimSpace(string(b))
	if text == "" {
		return nil, errors.New("pushweb: the key is empty")
	}
	if strings.HasPrefix(text, "-----BEGIN") {
		return parsePEM([]byte(text))
	}
	raw, err := decode64(text)
	if err != nil || len(raw) != 32 {
		return nil, errors.New("pushweb: the key is neither PEM nor base64url of 32 bytes")
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return nil, errors.New("pushweb: the key's 32 bytes are no private key of P-256")
	}
	return key, nil
}

func parsePEM(text []byte) (*ecdsa.PrivateKey, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("pushweb: the PEM has no block PRIVATE KEY or EC PRIVATE KEY that can be read")
		}
		text = rest
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default: // EC PARAMETERS, or a public key beside it
			continue
		}
		if err != nil {
			return nil, errors.New("pushweb: the PEM block " + block.Type + " cannot be read")
		}
		ec, ok := key.(*ecdsa.PrivateKey)
		if !ok || ec.Curve != elliptic.P256() {
			return nil, errors.New("pushweb: the key must be of the curve P-256")
		}
		return ec, nil
	}
}

// publicText is the public key as browsers take it: the uncompressed point in
// base64url.
func publicText(key *ecdsa.PrivateKey) (string, error) {
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return "", fmt.Errorf("pushweb: the public key: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(point), nil
}

// decode64 reads base64 in the URL's alphabet or the other one, with padding or
// without: subscriptions come in all of them.
func decode64(s string) ([]byte, error) {
	s = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(s, "="))
	return base64.RawURLEncoding.DecodeString(s)
}
