package pushweb

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// The vector of RFC 8291, appendix A.
const (
	rfcPlain     = "When I grow up, I want to be a watermelon"
	rfcAsPrivate = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
	rfcUaPublic  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	rfcAuth      = "BTBZMqHH6r4Tts7J_aSIgg"
	rfcSalt      = "DGv6ra1nlYgDCS1FRnbzlw"
	rfcBody      = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)

func bytesOf(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealAsInTheRFC(t *testing.T) {
	once, err := ecdh.P256().NewPrivateKey(bytesOf(t, rfcAsPrivate))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parseKeys(rfcUaPublic, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.seal([]byte(rfcPlain), once, bytesOf(t, rfcSalt))
	if err != nil {
		t.Fatal(err)
	}
	if text := base64.RawURLEncoding.EncodeToString(got); text != rfcBody {
		t.Errorf("got  %s\nwant %s", text, rfcBody)
	}
}

func TestEncryptIsNewEachTime(t *testing.T) {
	k, err := parseKeys(rfcUaPublic, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	plain := bytes.Repeat([]byte("x"), MaxPlain)
	one, err := k.encrypt(plain)
	if err != nil {
		t.Fatal(err)
	}
	two, err := k.encrypt(plain)
	if err != nil {
		t.Fatal(err)
	}
	if len(one) != recordSize {
		t.Errorf("the heaviest payload makes %d bytes, want %d", len(one), recordSize)
	}
	if bytes.Equal(one[:saltSize], two[:saltSize]) || bytes.Equal(one[saltSize+5:headSize], two[saltSize+5:headSize]) {
		t.Error("two messages share a salt or a key")
	}
	if _, err := k.encrypt(append(plain, 'x')); err == nil {
		t.Error("more than one record was taken")
	}
}

func TestCheckKeys(t *testing.T) {
	padded := strings.NewReplacer("-", "+", "_", "/").Replace(rfcUaPublic) + "="
	for name, c := range map[string]struct{ p256dh, auth, field, words string }{
		"good":           {rfcUaPublic, rfcAuth, "", ""},
		"other base64":   {padded, rfcAuth + "==", "", ""},
		"no key":         {"", rfcAuth, "p256dh", "missing"},
		"no base64":      {"no key!", rfcAuth, "p256dh", "not base64url"},
		"short":          {rfcUaPublic[:40], rfcAuth, "p256dh", "30 bytes"},
		"off the curve":  {rfcUaPublic[:len(rfcUaPublic)-4] + "AAAA", rfcAuth, "p256dh", "no point"},
		"compressed":     {"Ag" + rfcUaPublic[2:], rfcAuth, "p256dh", "no point"},
		"no secret":      {rfcUaPublic, "", "auth", "missing"},
		"secret of 15":   {rfcUaPublic, rfcAuth[:20], "auth", "15 bytes"},
		"secret, no b64": {rfcUaPublic, "?" + rfcAuth[1:], "auth", "not base64url"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckKeys(c.p256dh, c.auth)
			var bad *KeysError
			var shown interface{ Field() (name, words string) } // as a form finds it
			switch {
			case c.field == "" && err != nil:
				t.Errorf("got %v, want them taken", err)
			case c.field == "":
			case !errors.As(err, &bad) || bad.Key != c.field || !strings.Contains(bad.Words, c.words):
				t.Errorf("got %v, want %s: %s", err, c.field, c.words)
			case !errors.As(err, &shown):
				t.Errorf("%v names no field", err)
			case c.auth != "" && strings.Contains(err.Error(), c.auth):
				t.Errorf("%q tells the secret", err)
			}
		})
	}
}
