package pushtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Request is one request that the server has read.
type Request struct {
	Method string
	Header http.Header
	Body   []byte
}

// Conn is a connection in the hands of a script.
type Conn struct {
	net.Conn
	server *Server
	read   *bufio.Reader
	asked  bool // a request was read, or tried to
	h2     *h2  // nil: the peer speaks HTTP/1.1
}

// Script does what the server is to do with one connection, which is closed
// when the script returns.
type Script func(c *Conn)

// Server runs a script for each connection and keeps every request it reads.
type Server struct {
	URL string
	// Gone is closed when the test ends; a script that hangs waits for it.
	Gone     chan struct{}
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	requests []Request
	running  sync.WaitGroup
}

// Serve starts a server that lasts as long as the test.
func Serve(t *testing.T, script Script) *Server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "http://" + ln.Addr().String() + "/v1/send", Gone: make(chan struct{}), listener: ln}
	s.running.Go(func() { s.accept(script) })
	t.Cleanup(s.close)
	return s
}

func (s *Server) accept(script Script) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.running.Go(func() {
			defer conn.Close()
			script(&Conn{Conn: conn, server: s, read: bufio.NewReader(conn)})
		})
	}
}

func (s *Server) close() {
	s.listener.Close()
	close(s.Gone)
	s.mu.Lock()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Requests gives the requests read so far, over all connections.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Request reads one whole request and keeps it. ok is false if the peer went.
func (c *Conn) Request() (r Request, ok bool) {
	if !c.asked {
		c.asked = true
		if speaksHTTP2(c.read) {
			c.h2 = newH2(c.Conn, c.read)
		}
	}
	if c.h2 != nil {
		r, ok = c.h2.request()
	} else {
		r, ok = c.plainRequest()
	}
	if !ok {
		return Request{}, false
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.requests = append(c.server.requests, r)
	return r, true
}

func (c *Conn) plainRequest() (r Request, ok bool) {
	req, err := http.ReadRequest(c.read)
	if err != nil {
		return Request{}, false
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return Request{}, false
	}
	return Request{Method: req.Method, Header: req.Header, Body: body}, true
}

// Say writes text as it is, or to a peer that speaks HTTP/2 the same in frames;
// false if the peer has gone.
func (c *Conn) Say(text string) bool {
	if c.h2 != nil {
		return c.h2.say(text) == nil
	}
	_, err := io.WriteString(c, text)
	return err == nil
}

// Reset ends the connection with a reset instead of an orderly close.
func (c *Conn) Reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the close is only an orderly one
	}
	c.Close()
}

// Always reads requests and gives each the same answer.
func Always(answer string) Script {
	return func(c *Conn) {
		for {
			if _, ok := c.Request(); !ok || !c.Say(answer) {
				return
			}
		}
	}
}

// HTTP writes an answer down: header lines end with CR LF each.
func HTTP(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n%s\r\n%s",
		status, http.StatusText(status), len(body), header, body)
}
