package pushsim

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	maxBody = 64 << 10
	maxHang = 60 * time.Second
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

func (a *answer) contentType() string {
	if a.html {
		return "text/html; charset=utf-8"
	}
	return "application/json"
}

// ServeHTTP answers a call or a control request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if serve := handlerOf(r.URL.Path); serve != nil {
		serve(s, w, r)
		return
	}
	c := call{at: time.Now(), key: r.Header.Get("Idempotency-Key")}
	s.book.enter(c.at)
	defer s.book.leave()
	sw := s.switches.Load()
	a := s.takeRequest(sw, &c, w, r)
	if a.hang {
		s.hang(r)
		panic(http.ErrAbortHandler)
	}
	if !s.pass(sw.delay(s.draw())) || a.cut {
		panic(http.ErrAbortHandler)
	}
	a.write(w)
}

// takeRequest reads the body, and takes the call if there is one.
func (s *Server) takeRequest(sw *Switches, c *call, w http.ResponseWriter, r *http.Request) answer {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var a answer
	var tooLarge *http.MaxBytesError
	switch {
	case r.Method != http.MethodPost:
		a = refusal(http.StatusMethodNotAllowed, "MethodNotAllowed")
	case errors.As(err, &tooLarge):
		a = refusal(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	case err != nil:
		a = answer{cut: true}
	default:
		return s.take(sw, c, r.Header.Get("Authorization"), body)
	}
	s.book.answered(c, a.status)
	return a
}

// take reads the call out of its body, decides and counts.
func (s *Server) take(sw *Switches, c *call, authorization string, body []byte) answer {
	a := refusal(http.StatusBadRequest, "InvalidBody")
	if c.parse(body) {
		a = s.decide(sw, c, authorization)
	}
	s.book.answered(c, a.status)
	return a
}

// pass lets the latency pass. It is false if the stand-in closed meanwhile.
func (s *Server) pass(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-s.stopped:
		return false
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
	h.Set("Content-Type", a.contentType())
	h["Date"] = nil
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the client may have gone; it is counted already
}
