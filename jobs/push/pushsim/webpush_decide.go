package pushsim

import "net/http"

// webPushPrefixes are the ones that only Web Push knows.
var webPushPrefixes = []string{"missing-", "otherkey-", "badjwt-", "topic-", "throttled-"}

// decideWebPush says what a well-formed message gets, and delivers it where it is
// taken.
func (s *Server) decideWebPush(sw *Switches, c *call) webPushAnswer {
	habit := s.habits.of(c.token)
	if a, ok := webPushRefusal(habit); ok {
		return a
	}
	switch habit {
	case "busy-":
		if s.habits.first("busy", c.token) {
			return webPushQuota("seconds")
		}
	case "slow-":
		return webPushAnswer{answer: answer{hang: true}}
	case "drop-":
		if s.habits.first("drop", c.dropKey()) {
			s.book.deliver(c)
			return webPushAnswer{answer: answer{cut: true}}
		}
	case "goaway-":
		a := s.takenWebPush(c)
		a.goAway = true
		return a
	case "":
		if sw.TransientShare > 0 && unit(s.draw()) < sw.TransientShare {
			return errno(http.StatusServiceUnavailable, 201, "Use exponential back-off for retries")
		}
	}
	return s.takenWebPush(c)
}

// webPushRefusal is what a token gets always that begins so.
func webPushRefusal(habit string) (webPushAnswer, bool) {
	switch habit {
	case "expired-":
		return errno(http.StatusGone, 106, "No such subscription"), true
	case "missing-":
		return errno(http.StatusNotFound, 102, "Request did not validate invalid token"), true
	case "bad-":
		return errno(http.StatusBadRequest, 110, "Invalid crypto headers"), true
	case "forbidden-":
		return webPushAnswer{answer: answer{status: http.StatusForbidden, html: true,
			body: "<HTML><HEAD><TITLE>Forbidden</TITLE></HEAD><BODY>the VAPID credentials in the authorization header do not " +
				"correspond to the credentials used to create the subscriptions.</BODY></HTML>"}}, true
	case "otherkey-":
		return reason(http.StatusForbidden, "VapidPkHashMismatch"), true
	case "badjwt-":
		return reason(http.StatusForbidden, "BadJwtToken"), true
	case "topic-":
		return reason(http.StatusBadRequest, "BadWebPushTopic"), true
	case "throttled-":
		a := webPushAnswer{answer: answer{status: http.StatusNotAcceptable, retryAfter: 1}}
		a.header = [][2]string{{"X-WNS-Status", "channelthrottled"}}
		return a, true
	case "internal-":
		return errno(http.StatusInternalServerError, 999, "Unknown error"), true
	case "down-":
		return errno(http.StatusServiceUnavailable, 201, "Use exponential back-off for retries"), true
	case "page-":
		return webPushAnswer{answer: answer{status: http.StatusServiceUnavailable, html: true, body: webPushPage}}, true
	case "quota-":
		return webPushQuota("seconds"), true
	case "quotadate-":
		a := webPushQuota("date")
		a.retryAfter = 120 // more than a sender's clock and this one may differ
		return a, true
	case "quotaopen-":
		return webPushQuota("none"), true
	}
	return webPushAnswer{}, false
}

func (s *Server) takenWebPush(c *call) webPushAnswer {
	return webPushAnswer{answer: answer{status: http.StatusCreated, location: "/m/" + s.book.deliver(c)}}
}
