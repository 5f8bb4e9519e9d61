package db

import (
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// The vendors at which an address can be; a CHECK of the table holds the same.
const (
	KindHTTP    = "http"    // one HTTP contract, of whoever sends on
	KindFCM     = "fcm"     // Firebase Cloud Messaging
	KindAPNs    = "apns"    // Apple Push Notification service
	KindWebPush = "webpush" // browsers
)

// MaxEndpoint is how long an endpoint of Web Push may be, in bytes.
const MaxEndpoint = 2048

// place is where a token is an address.
type place struct {
	kind        string
	environment *string // apns
	p256dh      *string // webpush, where there is a token
	auth        *string // the same
}

// vendor names the place in a history: the vendor, and which of Apple's servers.
func (p place) vendor() string {
	if p.environment != nil {
		return p.kind + ":" + *p.environment
	}
	return p.kind
}

// place gives where the token of an input is an address, or what is wrong with it.
// d is the device that the input is about, holder the one that has the token now;
// either may be nil. An input that names no vendor leaves a token that is known
// where it is; a new token is at the vendor of its device; a new device's is at
// the HTTP vendor.
func (d DeviceInput) place(of, holder *deviceState) (place, []FieldError) {
	var to place
	switch {
	case d.Vendor != nil: // checked with the input
		return place{*d.Vendor, d.Environment, d.P256dh, d.Auth}, nil
	case holder != nil:
		to = holder.place
	case of != nil:
		to = place{kind: of.kind, environment: of.environment}
	default:
		return place{kind: KindHTTP}, nil
	}
	if to.kind == KindWebPush && to.p256dh == nil {
		return to, []FieldError{{"vendor", "is missing: the device is at Web Push, and a new endpoint comes with vendor, p256dh and auth"}}
	}
	bad := tokenFaults(to.kind, d.Token)
	if len(bad) > 0 {
		bad[0].Message += "; the device is at " + to.kind + ": give vendor if it has moved"
		return to, bad
	}
	if bad = platformFaults(to.kind, d.Platform); len(bad) > 0 {
		bad[0].Message += "; the device is there: give vendor if it has moved"
	}
	return to, bad
}

// addressFaults says what is wrong with the vendor of d and with what belongs to
// it. No message repeats what was given: any of it may be a secret.
func (d DeviceInput) addressFaults() (bad []FieldError) {
	vendor := textOr(d.Vendor)
	switch vendor {
	case KindHTTP, KindFCM, KindAPNs, KindWebPush:
	default:
		if d.Vendor != nil {
			return []FieldError{{"vendor", "must be http, fcm, apns or webpush"}}
		}
	}
	if d.Vendor != nil && d.Token != "" {
		bad = append(bad, tokenFaults(vendor, d.Token)...)
	}
	bad = append(bad, platformFaults(vendor, d.Platform)...)
	bad = append(bad, environmentFaults(vendor, d.Environment)...)
	bad = append(bad, keyFaults(vendor, "p256dh", d.P256dh, publicKey, "the browser's public key, 65 bytes in base64url, as the subscription has it")...)
	return append(bad, keyFaults(vendor, "auth", d.Auth, secret, "the browser's secret, 16 bytes in base64url, as the subscription has it")...)
}

// tokenFaults says why a token cannot be one of a vendor's. What any token must be
// is asked elsewhere.
func tokenFaults(vendor, token string) []FieldError {
	message := ""
	switch vendor {
	case KindFCM:
		message = fcmFault(token)
	case KindAPNs:
		if len(token)%2 != 0 || strings.ContainsFunc(token, notHex) {
			message = "must be the device token of apns in hex, two digits for each byte"
		}
	case KindWebPush:
		message = endpointFault(token)
	}
	if message == "" {
		return nil
	}
	return []FieldError{{"token", message}}
}

func notHex(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }

// fcmFault says why a text is neither a registration token nor an installation id.
func fcmFault(token string) string {
	id, isID := strings.CutPrefix(token, "fid:")
	switch {
	case isID && (id == "" || strings.ContainsFunc(id, notBase64URL)):
		return "must have the Firebase installation id behind fid:, letters, digits, - and _"
	case strings.Contains(token, "://"):
		return "is the address of a page and no token of fcm: a browser's endpoint has vendor webpush"
	case strings.ContainsFunc(token, func(r rune) bool { return r > unicode.MaxASCII }):
		return "must be a registration token of fcm, which has no such letters, or fid: and an installation id"
	}
	return ""
}

func notBase64URL(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

// endpointFault says why a text cannot be an endpoint. Whether its host may be
// called is asked elsewhere.
func endpointFault(token string) string {
	if len(token) > MaxEndpoint {
		return fmt.Sprintf("has %d bytes: an endpoint of Web Push has at most %d", len(token), MaxEndpoint)
	}
	u, err := url.Parse(token)
	if err != nil || !strings.HasPrefix(token, "https://") || u.Hostname() == "" {
		return "must be the endpoint of the browser's subscription, which begins with https://"
	}
	if u.User != nil || strings.Contains(token, "#") || strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "must be an endpoint without a user, without a part behind #, and with a host in plain letters"
	}
	return ""
}

// EndpointHost gives the host of an endpoint, with its port where it has one, in
// lower case; "" where it has none.
func EndpointHost(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

func platformFaults(vendor, platform string) []FieldError {
	switch {
	case vendor == KindAPNs && (platform == "android" || platform == "web"):
		return []FieldError{{"platform", "must be ios with apns"}}
	case vendor == KindWebPush && (platform == "android" || platform == "ios"):
		return []FieldError{{"platform", "must be web with webpush, also for a browser on a phone"}}
	}
	return nil
}

// environmentFaults has no default: a token at the wrong one of Apple's servers
// looks as if the app were gone.
func environmentFaults(vendor string, environment *string) []FieldError {
	is := textOr(environment)
	switch {
	case vendor == KindAPNs && is == "":
		return []FieldError{{"environment", "is missing: say production, or sandbox for an app built in Xcode"}}
	case vendor == KindAPNs && is != "production" && is != "sandbox":
		return []FieldError{{"environment", "must be production or sandbox"}}
	case vendor != KindAPNs && environment != nil:
		return []FieldError{{"environment", "belongs to apns alone: give vendor apns with it, or leave it out"}}
	}
	return nil
}

func keyFaults(vendor, field string, key *string, good func(string) bool, what string) []FieldError {
	switch {
	case vendor == KindWebPush && textOr(key) == "":
		return []FieldError{{field, "is missing: give " + what}}
	case vendor == KindWebPush && !good(*key):
		return []FieldError{{field, "must be " + what}}
	case vendor != KindWebPush && key != nil:
		return []FieldError{{field, "belongs to webpush alone: give vendor webpush with it, or leave it out"}}
	}
	return nil
}

// publicKey says whether a key is a point of P-256, not compressed.
func publicKey(key string) bool {
	raw, ok := keyBytes(key)
	if !ok {
		return false
	}
	_, err := ecdh.P256().NewPublicKey(raw)
	return err == nil
}

func secret(key string) bool {
	raw, ok := keyBytes(key)
	return ok && len(raw) == 16
}

// maxKey is longer than any key's spelling.
const maxKey = 128

// keyBytes reads a key in either alphabet of base64, padded or not.
func keyBytes(key string) ([]byte, bool) {
	if len(key) > maxKey || strings.ContainsAny(key, "\r\n") {
		return nil, false
	}
	key = strings.ReplaceAll(strings.ReplaceAll(strings.TrimRight(key, "="), "+", "-"), "/", "_")
	raw, err := base64.RawURLEncoding.DecodeString(key)
	return raw, err == nil
}

// normalKey gives a key as it is stored: base64url without padding. What cannot be
// read stays as it is.
func normalKey(key *string) *string {
	if key == nil {
		return nil
	}
	raw, ok := keyBytes(*key)
	if !ok {
		return key
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return &text
}
