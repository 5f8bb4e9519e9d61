package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"bongsu/db"
	"bongsu/views"
)

// pageSize is how many rows a list shows at once.
const pageSize = 50

// render writes c as the whole answer. Nothing is written when c fails, so that
// half a page is never taken for one.
func render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		return fmt.Errorf("rendering: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // the reader has left; there is nobody to tell
	return nil
}

// renderForm answers a form that was sent with part where htmx asked, and with
// the whole page otherwise.
func renderForm(w http.ResponseWriter, r *http.Request, status int, page, part templ.Component) error {
	w.Header().Add("Vary", "HX-Request")
	if isHTMX(r) {
		return render(w, r, status, part)
	}
	return render(w, r, status, page)
}

// seeOther leads to path after an act. htmx follows its own header; a 303 would
// be followed by the browser and end up inside the page.
func seeOther(w http.ResponseWriter, r *http.Request, path string) error {
	w.Header().Add("Vary", "HX-Request")
	if isHTMX(r) {
		w.Header().Set("HX-Redirect", path)
		w.WriteHeader(http.StatusOK)
		return nil
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// pathID reads the number in the path. What is no number names nothing.
func pathID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, db.ErrNotFound
	}
	return id, nil
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// may says what the sender of r may do, as the pages offer it.
func may(r *http.Request) views.Can {
	role := actorOf(r).Role
	return views.Can{
		Send:    role == db.Operator || role == db.Admin,
		Devices: role == db.Support || role == db.Admin,
		Archive: role == db.Admin,
		Admin:   role == db.Admin,
	}
}

// stamp writes a moment as the views take it: RFC 3339 in UTC. The zero time is
// empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// stampMillis is stamp to the millisecond.
func stampMillis(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return stamp(*t)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// shell is the frame of a page for the sender of r. It takes the message that
// the last act left.
func (s *Server) shell(r *http.Request, section string) (views.Shell, error) {
	if stateOf(r.Context()).away {
		return views.Shell{Section: section}, nil
	}
	text, bad, err := s.takeFlash(r)
	if err != nil {
		return views.Shell{}, err
	}
	a := actorOf(r)
	m := views.Shell{
		Section: section, User: a.Name, Role: string(a.Role), Can: may(r), Flash: views.Flash{Text: text, Bad: bad},
	}
	addOutlook(&m, s.watch.see(r.Context()))
	return m, nil
}

// doneThen leads to path after an act, where message says that it was done.
func (s *Server) doneThen(w http.ResponseWriter, r *http.Request, message, path string) error {
	s.watch.forget()
	if err := s.setFlash(r, message, false); err != nil {
		return err
	}
	return seeOther(w, r, path)
}

// notDone leads to path, where message says why nothing was done.
func (s *Server) notDone(w http.ResponseWriter, r *http.Request, message, path string) error {
	if err := s.setFlash(r, message, true); err != nil {
		return err
	}
	return seeOther(w, r, path)
}

// actThen does something to what the number in the path names, and leads to where
// that is seen.
func (s *Server) actThen(w http.ResponseWriter, r *http.Request, done string, href func(id int64) string,
	act func(context.Context, int64, db.Actor) error) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := act(r.Context(), id, actorOf(r)); err != nil {
		return err
	}
	return s.doneThen(w, r, done, href(id))
}
