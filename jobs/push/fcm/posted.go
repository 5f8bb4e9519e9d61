package pushfcm

import (
	"bytes"
	"net/http"
	"sync"
)

// posted is the body of one request. It knows whether any of it can have left:
// a request of which only the head went out is no message, so it told nobody.
type posted struct {
	mu    sync.Mutex
	rest  bytes.Reader
	begun bool // a byte was read
	over  bool // no byte will be read any more
}

func newPosted(payload []byte) *posted {
	p := &posted{}
	p.rest.Reset(payload)
	return p
}

func (p *posted) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := p.rest.Read(b)
	p.begun = p.begun || n > 0
	return n, err
}

// Close ends reading: the transport may go on for a moment after it has given up.
func (p *posted) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	return nil
}

// written ends reading and tells whether a byte was read before.
func (p *posted) written() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	return p.begun
}
