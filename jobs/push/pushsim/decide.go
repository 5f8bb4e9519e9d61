package pushsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// prefixes are the ones that a token may begin with to misbehave.
var prefixes = slices.Concat(
	[]string{"expired-", "down-", "bad-", "forbidden-", "busy-", "slow-", "drop-", "html-", "error-"},
	fcmPrefixes,
	webPushPrefixes,
)

const signInPage = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Sign in to go on.</body></html>"

// decide says what a well-formed call gets, and delivers it where it is taken.
func (s *Server) decide(sw *Switches, c *call, authorization string) answer {
	if a, stop := s.closed(sw, authorization); stop {
		return a
	}
	if sw.HonourKeys && c.key != "" && s.book.took(c.key) {
		return taken(keyID(c.key))
	}
	switch s.habits.of(c.token) {
	case "expired-":
		return refusal(http.StatusGone, "Unregistered")
	case "down-":
		return refusal(http.StatusServiceUnavailable, "Unavailable")
	case "bad-":
		return refusal(http.StatusBadRequest, "BadDeviceToken")
	case "forbidden-":
		return refusal(http.StatusForbidden, "SenderIdMismatch")
	case "busy-":
		if s.habits.first("busy", c.token) {
			a := refusal(http.StatusTooManyRequests, "TooManyRequests")
			a.retryAfter = 1
			return a
		}
	case "slow-":
		return answer{hang: true}
	case "drop-":
		// Asked before the delivery, so that of two at once only one is cut.
		if s.habits.first("drop", c.dropKey()) {
			s.deliver(sw, c)
			return answer{cut: true}
		}
	case "html-":
		return answer{status: http.StatusOK, html: true, body: signInPage}
	case "error-":
		return refusal(http.StatusOK, "InvalidRegistration")
	default:
		if sw.TransientShare > 0 && unit(s.draw()) < sw.TransientShare {
			return refusal(http.StatusServiceUnavailable, "TryAgain")
		}
	}
	return s.deliver(sw, c)
}

// closed is what everybody gets, whatever the call says.
func (s *Server) closed(sw *Switches, authorization string) (answer, bool) {
	if sw.Outage {
		return refusal(http.StatusServiceUnavailable, "Outage"), true
	}
	if sw.Redirect != "" {
		a := refusal(http.StatusFound, "Moved")
		a.location = sw.Redirect
		return a, true
	}
	if sw.Refuse || s.cfg.Token != "" && authorization != "Bearer "+s.cfg.Token {
		return refusal(http.StatusUnauthorized, "InvalidCredentials"), true
	}
	if sw.Forbid {
		return refusal(http.StatusForbidden, "Forbidden"), true
	}
	if sw.RateLimit > 0 {
		a := refusal(http.StatusTooManyRequests, "TooManyRequests")
		a.retryAfter = int((sw.RateLimit + time.Second - 1) / time.Second)
		return a, true
	}
	return answer{}, false
}

// deliver takes the call, unless its key was taken in the meantime.
func (s *Server) deliver(sw *Switches, c *call) answer {
	if sw.HonourKeys && c.key != "" {
		if s.book.claim(c.key) {
			s.book.deliver(c)
		}
		return taken(keyID(c.key))
	}
	return taken(s.book.deliver(c))
}

func taken(id string) answer {
	return answer{status: http.StatusOK, body: `{"message_id":"` + id + `"}`}
}

// draw gives the next of a fixed sequence that looks random (splitmix64).
func (s *Server) draw() uint64 {
	z := s.cfg.Seed + s.draws.Add(1)*0x9e3779b97f4a7c15
	return mix(z)
}

// Mend makes tokens that begin with prefix good ones; Break undoes it. Both
// refuse a prefix that means nothing.
func (s *Server) Mend(prefix string) error { return s.habits.set(prefix, true) }

// Break undoes Mend.
func (s *Server) Break(prefix string) error { return s.habits.set(prefix, false) }

// habits knows which prefixes still misbehave, and what was done once already.
type habits struct {
	mu     sync.Mutex
	mended map[string]bool
	done   map[string]bool
}

// of gives the prefix by which token misbehaves, or nothing.
func (h *habits) of(token string) string {
	i := strings.IndexByte(token, '-')
	if i < 0 {
		return ""
	}
	for _, p := range prefixes {
		if token[:i+1] == p {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.mended[p] {
				return ""
			}
			return p
		}
	}
	return ""
}

// first tells whether what has not been done to name before.
func (h *habits) first(what, name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done == nil {
		h.done = make(map[string]bool)
	}
	k := what + " " + name
	if h.done[k] {
		return false
	}
	h.done[k] = true
	return true
}

func (h *habits) set(prefix string, mended bool) error {
	for _, p := range prefixes {
		if p == prefix {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.mended == nil {
				h.mended = make(map[string]bool)
			}
			h.mended[p] = mended
			return nil
		}
	}
	return fmt.Errorf("pushsim: no token misbehaves by the prefix %q", prefix)
}

// forget clears what was done once; what is mended stays mended.
func (h *habits) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = nil
}
