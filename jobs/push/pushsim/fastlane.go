package pushsim

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The fast lane reads plain calls by hand, because the stand-in is measured
// against and net/http would take more of the machine than what is measured.
// A plain call is a POST by HTTP/1.1 with a Content-Length and a head of less
// than 4 KiB. With the first request that is anything else, the connection goes
// to net/http for good; both lanes decide by the same code.

// lanes keeps the connections of the fast lane, so that Close can cut them.
type lanes struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	left   sync.WaitGroup
}

// add is false once all are closed.
func (l *lanes) add(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.conns == nil {
		l.conns = make(map[net.Conn]struct{})
	}
	l.conns[c] = struct{}{}
	l.left.Add(1)
	return true
}

func (l *lanes) remove(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.left.Done()
}

// close cuts all connections and waits until nobody uses them.
func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	for c := range l.conns {
		_ = c.Close() // closed or not, it is of no use any more
	}
	l.mu.Unlock()
	l.left.Wait()
}

// accept serves each connection of ln until ln is closed.
func (s *Server) accept(ln net.Listener, slow *handover) {
	for {
		conn, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(5 * time.Millisecond) // out of files: they come back
			continue
		}
		s.book.connections.Add(1)
		if !s.lanes.add(conn) {
			_ = conn.Close() // came while closing
			return
		}
		go func() {
			r := bufio.NewReader(conn)
			plain := s.serve(conn, r)
			s.lanes.remove(conn)
			if plain || !slow.give(&lent{Conn: conn, r: r}) {
				_ = conn.Close() // the peer learns it, nobody else asks
			}
		}()
	}
}

// serve answers plain calls. It is false if a request came that is not one,
// which is then still unread.
func (s *Server) serve(conn net.Conn, r *bufio.Reader) bool {
	var body, out []byte
	for {
		h, size, err := peekHead(r)
		if err != nil {
			return true
		}
		if !h.plain {
			return false
		}
		c := call{at: time.Now(), key: string(h.key)}
		bearer := string(h.authorization)
		body = append(body[:0], make([]byte, h.length)...)
		if _, err := r.Discard(size); err != nil {
			return true
		}
		if _, err := io.ReadFull(r, body); err != nil {
			return true
		}
		if out = s.run(conn, r, &c, bearer, body, out[:0]); out == nil {
			return true
		}
		if _, err := conn.Write(out); err != nil {
			return true
		}
	}
}

// run takes a call, lets its latency pass and appends its answer to out; nil to
// cut the connection.
func (s *Server) run(conn net.Conn, r *bufio.Reader, c *call, bearer string, body, out []byte) []byte {
	s.book.enter(c.at)
	defer s.book.leave()
	sw := s.switches.Load()
	a := s.take(sw, c, bearer, body)
	if a.hang {
		// Only the client's going, Close, or the deadline ends this read.
		_ = conn.SetReadDeadline(time.Now().Add(maxHang))
		_, _ = r.Peek(1)
		return nil
	}
	if !s.pass(sw.delay(s.draw())) || a.cut {
		return nil
	}
	return a.append(out)
}

// head is what the fast lane wants of a request; the slices last until the next
// read.
type head struct {
	plain              bool
	length             int
	key, authorization []byte
}

// peekHead waits for a whole head and gives its size in bytes. It reads
// nothing. A head that is not plain may not be whole.
func peekHead(r *bufio.Reader) (h head, size int, err error) {
	for want := 1; ; want = r.Buffered() + 1 {
		if _, err := r.Peek(want); err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return head{}, 0, err
		}
		b, _ := r.Peek(r.Buffered())
		if end := bytes.Index(b, []byte("\r\n\r\n")); end >= 0 {
			return parseHead(b[:end]), end + 4, nil
		}
	}
}

func parseHead(b []byte) (h head) {
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	line, ok := bytes.CutPrefix(line, []byte("POST "))
	path, version, _ := bytes.Cut(line, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte("?"))
	if !ok || string(version) != "HTTP/1.1" || handlerOf(string(path)) != nil {
		return head{}
	}
	h.length = -1
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !h.field(name, bytes.TrimSpace(value)) {
			return head{}
		}
	}
	h.plain = h.length >= 0
	return h
}

// field takes one header line in. It is false where net/http must see to it.
func (h *head) field(name, value []byte) bool {
	switch {
	case is(name, "Content-Length"):
		n, err := strconv.Atoi(string(value))
		h.length = n
		return err == nil && n >= 0 && n <= maxBody
	case is(name, "Idempotency-Key"):
		h.key = value
	case is(name, "Authorization"):
		h.authorization = value
	case is(name, "Transfer-Encoding"), is(name, "Expect"), is(name, "Connection"), is(name, "Upgrade"):
		return false
	}
	return true
}

func is(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// append writes the answer as HTTP/1.1.
func (a *answer) append(out []byte) []byte {
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(a.status), 10)
	out = append(append(out, ' '), http.StatusText(a.status)...)
	out = append(append(out, "\r\nContent-Type: "...), a.contentType()...)
	out = append(out, "\r\nContent-Length: "...)
	out = strconv.AppendInt(out, int64(len(a.body)), 10)
	if a.retryAfter > 0 {
		out = append(out, "\r\nRetry-After: "...)
		out = strconv.AppendInt(out, int64(a.retryAfter), 10)
	}
	if a.location != "" {
		out = append(append(out, "\r\nLocation: "...), a.location...)
	}
	return append(append(out, "\r\n\r\n"...), a.body...)
}
