package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Body is the body of one call by HTTP/2. It leaves once at most: net/http may
// begin a request anew on another connection, as it does when one has just ended,
// but only while nobody has read a byte of the body. A request of which only the
// head went out is no message, so it told nobody.
type Body struct {
	mu    sync.Mutex
	rest  bytes.Reader
	begun bool // a byte was read
	over  bool // no byte will be read any more
}

// errBegun ends a call that net/http would repeat.
var errBegun = errors.New("the vendor ended the connection without taking the request, which had left")

// NewBody makes payload the body of req.
func NewBody(req *http.Request, payload []byte) *Body {
	b := &Body{}
	b.rest.Reset(payload)
	req.Body, req.ContentLength, req.GetBody = b, int64(len(payload)), b.again
	return b
}

func (b *Body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.rest.Read(p)
	b.begun = b.begun || n > 0
	return n, err
}

// Close does nothing: net/http closes the body of a request that it begins anew.
func (b *Body) Close() error { return nil }

// again is for net/http, which asks for the body of a request that the server has
// certainly not taken.
func (b *Body) again() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun || b.over {
		return nil, errBegun
	}
	return b, nil
}

// Written ends reading and tells whether a byte was read before.
func (b *Body) Written() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.begun
}
