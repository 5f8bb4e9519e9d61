package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// Errors of this package's own. The rest comes from package db.
var (
	errCrossOrigin = errors.New("the request came from another site")
	errNoRoute     = errors.New("there is nothing at this address")
	errNoToken     = errors.New("no bearer token was sent")
	errBadToken    = errors.New("the bearer token is not valid")
	errSignedOut   = errors.New("nobody is signed in")
	errOwesSecond  = errors.New("a second factor has to be set up first")
	errUnsure      = errors.New("the time for an answer ran out while the work went on")
)

// forbiddenError says that a route needs another role.
type forbiddenError struct {
	have db.Role
	need []db.Role
}

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("this needs the role %s; yours is %s", e.needs(), e.have)
}

func (e *forbiddenError) needs() string {
	names := make([]string, len(e.need))
	for i, r := range e.need {
		names[i] = string(r)
	}
	return strings.Join(names, " or ")
}

// methodError says that a path exists, but not for this method.
type methodError struct{ allow string }

func (e *methodError) Error() string { return "this address takes " + e.allow + " only" }

// endpointError says that a host of endpoints could not be looked up.
type endpointError struct{ host string }

func (e *endpointError) Error() string { return "the host " + e.host + " could not be looked up" }

// badRequestError says that a body cannot be read at all.
type badRequestError struct {
	status        int
	code, message string
}

func (e *badRequestError) Error() string { return e.message }

// failure is an error as it is told to whoever asked.
type failure struct {
	Status     int
	Code       string // stable, for programs
	Detail     string // for people: what is the case, and what to do
	Fields     []db.FieldError
	RetryAfter time.Duration // 0: not said
	Object     int64         // number of what stands in the way; 0: none
	RequestID  string
	Safe       bool      // doing it again does nothing twice
	Message    string    // of the runbook; empty: none
	Since      time.Time // since when it is so; zero: not known
}

// unavailableRetry is when a request that met an outage may come again.
const unavailableRetry = 2 * time.Second

// fail answers err in the form of the route: problem details to a program, a
// page or a part of one to a person.
func (s *Server) fail(w *recorder, r *http.Request, err error) {
	st := stateOf(r.Context())
	if w.status != 0 { // too late: the log has it
		return
	}
	r = r.WithContext(context.WithoutCancel(r.Context())) // its time may be over, and a page is rendered still
	s.watch.noted(err)
	f := explain(err)
	s.addMessage(&f, err)
	f.RequestID = st.id
	f.Safe = st.route == nil || !st.route.once
	if f.Status >= 500 {
		f.Detail += repeatAdvice(f.Safe)
	}
	h := w.Header()
	for _, name := range []string{"Location", "Content-Length", "Content-Type", "ETag", "Last-Modified"} {
		h.Del(name)
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((f.RetryAfter+time.Second-1)/time.Second)))
	}
	var method *methodError
	if errors.As(err, &method) {
		h.Set("Allow", method.allow)
	}
	switch {
	case isAPI(st.route, r):
		writeProblem(w, r, f, err)
	case errors.Is(err, errOwesSecond) && r.Method == http.MethodGet && !isHTMX(r):
		_ = seeOther(w, r, "/account/second")
	case errors.Is(err, errSignedOut):
		_ = askToSignIn(w, r) // a note that cannot be made leaves the status alone
	default:
		s.presentFailure(w, r, f)
	}
}

func isAPI(rt *route, r *http.Request) bool {
	if rt != nil && rt.kind != open {
		return rt.kind == api
	}
	return strings.HasPrefix(r.URL.Path, "/api/")
}

func repeatAdvice(safe bool) string {
	if safe {
		return " Sending it again is safe."
	}
	return " It may have been done all the same: look before you send it again."
}

// explain turns an error into what is said about it. What it does not know is
// an internal error, whose words stay in the log.
func explain(err error) failure {
	if f, ok := explainRefusal(err); ok {
		return f
	}
	if f, ok := explainStored(err); ok {
		return f
	}
	var endpoint *endpointError
	switch {
	case errors.As(err, &endpoint):
		return failure{Status: 503, Code: "unavailable", RetryAfter: unavailableRetry,
			Detail: "The host " + endpoint.host + " could not be looked up now, so nothing was stored."}
	case errors.Is(err, errUnsure), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), db.Unavailable(err):
		return failure{Status: 503, Code: "unavailable", RetryAfter: unavailableRetry, Detail: unavailableDetail(err)}
	case errors.Is(err, errStopping):
		return failure{Status: 503, Code: "stopping", RetryAfter: 5 * time.Second,
			Detail: "The server is being restarted, so nothing of the file was stored."}
	case errors.Is(err, errNoInspector):
		return failure{Status: 503, Code: "unavailable", Detail: "The queues cannot be seen from this process."}
	default:
		return failure{Status: 500, Code: "internal",
			Detail: "Something went wrong on our side; the log has it under the request id."}
	}
}

// unavailableDetail says what could not be had. Where nothing was written for
// certain, it says that too.
func unavailableDetail(err error) string {
	switch db.CauseOf(err) {
	case db.ReadOnly:
		return "The database takes no writes at the moment, so nothing was done."
	case db.DiskFull:
		return "The database's disk is full, so nothing was done."
	case db.Crowded:
		return "The database has no connection left, so nothing was done."
	case db.Away:
		return "The database did not answer in time, so nothing certain can be said about this request."
	default:
		return "No answer came in time from what this needs, so nothing certain can be said about this request."
	}
}

