// Package pushtest is the conformance suite that every vendor passes: it runs a
// vendor against a raw server that can do to a connection whatever a network
// can, and looks at what the vendor makes of it. The server speaks HTTP/1.1, and
// HTTP/2 without TLS with a vendor that begins so. It knows the contract of
// jobs/push and no vendor.
package pushtest

import (
	"testing"
	"time"

	"bongsu/jobs/push"
)

// Setup is the vendor under test.
type Setup struct {
	// New makes the vendor: it calls url, and lets one call take at most timeout.
	New func(t *testing.T, url string, timeout time.Duration) push.Vendor
	// Answers is how the vendor must take answers; HTTPAnswers for one that
	// follows HTTP statuses.
	Answers []Answer
	// Sent is an answer that says sent, with the message id "m-1" in it.
	Sent string
	// SentHeader are the header lines of Sent, each ended by CR LF, for a vendor that
	// reads the message id there.
	SentHeader string
	// Secret is the credential that the vendor sends, as it stands in a header.
	Secret string
	// Fields gives the message in what the vendor posted: token, title and body.
	Fields func(posted []byte) (token, title, body string, err error)
}

// limit is what the vendor gets for one call where the limit is under test, and
// slack is how much later the call must have ended on a busy machine.
const (
	limit = 300 * time.Millisecond
	slack = 5 * time.Second
	ample = 30 * time.Second
)

// Run tests that the vendor keeps the contract of push.Vendor.
func Run(t *testing.T, setup Setup) {
	t.Run("answers", func(t *testing.T) { testAnswers(t, setup) })
	t.Run("no answer", func(t *testing.T) { testNoAnswer(t, setup) })
	t.Run("limits", func(t *testing.T) { testLimits(t, setup) })
	t.Run("one call each", func(t *testing.T) { testOneCall(t, setup) })
	t.Run("redirect", func(t *testing.T) { testRedirect(t, setup) })
	t.Run("message", func(t *testing.T) { testMessage(t, setup) })
	t.Run("at once", func(t *testing.T) { testAtOnce(t, setup) })
}

// Message is an ordinary message to a device token.
func Message(token string) push.Message {
	return push.Message{
		NoticeID: 7, DeviceID: 11, Key: "n7-d11-k1", Address: push.Address{Kind: push.KindHTTP, Token: token},
		Platform: "android", Title: "title", Body: "body", Link: "https://example.com/7",
		ExpiresAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), CollapseID: "7",
	}
}
