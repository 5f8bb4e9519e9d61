// Package wire is what the vendors' packages share: how an answer is read, what
// of its words is kept, and how a call ended that got none. It knows no vendor.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"

	"bongsu/jobs/push"
)

// NoAnswer says how a call ended that got no answer: a *push.NoAnswerError with a
// short word and the cause, as far as hide lets it through. written: the call may
// have begun to leave. ctx is the call's own, with its limit.
func NoAnswer(ctx context.Context, err error, written bool, hide Hider) error {
	e := &push.NoAnswerError{Written: written, Err: err}
	e.Code, e.Timeout = ending(ctx, err)
	// The transport quotes an answer that it cannot read.
	if told := hide.Words(err.Error(), MaxMessage); told != err.Error() {
		e.Err = errors.New(told)
	}
	return e
}

// ending names the cause, and whether a limit was it.
func ending(ctx context.Context, err error) (code string, timeout bool) {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout", true
	case ctx.Err() != nil:
		return "cancelled", false
	case errors.As(err, &dns):
		return "dns", dns.IsTimeout
	case isTLS(err):
		return "tls", false
	case errors.As(err, &op) && op.Op == "dial":
		return dialing(err), isTimeout(err)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), reset(err):
		return "reset", false
	case Unprocessed(err):
		return "goaway", false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), ended(err):
		return "closed", false
	}
	if isTimeout(err) {
		return "timeout", true
	}
	return "broken", false
}

func dialing(err error) string {
	switch {
	case isTimeout(err):
		return "dial_timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	}
	return "unreachable"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// isTLS knows certificates that do not hold, answers that are not TLS, and
// alerts, which come as an OpError of crypto/tls.
func isTLS(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	return errors.As(err, &cert) || errors.As(err, &record) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// Nonsense is an answer that is none: it says as little as a timeout does.
func Nonsense(code string, err error) error {
	return &push.NoAnswerError{Written: true, Timeout: true, Code: code, Err: err}
}
