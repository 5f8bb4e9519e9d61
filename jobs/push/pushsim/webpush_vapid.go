package pushsim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"sync"
	"time"
)

// vapidTokens remembers whose signature held, since a sender signs once in hours.
type vapidTokens struct {
	mu   sync.Mutex
	good map[string]vapidClaims // by the header
}

const maxVapid = 1000

type vapidClaims struct {
	Aud string `json:"aud"`
	Exp int64  `json:"exp"`
	Sub string `json:"sub"`
	key string
}

// check reads an Authorization of RFC 8292. fault is empty where it is good for the
// origin now.
func (v *vapidTokens) check(header, origin string, now time.Time) (key, fault string) {
	c, fault := v.read(header)
	left := time.Unix(c.Exp, 0).Sub(now)
	switch {
	case fault != "":
		return "", fault
	case c.Aud != origin:
		return "", "aud is not this origin"
	case left <= 0:
		return "", "exp is past"
	case left > 24*time.Hour:
		return "", "exp is more than 24 hours away"
	case !reachable(c.Sub):
		return "", "sub is neither mailto: nor https:"
	}
	return c.key, ""
}

// reachable tells whether sub is an https page or mailto: and an address.
func reachable(sub string) bool {
	address, mail := strings.CutPrefix(sub, "mailto:")
	return strings.HasPrefix(sub, "https://") || mail && strings.Contains(address, "@") && !strings.Contains(address, ":")
}

func (v *vapidTokens) read(header string) (vapidClaims, string) {
	v.mu.Lock()
	c, ok := v.good[header]
	v.mu.Unlock()
	if ok {
		return c, ""
	}
	c, fault := readVapid(header)
	if fault != "" {
		return c, fault
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.good == nil || len(v.good) >= maxVapid {
		v.good = make(map[string]vapidClaims)
	}
	v.good[header] = c
	return c, ""
}

func readVapid(header string) (c vapidClaims, fault string) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "vapid") {
		return c, "the scheme is not vapid"
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	b64 := base64.RawURLEncoding.Strict()
	point, err := b64.DecodeString(fields["k"])
	if err != nil {
		return c, "k is not base64url"
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return c, "k is no key of P-256"
	}
	parts := strings.Split(fields["t"], ".")
	if len(parts) != 3 {
		return c, "t is no JWT"
	}
	head, errHead := b64.DecodeString(parts[0])
	claims, errClaims := b64.DecodeString(parts[1])
	sig, errSig := b64.DecodeString(parts[2])
	var alg struct{ Typ, Alg string }
	if errHead != nil || errClaims != nil || errSig != nil || json.Unmarshal(head, &alg) != nil || json.Unmarshal(claims, &c) != nil {
		return c, "t cannot be read"
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch {
	case alg.Alg != "ES256":
		return c, "alg is not ES256"
	case len(sig) != 64 || !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])):
		return c, "the signature is not of k"
	}
	c.key = fields["k"]
	return c, ""
}
