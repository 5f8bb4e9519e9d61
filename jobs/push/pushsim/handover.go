package pushsim

import (
	"bufio"
	"net"
	"sync"
)

// handover is the listener through which connections go from the fast lane to
// net/http.
type handover struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newHandover(addr net.Addr) *handover {
	return &handover{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

// give is false once the listener is closed.
func (h *handover) give(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.done:
		return false
	}
}

// Accept waits for a connection that is handed over.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// Addr is where the connections came in.
func (h *handover) Addr() net.Addr { return h.addr }

// lent is a connection of which r may have read some already.
type lent struct {
	net.Conn
	r *bufio.Reader
}

func (l *lent) Read(b []byte) (int, error) { return l.r.Read(b) }
