package wire

import (
	"errors"
	"strings"
)

// streamError has the shape of net/http's own, which fills it in for errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "HTTP/2 stream error" }

const refusedStream = 7 // RFC 9113, section 7

// Unprocessed tells whether the peer of an HTTP/2 connection said that it has not
// begun to work on the request: it refused the stream, or ended the connection
// before it (RFC 9113, sections 6.8 and 8.7). Such a call told nobody. net/http has
// words alone for most of it.
func Unprocessed(err error) bool {
	if errors.Is(err, errBegun) {
		return true
	}
	var stream streamError
	if errors.As(err, &stream) {
		return stream.Code == refusedStream
	}
	said := err.Error()
	return strings.HasPrefix(said, "http2: Transport received GOAWAY from server") ||
		strings.HasPrefix(said, "http2: Transport: cannot retry err [") &&
			(strings.Contains(said, "graceful shutdown GOAWAY]") || strings.Contains(said, "; REFUSED_STREAM"))
}

// ended tells whether the peer ended an HTTP/2 connection after it had the request.
func ended(err error) bool {
	return strings.HasPrefix(err.Error(), "http2: server sent GOAWAY and closed the connection")
}

// reset tells whether a stream of an HTTP/2 connection was reset.
func reset(err error) bool {
	var stream streamError
	return errors.As(err, &stream)
}
