package pushhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"

	"bongsu/jobs/push"
)

// noAnswer says how a call ended that got no answer, in a short word and with
// the cause as far as it hides what must be hidden.
func noAnswer(ctx context.Context, err error, written bool, hide hider) error {
	e := &push.NoAnswerError{Written: written, Err: err}
	e.Code, e.Timeout = ending(ctx, err)
	// The transport quotes an answer that it cannot read.
	if told := hide.words(err.Error(), maxMessage); told != err.Error() {
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
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset", false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
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
