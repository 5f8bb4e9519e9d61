package pushsim

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	fcmGrant     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	fcmTokenLife = time.Hour
	fcmSkew      = 5 * time.Minute // how wrong a client's clock may be
)

// The scopes that let send, by Google's reference of messages:send.
var fcmScopes = []string{"https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform"}

// serveFCMToken is Google's token endpoint: a signed JWT for an access token.
func (s *Server) serveFCMToken(w http.ResponseWriter, r *http.Request) {
	s.book.tokens.Add(1)
	sw := s.switches.Load()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	unread := r.ParseForm() // before a hang: only then net/http sees the client go
	switch {
	case sw.FCM.TokenHang:
		s.hang(r)
		panic(http.ErrAbortHandler)
	case sw.FCM.TokenOutage:
		replyToken(w, http.StatusServiceUnavailable, map[string]any{"error": "backend_error", "error_description": "Try again."})
		return
	case r.Method != http.MethodPost:
		replyToken(w, http.StatusMethodNotAllowed, map[string]any{"error": "invalid_request"})
		return
	case unread != nil:
		replyToken(w, http.StatusBadRequest, map[string]any{"error": "invalid_request", "error_description": "The form cannot be read."})
		return
	}
	if r.PostForm.Get("grant_type") != fcmGrant {
		replyToken(w, http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type", "error_description": "Invalid grant_type: " + r.PostForm.Get("grant_type")})
		return
	}
	key, code, description := s.fcm.check(r.PostForm.Get("assertion"), time.Now())
	if code != "" {
		replyToken(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": description})
		return
	}
	life := fcmTokenLife
	if sw.FCM.TokenLife > 0 {
		life = sw.FCM.TokenLife
	}
	replyToken(w, http.StatusOK, map[string]any{
		"access_token": s.fcm.issue(key, life), "token_type": "Bearer", "expires_in": int(life / time.Second),
	})
}

func replyToken(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // only the client's going can fail it
}

// claims is what the assertion says.
type claims struct {
	Issuer   string `json:"iss"`
	Scope    string `json:"scope"`
	Audience string `json:"aud"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// check gives the key's id of a good assertion, or an error and its description.
func (f *fcmKeys) check(assertion string, now time.Time) (key, code, description string) {
	parts := strings.Split(assertion, ".")
	var head struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	var c claims
	if len(parts) != 3 || !decodePart(parts[0], &head) || !decodePart(parts[1], &c) {
		return "", "invalid_grant", "Bad JWT."
	}
	if head.Algorithm != "RS256" {
		return "", "invalid_grant", "Invalid JWT: the algorithm must be RS256."
	}
	k, ok := f.key(head.KeyID)
	if !ok || !signed(k.public, parts) {
		return "", "invalid_grant", "Invalid JWT Signature."
	}
	issued, expires := time.Unix(c.Issued, 0), time.Unix(c.Expires, 0)
	switch {
	case c.Issuer != k.email:
		return "", "invalid_grant", "Invalid grant: account not found"
	case c.Audience != k.audience:
		return "", "invalid_grant", "Invalid JWT: the audience must be " + k.audience + "."
	case expires.Sub(issued) > time.Hour || issued.After(now.Add(fcmSkew)) || !expires.After(now.Add(-fcmSkew)):
		return "", "invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. " +
			"Check your iat (" + strconv.FormatInt(c.Issued, 10) + ") and exp values in the JWT claim."
	case !slices.ContainsFunc(strings.Fields(c.Scope), func(s string) bool { return slices.Contains(fcmScopes, s) }):
		return "", "invalid_scope", "Invalid OAuth scope or ID token audience provided."
	}
	return head.KeyID, "", ""
}

func decodePart(part string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, into) == nil
}

func signed(public *rsa.PublicKey, parts []string) bool {
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return err == nil && rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
}
