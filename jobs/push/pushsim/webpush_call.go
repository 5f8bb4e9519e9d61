package pushsim

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// webPushAnswer is what a call to a push service gets.
type webPushAnswer struct {
	answer
	retryDate bool        // Retry-After as a date
	goAway    bool        // the connection ends after it
	header    [][2]string // further ones
}

const webPushPage = "<!DOCTYPE html><html><head><title>503 Service Unavailable</title></head><body>Come back later.</body></html>"

// reason is a refusal in Apple's words.
func reason(status int, word string) webPushAnswer {
	body, _ := json.Marshal(map[string]string{"reason": word}) // strings always encode
	return webPushAnswer{answer: answer{status: status, body: string(body)}}
}

// errno is a refusal in Mozilla's.
func errno(status, number int, words string) webPushAnswer {
	body, _ := json.Marshal(map[string]any{"code": status, "errno": number, "error": http.StatusText(status), "message": words})
	return webPushAnswer{answer: answer{status: status, body: string(body)}}
}

// serveWebPush answers POST /wp/{token}.
func (s *Server) serveWebPush(w http.ResponseWriter, r *http.Request) {
	c := call{at: time.Now()}
	s.book.enter(c.at)
	defer s.book.leave()
	sw := s.switches.Load()
	a := s.takeWebPush(sw, &c, w, r)
	s.book.answered(&c, a.status)
	if a.hang {
		s.hang(r)
		panic(http.ErrAbortHandler)
	}
	if !s.pass(sw.delay(s.draw())) || a.cut {
		panic(http.ErrAbortHandler)
	}
	for _, h := range a.header {
		w.Header().Set(h[0], h[1])
	}
	if a.goAway {
		w.Header().Set("Connection", "close") // by HTTP/2 net/http says GOAWAY
	}
	if a.retryDate {
		w.Header().Set("Retry-After", time.Now().Add(time.Duration(a.retryAfter)*time.Second).UTC().Format(http.TimeFormat))
		a.retryAfter = 0
	}
	a.write(w)
}

// takeWebPush reads the body, checks and decides.
func (s *Server) takeWebPush(sw *Switches, c *call, w http.ResponseWriter, r *http.Request) webPushAnswer {
	token, errToken := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/wp/"))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errToken != nil || token == "":
		return errno(http.StatusNotFound, 102, "Request did not validate invalid token")
	case r.Method != http.MethodPost:
		return reason(http.StatusMethodNotAllowed, "MethodNotAllowed")
	case errors.As(err, &tooLarge):
		return reason(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	case err != nil:
		return webPushAnswer{answer: answer{cut: true}}
	}
	c.token = token
	if a, stop := s.closedWebPush(sw); stop {
		return a
	}
	key, fault := s.vapid.check(r.Header.Get("Authorization"), originOf(r), c.at)
	if fault != "" || sw.Refuse {
		return errno(http.StatusUnauthorized, 109, "Request did not validate "+fault)
	}
	if a := checkWebPush(r.Header, body); a.status != 0 {
		return a
	}
	if sw.Forbid {
		return reason(http.StatusForbidden, "BadJwtToken")
	}
	if sw.WebPush.Key != "" && key != sw.WebPush.Key {
		return reason(http.StatusForbidden, "VapidPkHashMismatch")
	}
	if !c.openWebPush(sw.WebPush.Blind, r.Header.Get("Topic"), body) {
		return errno(http.StatusBadRequest, 110, "The subscription's keys do not open the body, or there is no notice_id in it")
	}
	return s.decideWebPush(sw, c)
}

// openWebPush finds the notice.
func (c *call) openWebPush(blind bool, topic string, body []byte) bool {
	if blind {
		c.notice = int64(maphash.String(seedA, topic) >> 1)
		return true
	}
	plain, err := open(c.token, body)
	var p struct {
		Notice *int64 `json:"notice_id"`
	}
	if err != nil || json.Unmarshal(plain, &p) != nil || p.Notice == nil {
		return false
	}
	c.notice = *p.Notice
	return true
}

// closedWebPush is what everybody gets, whatever the call says.
func (s *Server) closedWebPush(sw *Switches) (webPushAnswer, bool) {
	switch {
	case sw.WebPush.Page:
		return webPushAnswer{answer: answer{status: http.StatusServiceUnavailable, html: true, body: webPushPage}}, true
	case sw.Outage:
		return errno(http.StatusServiceUnavailable, 201, "Use exponential back-off for retries"), true
	case sw.Redirect != "":
		return webPushAnswer{answer: answer{status: http.StatusFound, location: sw.Redirect}}, true
	case sw.RateLimit > 0:
		a := webPushQuota(sw.WebPush.RetryAfter)
		if a.retryAfter > 0 {
			a.retryAfter = int((sw.RateLimit + time.Second - 1) / time.Second)
		}
		return a, true
	}
	return webPushAnswer{}, false
}

// webPushQuota is a 429 whose Retry-After of 1 s has one of the forms of
// WebPushSwitches.RetryAfter.
func webPushQuota(form string) webPushAnswer {
	a := reason(http.StatusTooManyRequests, "TooManyRequests")
	a.retryDate = form == "date"
	if form != "none" {
		a.retryAfter = 1
	}
	return a
}

var topicText = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// checkWebPush holds the head and the body's form against the RFCs. The zero answer
// says that all is well.
func checkWebPush(h http.Header, body []byte) webPushAnswer {
	ttl, err := strconv.ParseInt(h.Get("TTL"), 10, 64)
	topic := h.Get("Topic")
	switch {
	case h.Get("TTL") == "":
		return errno(http.StatusBadRequest, 111, "Missing TTL header")
	case err != nil || ttl < 0:
		return reason(http.StatusBadRequest, "BadTtl")
	case !strings.Contains(" very-low low normal high ", " "+h.Get("Urgency")+" ") && h.Get("Urgency") != "":
		return reason(http.StatusBadRequest, "BadUrgency")
	case h.Values("Topic") != nil && (!topicText.MatchString(topic) || len(topic)%4 == 1):
		return reason(http.StatusBadRequest, "BadWebPushTopic")
	case h.Get("Content-Encoding") != "aes128gcm":
		return errno(http.StatusUnsupportedMediaType, 110, "Unknown Content-Encoding")
	case len(body) > maxRecord:
		return reason(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	case !oneRecord(body):
		return errno(http.StatusBadRequest, 110, "The body is not one record of aes128gcm")
	}
	return webPushAnswer{}
}
