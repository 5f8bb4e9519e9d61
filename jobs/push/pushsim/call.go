package pushsim

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBody = 64 << 10
	maxHang = 60 * time.Second
)

var (
	jsonType = []string{"application/json"}
	htmlType = []string{"text/html; charset=utf-8"}
	buffers  = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}
)

// answer is what a call gets. hang and cut are instead of an answer.
type answer struct {
	status     int // 0: none
	retryAfter int // seconds
	location   string
	html       bool
	body       string
	hang, cut  bool
}

func refusal(status int, code string) answer {
	return answer{status: status, body: `{"error":{"code":"` + code + `","message":"` + http.StatusText(status) + `"}}`}
}

// ServeHTTP answers a call or a control request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_control/") {
		s.control.ServeHTTP(w, r)
		return
	}
	now := time.Now()
	s.book.enter(now)
	defer s.book.leave()
	sw := s.switches.Load()
	a := s.take(sw, r, now)
	if a.hang {
		s.hang(r)
		panic(http.ErrAbortHandler)
	}
	if d := sw.delay(s.draw()); d > 0 {
		time.Sleep(d)
	}
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	a.write(w)
}

// take reads the call, decides and counts.
func (s *Server) take(sw *Switches, r *http.Request, now time.Time) answer {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	body, err := readBody(r, (*buf)[:0])
	*buf = body
	c := call{key: r.Header.Get("Idempotency-Key"), at: now}
	var a answer
	switch {
	case errors.Is(err, errTooLarge):
		a = refusal(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	case err != nil || !c.parse(body):
		a = refusal(http.StatusBadRequest, "InvalidBody")
	case r.Method != http.MethodPost:
		a = refusal(http.StatusMethodNotAllowed, "MethodNotAllowed")
	default:
		a = s.decide(sw, &c, r.Header.Get("Authorization"))
	}
	s.book.answered(&c, a.status)
	return a
}

var errTooLarge = errors.New("pushsim: body over 64 KiB")

// readBody appends the body to buf.
func readBody(r *http.Request, buf []byte) ([]byte, error) {
	if r.ContentLength > maxBody {
		return buf, errTooLarge
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxBody:
			return buf, errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// hang waits until the client has gone, the stand-in closes, or maxHang.
func (s *Server) hang(r *http.Request) {
	limit := time.NewTimer(maxHang)
	defer limit.Stop()
	select {
	case <-r.Context().Done():
	case <-s.stopped:
	case <-limit.C:
	}
}

func (a *answer) write(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"] = jsonType
	if a.html {
		h["Content-Type"] = htmlType
	}
	h["Date"] = nil
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client may have gone; it is counted already
}
