package pushweb

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushtest"
)

const rfcUaPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"

// subscribed makes the suite's device tokens subscriptions of one browser at url. The
// tag carries the token, since nothing else of a call has it but its path.
type subscribed struct {
	*Vendor
	url string
}

func (s subscribed) Send(ctx context.Context, m push.Message) (push.Result, error) {
	m.CollapseID = m.Token
	m.Address = push.Address{Kind: push.KindWebPush, Token: s.url + "/" + m.Token, P256dh: rfcUaPublic, Auth: rfcAuth}
	return s.Vendor.Send(ctx, m)
}

func TestConformance(t *testing.T) {
	t.Run("HTTP/1.1", func(t *testing.T) { conform(t, options{}) })
	t.Run("HTTP/2", func(t *testing.T) { conform(t, options{plain2: true}) })
}

func conform(t *testing.T, o options) {
	t.Helper()
	key, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	var table []pushtest.Answer
	for _, a := range answers() {
		table = append(table, pushtest.Answer{Name: a.name, Status: a.status, Header: a.header, Body: a.body, Want: a.want,
			AtLeast: a.want.RetryAfter, AtMost: a.want.RetryAfter})
		table[len(table)-1].Want.RetryAfter = 0
	}
	pushtest.Run(t, pushtest.Setup{
		New: func(t *testing.T, url string, timeout time.Duration) push.Vendor {
			t.Helper()
			v, err := newVendor(Config{Key: key, Subject: subject, AllowPrivate: true, Timeout: timeout}, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(v.Close)
			return subscribed{v, url}
		},
		Answers:    append(table, pushtest.Answer{Name: "status above the classes", Status: 600, NoAnswer: true}),
		SentHeader: "Location: https://push.example/m/m-1\r\n",
		Secret:     public,
		Fields: func(posted []byte) (token, title, body string, err error) {
			plain, err := openRFC(posted)
			var p struct{ Tag, Title, Body string }
			if err == nil {
				err = json.Unmarshal(plain, &p)
			}
			return p.Tag, p.Title, p.Body, err
		},
	})
}

// openRFC decrypts a body with the private key of the RFC's browser.
func openRFC(b []byte) ([]byte, error) {
	raw, err := decode64(rfcUaPrivate)
	if err != nil {
		return nil, err
	}
	auth, err := decode64(rfcAuth)
	if err != nil {
		return nil, err
	}
	private, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, err
	}
	if len(b) < headSize {
		return nil, errors.New("no head")
	}
	theirs, err := ecdh.P256().NewPublicKey(b[21:headSize])
	if err != nil {
		return nil, err
	}
	shared, err := private.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(private.PublicKey().Bytes()) + string(b[21:headSize])
	derive := func(secret, salt []byte, info string, size int) []byte {
		out, err := hkdf.Key(sha256.New, secret, salt, info, size)
		if err != nil {
			panic(err) // the sizes are constants here
		}
		return out
	}
	ikm := derive(shared, auth, info, 32)
	block, err := aes.NewCipher(derive(ikm, b[:16], "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, derive(ikm, b[:16], "Content-Encoding: nonce\x00", 12), b[headSize:], nil)
	if err != nil || len(plain) == 0 || plain[len(plain)-1] != 2 {
		return nil, errors.New("it does not open, or is padded")
	}
	return plain[:len(plain)-1], nil
}
