package pushweb

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Sizes of RFC 8188 and RFC 8291, in bytes.
const (
	recordSize = 4096 // the most that a push service must take, and all of one record
	saltSize   = 16
	pointSize  = 65 // an uncompressed point of P-256
	authSize   = 16
	headSize   = saltSize + 4 + 1 + pointSize
	// MaxPlain is what a payload may weigh: a record less its head, the mark of the
	// last record and the seal.
	MaxPlain = recordSize - headSize - 1 - 16
)

// KeysError says what is wrong with a subscription's keys, in words for the field.
type KeysError struct {
	Key   string // p256dh or auth
	Words string
}

func (e *KeysError) Error() string { return "pushweb: " + e.Key + ": " + e.Words }

// Field gives the name of the bad field and the words to show beside it, for whoever
// must not import this package.
func (e *KeysError) Field() (name, words string) { return e.Key, e.Words }

// keys are a browser's, read.
type keys struct {
	public *ecdh.PublicKey
	auth   []byte
}

// CheckKeys tells whether a message can be encrypted for a subscription. The
// error is a *KeysError and tells no part of the keys.
func CheckKeys(p256dh, auth string) error {
	_, err := parseKeys(p256dh, auth)
	return err
}

func parseKeys(p256dh, auth string) (keys, error) {
	point, err := decode64(p256dh)
	switch {
	case p256dh == "":
		return keys{}, &KeysError{"p256dh", "is missing; copy it from the browser's subscription"}
	case err != nil:
		return keys{}, &KeysError{"p256dh", "is not base64url; copy it from the browser's subscription"}
	case len(point) != pointSize:
		return keys{}, &KeysError{"p256dh", fmt.Sprintf("has %d bytes; a browser's key has %d", len(point), pointSize)}
	}
	public, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return keys{}, &KeysError{"p256dh", "is no point of the curve P-256"}
	}
	secret, err := decode64(auth)
	switch {
	case auth == "":
		return keys{}, &KeysError{"auth", "is missing; copy it from the browser's subscription"}
	case err != nil:
		return keys{}, &KeysError{"auth", "is not base64url; copy it from the browser's subscription"}
	case len(secret) != authSize:
		return keys{}, &KeysError{"auth", fmt.Sprintf("has %d bytes; a browser's secret has %d", len(secret), authSize)}
	}
	return keys{public, secret}, nil
}

// encrypt gives the body of a call: plain in one record of RFC 8188, with keys of
// RFC 8291 that are used once.
func (k keys) encrypt(plain []byte) ([]byte, error) {
	once, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	return k.seal(plain, once, salt)
}

// seal is encrypt with the sender's key and the salt given.
func (k keys) seal(plain []byte, once *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain) > MaxPlain {
		return nil, fmt.Errorf("pushweb: %d bytes are more than one record holds", len(plain))
	}
	shared, err := once.ECDH(k.public)
	if err != nil {
		return nil, err
	}
	theirs, ours := k.public.Bytes(), once.PublicKey().Bytes()
	ikm, err := hkdf.Key(sha256.New, shared, k.auth, "WebPush: info\x00"+string(theirs)+string(ours), 32)
	if err != nil {
		return nil, err
	}
	prk, err := hkdf.Extract(sha256.New, ikm, salt)
	if err != nil {
		return nil, err
	}
	cek, err := hkdf.Expand(sha256.New, prk, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Expand(sha256.New, prk, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(cek)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, headSize+len(plain)+1+gcm.Overhead())
	out = append(out, salt...)
	out = binary.BigEndian.AppendUint32(out, recordSize)
	out = append(append(out, pointSize), ours...)
	last := append(append(make([]byte, 0, len(plain)+1), plain...), 2) // 2: no record follows
	return gcm.Seal(out, nonce, last, nil), nil
}
