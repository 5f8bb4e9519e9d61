package pushsim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// fcmAnswer is what a call to FCM gets.
type fcmAnswer struct {
	answer
	retryDate bool // Retry-After as a date
	goAway    bool // the connection ends after it
}

const (
	fcmTypeError      = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
	fcmTypeAPNs       = "type.googleapis.com/google.firebase.fcm.v1.ApnsError"
	fcmTypeBadRequest = "type.googleapis.com/google.rpc.BadRequest"
	fcmPage           = "<!DOCTYPE html><html lang=en><title>Error 503 (Service Unavailable)!!1</title>" +
		"<p><b>503.</b> <ins>That’s an error.</ins><p>The service is unavailable. Please try again in 30 seconds.</html>"
)

// fcmRefusal writes an error as Google's APIs do.
func fcmRefusal(status int, name, message string, details ...map[string]any) fcmAnswer {
	e := map[string]any{"code": status, "message": message, "status": name}
	if len(details) > 0 {
		e["details"] = details
	}
	body, _ := json.Marshal(map[string]any{"error": e}) // numbers and strings always encode
	return fcmAnswer{answer: answer{status: status, body: string(body)}}
}

func fcmCode(code string) map[string]any {
	return map[string]any{"@type": fcmTypeError, "errorCode": code}
}

func (f *fcmFault) answer() fcmAnswer {
	violation := map[string]any{"description": f.words}
	if f.field != "" {
		violation["field"] = f.field
	}
	details := []map[string]any{{"@type": fcmTypeBadRequest, "fieldViolations": []any{violation}}}
	if f.size {
		details = append([]map[string]any{fcmCode("INVALID_ARGUMENT")}, details...)
	}
	return fcmRefusal(http.StatusBadRequest, "INVALID_ARGUMENT", f.words, details...)
}

// serveFCM answers POST /v1/projects/{project}/messages:send.
func (s *Server) serveFCM(w http.ResponseWriter, r *http.Request) {
	c := call{at: time.Now()}
	s.book.enter(c.at)
	defer s.book.leave()
	sw := s.switches.Load()
	a := s.takeFCM(sw, &c, w, r)
	s.book.answered(&c, a.status)
	if a.hang {
		s.hang(r)
		panic(http.ErrAbortHandler)
	}
	if !s.pass(sw.delay(s.draw())) || a.cut {
		panic(http.ErrAbortHandler)
	}
	if n := sw.FCM.GoAwayEvery; n > 0 && s.fcm.answers.Add(1)%int64(n) == 0 || a.goAway {
		w.Header().Set("Connection", "close") // by HTTP/2 net/http says GOAWAY
	}
	if a.retryDate {
		w.Header().Set("Retry-After", time.Now().Add(time.Duration(a.retryAfter)*time.Second).UTC().Format(http.TimeFormat))
		a.retryAfter = 0
	}
	a.write(w)
}

// takeFCM reads the body and decides.
func (s *Server) takeFCM(sw *Switches, c *call, w http.ResponseWriter, r *http.Request) fcmAnswer {
	project, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/projects/"), "/messages:send")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case !ok || r.Method != http.MethodPost:
		return fcmRefusal(http.StatusNotFound, "NOT_FOUND", "The requested URL was not found on this server.")
	case errors.As(err, &tooLarge):
		return fcmRefusal(http.StatusRequestEntityTooLarge, "INVALID_ARGUMENT", "Request payload size exceeds the limit.")
	case err != nil:
		return fcmAnswer{answer: answer{cut: true}}
	}
	if a, stop := s.closedFCM(sw, r.Header.Get("Authorization"), project); stop {
		return a
	}
	m, fault := readFCM(body)
	if m.value != "" {
		c.token, c.notice = m.address(), m.notice
	}
	if fault != nil {
		return fault.answer()
	}
	return s.decideFCM(sw, c, &m, project)
}

// address names the target as a sender does: a token as it is, the others with
// their kind.
func (m *fcmMessage) address() string {
	if m.target == "token" {
		return m.value
	}
	return m.target + ":" + m.value
}

// closedFCM is what everybody gets, whatever the message says.
func (s *Server) closedFCM(sw *Switches, authorization, project string) (fcmAnswer, bool) {
	speaks := s.fcm.project(authorization)
	switch {
	case sw.FCM.Page:
		return fcmAnswer{answer: answer{status: http.StatusServiceUnavailable, html: true, body: fcmPage}}, true
	case sw.Outage:
		return fcmUnavailable(), true
	case sw.Redirect != "":
		return fcmAnswer{answer: answer{status: http.StatusFound, location: sw.Redirect}}, true
	case authorization == "":
		return fcmRefusal(http.StatusUnauthorized, "UNAUTHENTICATED", "Request is missing required authentication credential. "+
			"Expected OAuth 2 access token, login cookie or other valid authentication credential."), true
	case sw.Refuse || speaks == "":
		return fcmRefusal(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials. "+
			"Expected OAuth 2 access token, login cookie or other valid authentication credential."), true
	case sw.Forbid || speaks != project:
		return fcmRefusal(http.StatusForbidden, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource "+
			"'//cloudresourcemanager.googleapis.com/projects/"+project+"' (or it may not exist)."), true
	case sw.RateLimit > 0:
		a := fcmQuota(sw.FCM.RetryAfter)
		if a.retryAfter > 0 {
			a.retryAfter = int((sw.RateLimit + time.Second - 1) / time.Second)
		}
		return a, true
	}
	return fcmAnswer{}, false
}

func fcmUnavailable() fcmAnswer {
	return fcmRefusal(http.StatusServiceUnavailable, "UNAVAILABLE", "The service is currently unavailable.", fcmCode("UNAVAILABLE"))
}

// fcmQuota is a 429 whose Retry-After of 1 s has one of the forms of
// FCMSwitches.RetryAfter.
func fcmQuota(form string) fcmAnswer {
	a := fcmRefusal(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Messages sent' and limit "+
		"'Messages sent per minute' of service 'fcm.googleapis.com'.", fcmCode("QUOTA_EXCEEDED"))
	a.retryDate = form == "date"
	if form != "none" {
		a.retryAfter = 1
	}
	return a
}
