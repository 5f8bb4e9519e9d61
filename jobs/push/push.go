// Package push holds the words in which the sender and a vendor speak to each
// other: a message, its result, and the schedule of retries. It is pure: no
// network, no database, no queue. Each vendor is a package of its own below.
package push

import (
	"context"
	"time"
)

// Kind says at which vendor an address lives.
type Kind string

// The vendors.
const (
	KindHTTP    Kind = "http"    // one HTTP contract, of whoever sends on
	KindFCM     Kind = "fcm"     // Firebase Cloud Messaging, HTTP v1
	KindAPNs    Kind = "apns"    // Apple Push Notification service
	KindWebPush Kind = "webpush" // browsers, by RFC 8030
)

// Message is one call to a vendor: what to tell, and whom.
type Message struct {
	NoticeID   int64     // 0 for a test send
	DeviceID   int64     // the product's number of the device
	Key        string    // Idempotency-Key, the same over retries and restarts
	Address              // where it goes
	Platform   string    // android, ios or web
	Title      string    // NFC, line ends are LF
	Body       string    // NFC, line ends are LF
	Link       string    // empty: none
	ExpiresAt  time.Time // after this the vendor must not deliver it any more
	CollapseID string    // a phone replaces a message with the same one
}

// Address is where a device is reached: at which vendor, and how.
type Address struct {
	Kind        Kind
	Token       string // fcm: a registration token, or "fid:" and an installation id; webpush: the endpoint
	Environment string // apns: production or sandbox; else empty
	P256dh      string // webpush: the browser's public key, base64url (RFC 8291); else empty
	Auth        string // webpush: the browser's secret, base64url (RFC 8291); else empty
}

// Outcome says what a vendor's answer means for the delivery.
type Outcome string

// The outcomes. Only Transient is charged to the delivery's schedule.
const (
	Sent      Outcome = "sent"      // the vendor took it
	Transient Outcome = "transient" // not now; charged, the schedule decides
	Wait      Outcome = "wait"      // not now; not charged, after RetryAfter or the schedule
	Permanent Outcome = "permanent" // never; failed at once
	Dead      Outcome = "dead"      // never, and the address is gone: the device is disabled
	Settings  Outcome = "settings"  // our own settings are wrong: pause the vendor, charge nobody
	Suspect   Outcome = "suspect"   // permanent alone; settings when several devices in a row say it (403)
	Unfit     Outcome = "unfit"     // never, and for no device: what the notice says is refused, not the address
)

// Reason is the closed list of what a vendor's answer can be the reason for.
// The ledger knows these and some of its own.
type Reason string

// The reasons that a vendor's answer gives.
const (
	TokenExpired       Reason = "token_expired"       // 410
	Rejected           Reason = "rejected"            // any other 4xx, or 2xx with an error in it
	ContentRefused     Reason = "content_refused"     // what the notice says, whoever it is for
	VendorError        Reason = "vendor_error"        // 5xx, 408, 409, 425
	RateLimited        Reason = "rate_limited"        // 429
	Timeout            Reason = "timeout"             // no answer in time, or one that is not an answer
	Unreachable        Reason = "unreachable"         // no connection, or it broke
	CredentialsRefused Reason = "credentials_refused" // 401, 3xx, several 403 in a row
)

// Result is a vendor's answer, as a value. The zero Result is not valid.
type Result struct {
	Outcome    Outcome
	Reason     Reason        // empty when Sent
	Status     int           // HTTP status; 0 when nobody answered
	Code       string        // the vendor's own code, raw, at most 64 bytes
	Message    string        // the vendor's own words, raw, at most 500 bytes, valid UTF-8
	MessageID  string        // the vendor's number for it, where there is one; at most 200 bytes
	RetryAfter time.Duration // 0: the vendor named none; at most 1 h
	Doubt      bool          // the call was written and no answer came, or the answer leaves open whether it was delivered
	DeadSince  time.Time     // Dead: the address is gone since then; a device that was registered later is not meant. Zero: unknown
	Guarded    bool          // Dead by an answer that a wrong setting of ours would bring too: if many say so, it is that
}

// NoAnswerError says that a call ended without an answer, so nobody knows.
type NoAnswerError struct {
	Written bool   // the request may have reached the vendor
	Timeout bool   // a limit ended it, as opposed to a broken or refused connection
	Code    string // a short word for what happened, such as not_json or reset
	Err     error
}

func (e *NoAnswerError) Error() string { return "no answer: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *NoAnswerError) Unwrap() error { return e.Err }

// Vendor sends one message by one call. The answer is a value; an error means
// that nobody knows the end, and is a *NoAnswerError (see ResultOf). Send never
// retries by itself and returns within its own limit. It may be called by many
// goroutines at once.
type Vendor interface {
	Kind() Kind
	Send(ctx context.Context, m Message) (Result, error)
	// Weigh tells how much of what the vendor takes a message's payload uses up,
	// counted on the payload as it would be sent.
	Weigh(m Message) Weight
	// Credential tells which credential is in use, without giving it away.
	Credential() Credential
}

// Weight is the size of a payload, in bytes as the vendor counts them.
type Weight struct {
	Bytes int
	Max   int // the most that the vendor takes
}

// Credential is what may be told of a credential.
type Credential struct {
	Scope       string // what it speaks for: a host, a project, a team and topic
	Fingerprint string // the first 12 hex digits of the SHA-256 of the secret; empty: none is used
}

// Tester is a vendor that can be asked whether it would take a message, without
// anybody being told one.
type Tester interface {
	Test(ctx context.Context) (Result, error)
}
