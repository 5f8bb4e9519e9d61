package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"
)

const defaultBodyLimit = 1 << 20

// statusClientLeft stands in the log and the metrics for a request whose client
// was gone before there was an answer.
const statusClientLeft = 499

// ServeHTTP answers one request: it gives it an id, a span, a deadline and the
// headers that every answer has, lets its route answer, and writes one line of log.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	st := &state{id: newRequestID(r.Header.Get("X-Request-Id")), started: s.now(), address: addressOf(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), s.trusted)}
	h, pattern := s.mux.Handler(r)
	var ctx context.Context
	ctx, st.span = s.tracing.request(r, pattern, h, s.https)
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, stateKey{}, st), s.lasts(h))
	defer cancel()
	r = r.WithContext(ctx)
	rec := &recorder{ResponseWriter: w}
	setHeaders(rec.Header(), st.id)
	defer func() {
		if p := recover(); p != nil {
			s.panicked(rec, r, p)
		}
		s.finish(rec, r)
	}()
	if pattern == "" {
		st.err = unmatched(h, r)
	} else {
		s.mux.ServeHTTP(rec, r) // it finds h again, and with it what the path names
	}
	if st.err != nil {
		s.fail(rec, r, st.err)
	}
}

// lasts is how long the answer of h may take.
func (s *Server) lasts(h http.Handler) time.Duration {
	if b, ok := h.(bound); ok && b.rt.long {
		return s.limits.Upload
	}
	return s.limits.Handler
}

// bound is a route of one server, as the mux calls it.
type bound struct {
	s  *Server
	rt route
}

func (b bound) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	st := stateOf(r.Context())
	st.route = &b.rt
	st.err = b.s.run(&b.rt, w.(*recorder), r)
}

// run checks where a request comes from, who sends it and whether they may, and
// then hands it to the route's handler.
func (s *Server) run(rt *route, w *recorder, r *http.Request) error {
	if err := s.cross.Check(r); err != nil {
		return errCrossOrigin
	}
	r, err := s.identify(rt, r)
	if err != nil {
		return err
	}
	if rt.kind != open && !stateOf(r.Context()).away && !slices.Contains(rt.roles, actorOf(r).Role) {
		return s.forbid(rt, r)
	}
	limit := rt.bodyLimit
	if limit == 0 {
		limit = defaultBodyLimit
	}
	r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, limit)
	if rt.kind != api && r.Method == http.MethodPost && !rt.long {
		if err := readForm(r); err != nil {
			return err
		}
	}
	err = rt.handle(s, w, r)
	if err == nil && rt.kind != open && !rt.outage {
		s.watch.noted(nil) // the database has answered
	}
	return err
}

// forbid gives why the sender of r may not. An act that was asked for without the
// right to it is kept in the log of acts; a look is not.
func (s *Server) forbid(rt *route, r *http.Request) error {
	why := &forbiddenError{have: actorOf(r).Role, need: rt.roles}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return why
	}
	err := s.pages.NoteRefusal(r.Context(), actorOf(r), "request", rt.method+" "+rt.path, map[string]any{"needs": why.needs()})
	if err != nil {
		return err
	}
	return why
}

// readForm reads the form in r's body before its handler looks at it: a field
// of a form that is cut or too large must not pass for an empty one.
func readForm(r *http.Request) error {
	err := r.ParseForm()
	if err == nil {
		stateOf(r.Context()).form = r.PostForm
		return nil
	}
	return bodyError(err, "bad_form", "The form cannot be read.")
}

// unmatched turns the mux's own answer to a request that fits no route into an
// error of ours.
func unmatched(h http.Handler, r *http.Request) error {
	probe := &probe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		return &methodError{allow: probe.header.Get("Allow")}
	}
	return errNoRoute
}

// probe takes an answer that nobody gets to see.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }

// setHeaders sets what every answer carries. A handler may replace them.
func setHeaders(h http.Header, requestID string) {
	h.Set("X-Request-Id", requestID)
	h.Set("X-Bongsu", "1")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+
		"img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// panicked answers a request whose handler panicked. The connection is cut
// where an answer had begun, so that half of one is never taken for the whole.
func (s *Server) panicked(w *recorder, r *http.Request, p any) {
	st := stateOf(r.Context())
	if p == http.ErrAbortHandler { //nolint:errorlint // what was panicked with, as net/http compares it
		s.finish(w, r)
		panic(p)
	}
	st.err = &panicError{p, debug.Stack()}
	if w.status != 0 {
		s.finish(w, r)
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, st.err)
}

// finish counts a request, ends its span and writes its line of log.
func (s *Server) finish(w *recorder, r *http.Request) {
	st := stateOf(r.Context())
	took := s.now().Sub(st.started)
	pattern, level := "none", slog.LevelInfo
	if st.route != nil {
		pattern = st.route.method + " " + st.route.path
		if st.route.kind == open || st.route.quiet {
			level = slog.LevelDebug
		}
	}
	end := s.endOf(r.Context())
	status := w.status
	if end == endLeft && (status == 0 || status >= 500) {
		status = statusClientLeft
	}
	s.metrics.count(pattern, status, took)
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", pattern), slog.Int("status", status),
		slog.Duration("took", took), slog.String("actor", st.actor.ID), slog.String("request_id", st.id),
	}
	if id := traceOf(st.span); id != "" {
		attrs = append(attrs, slog.String("trace", id))
	}
	endRequest(st.span, st.id, status, end)
	attrs = append(attrs, st.about...)
	if st.route != nil {
		attrs = append(attrs, aboutPath(st.route, r)...)
	}
	if end != "" {
		s.metrics.ended(pattern, end)
		attrs = append(attrs, slog.String("ended", end))
	}
	var panicked *panicError
	if status >= 500 || errors.As(st.err, &panicked) {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("error", st.err))
	}
	s.log.LogAttrs(context.WithoutCancel(r.Context()), level, "request was answered", attrs...)
}
