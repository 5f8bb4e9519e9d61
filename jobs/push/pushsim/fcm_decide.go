package pushsim

import (
	"net/http"
	"strconv"
	"strings"
)

// fcmPrefixes are the ones that only FCM knows.
var fcmPrefixes = []string{"thirdparty-", "quota-", "quotadate-", "quotaopen-", "page-", "internal-", "invalid-", "goaway-"}

// decideFCM says what a well-formed message gets, and delivers it where it is taken.
func (s *Server) decideFCM(sw *Switches, c *call, m *fcmMessage, project string) fcmAnswer {
	switch s.habits.of(m.value) {
	case "expired-":
		return fcmRefusal(http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.", fcmCode("UNREGISTERED"))
	case "down-":
		return fcmUnavailable()
	case "bad-":
		return fcmRefusal(http.StatusBadRequest, "INVALID_ARGUMENT",
			"The registration token is not a valid FCM registration token", fcmCode("INVALID_ARGUMENT"))
	case "forbidden-":
		return fcmRefusal(http.StatusForbidden, "PERMISSION_DENIED", "SenderId mismatch", fcmCode("SENDER_ID_MISMATCH"))
	case "thirdparty-":
		return fcmRefusal(http.StatusUnauthorized, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service",
			fcmCode("THIRD_PARTY_AUTH_ERROR"), map[string]any{"@type": fcmTypeAPNs, "statusCode": 403, "reason": "InvalidProviderToken"})
	case "invalid-":
		f := fcmFault{field: "message.notification.title", words: "Invalid value at 'message.notification.title'"}
		return f.answer()
	case "internal-":
		return fcmRefusal(http.StatusInternalServerError, "INTERNAL", "Internal error encountered.", fcmCode("INTERNAL"))
	case "quota-":
		return fcmQuota("seconds")
	case "quotadate-":
		a := fcmQuota("date")
		a.retryAfter = 120 // more than a sender's clock and this one may differ
		return a
	case "quotaopen-":
		return fcmQuota("none")
	case "page-":
		return fcmAnswer{answer: answer{status: http.StatusServiceUnavailable, html: true, body: fcmPage}}
	case "html-":
		return fcmAnswer{answer: answer{status: http.StatusOK, html: true, body: signInPage}}
	case "error-":
		return fcmAnswer{answer: refusal(http.StatusOK, "InvalidRegistration")}
	case "busy-":
		if s.habits.first("busy", m.value) {
			return fcmQuota("seconds")
		}
	case "slow-":
		return fcmAnswer{answer: answer{hang: true}}
	case "drop-":
		if !m.validateOnly && s.habits.first("drop", c.dropKey()) {
			s.book.deliver(c)
			return fcmAnswer{answer: answer{cut: true}}
		}
	case "goaway-":
		a := s.takenFCM(c, m, project)
		a.goAway = true
		return a
	default:
		if strings.ContainsAny(m.value, " \t\r\n") {
			return fcmRefusal(http.StatusBadRequest, "INVALID_ARGUMENT",
				"The registration token is not a valid FCM registration token", fcmCode("INVALID_ARGUMENT"))
		}
		if sw.TransientShare > 0 && unit(s.draw()) < sw.TransientShare {
			return fcmUnavailable()
		}
	}
	return s.takenFCM(c, m, project)
}

// takenFCM delivers the message, unless it is only a question.
func (s *Server) takenFCM(c *call, m *fcmMessage, project string) fcmAnswer {
	id := "fake_message_id"
	if !m.validateOnly {
		id = s.book.deliver(c)
	}
	return fcmAnswer{answer: answer{status: http.StatusOK,
		body: `{"name":` + strconv.Quote("projects/"+project+"/messages/"+id) + `}`}}
}