// addMessage names the page of the runbook that explains an outage, and since
// when it lasts.
func (s *Server) addMessage(f *failure, err error) {
	var endpoint *endpointError
	if f.Status != http.StatusServiceUnavailable || errors.Is(err, errNoInspector) || errors.As(err, &endpoint) {
		return
	}
	f.Message = "answer-unsure"
	if o := s.watch.outlook(); o.trouble != db.NoCause {
		f.Message, f.Since = troubleMessage(o.trouble), o.since
	}
}

// explainRefusal knows the errors of a request that reached no data.
func explainRefusal(err error) (failure, bool) {
	var (
		forbidden *forbiddenError
		method    *methodError
		bad       *badRequestError
		throttled *throttledError
		large     *http.MaxBytesError
	)
	switch {
	case errors.Is(err, errCrossOrigin):
		return failure{Status: 403, Code: "cross_origin", Detail: "The request came from another site. Open the page here and try again."}, true
	case errors.Is(err, errNoRoute):
		return failure{Status: 404, Code: "not_found", Detail: "There is nothing at this address."}, true
	case errors.Is(err, errNoToken):
		return failure{Status: 401, Code: "unauthorized", Detail: "Send a token as Authorization: Bearer …"}, true
	case errors.Is(err, errBadToken):
		return failure{Status: 401, Code: "unauthorized", Detail: "The token is not valid, or was revoked."}, true
	case errors.Is(err, errSignedOut):
		return failure{Status: 401, Code: "unauthorized", Detail: "Sign in first."}, true
	case errors.Is(err, errOwesSecond):
		return failure{Status: 403, Code: "second_factor", Detail: "Set up your second factor first: open Your account, Second factor. Nothing was done."}, true
	case errors.As(err, &forbidden):
		return failure{Status: 403, Code: "forbidden", Detail: upper(forbidden.Error()) + "."}, true
	case errors.As(err, &method):
		return failure{Status: 405, Code: "method_not_allowed", Detail: upper(method.Error()) + "."}, true
	case errors.As(err, &bad):
		return failure{Status: bad.status, Code: bad.code, Detail: bad.message}, true
	case errors.As(err, &throttled):
		return failure{Status: 429, Code: "too_many_attempts", RetryAfter: throttled.wait, Detail: upper(throttled.Error()) + "."}, true
	case errors.As(err, &large):
		return failure{Status: 413, Code: "too_large", Detail: fmt.Sprintf("The body is larger than %d bytes.", large.Limit)}, true
	}
	return failure{}, false
}

// explainStored knows the errors that package db means for the caller.
func explainStored(err error) (failure, bool) {
	var (
		invalid  *db.InvalidError
		unknown  *unknownFieldError
		conflict *db.ConflictError
	)
	switch {
	case errors.As(err, &unknown):
		return failure{Status: 422, Code: "unknown_field", Detail: "Some fields are not known here; nothing was stored.", Fields: unknown.fields}, true
	case errors.As(err, &invalid):
		return failure{Status: 422, Code: "invalid", Detail: "Some fields are not right; nothing was stored.", Fields: invalid.Fields}, true
	case errors.As(err, &conflict):
		f := failure{Status: 409, Code: conflict.Code, Detail: upper(conflict.Message) + ".", Object: conflict.ID}
		if conflict.Field != "" {
			f.Fields = []db.FieldError{{Field: conflict.Field, Message: conflict.Message}}
		}
		return f, true
	case errors.Is(err, db.ErrNotFound):
		return failure{Status: 404, Code: "not_found", Detail: "There is no such thing, or not any more."}, true
	case errors.Is(err, db.ErrStale):
		return failure{Status: 409, Code: "stale", Detail: "Somebody else was faster. Look at the new state and decide again."}, true
	case errors.Is(err, ErrTaskGone):
		return failure{Status: 409, Code: "task_gone", Detail: "The task is not there any more, or is being worked on."}, true
	}
	return failure{}, false
}

// upper makes the first letter of an ASCII sentence a capital.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// askToSignIn leads to the sign-in page and, from there, back to where the
// person was. A page that asked by htmx stays as it is, so that nothing that was
// typed is lost, and gets a note with the way to sign in beside it.
func askToSignIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "HX-Request")
	if isHTMX(r) {
		return render(w, r, http.StatusUnauthorized, views.ProblemNote(signedOutNote(localPart(r.Header.Get("HX-Current-URL")))))
	}
	back := r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		back = localPart(r.Header.Get("Referer"))
	}
	http.Redirect(w, r, signInPath(back), http.StatusSeeOther)
	return nil
}

func signInPath(next string) string {
	if next = safeNext(next); next == "/" {
		return "/signin"
	}
	return "/signin?next=" + url.QueryEscape(next)
}

// localPart gives path and query of an address, or "" for what is none.
func localPart(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.RequestURI()
}

// safeNext gives next if it is a path of this site, and "/" otherwise: nobody
// shall be led to another site by a link to our sign-in page.
func safeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\x00\r\n\t") {
		return "/"
	}
	return next
}
