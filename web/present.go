package web

import (
	"net/http"

	"bongsu/views"
)

// presentFailure shows a failure to a person: as a page, or as a note for the
// banner of the page that htmx asked from. It needs no database.
func (s *Server) presentFailure(w http.ResponseWriter, r *http.Request, f failure) {
	m := views.Problem{
		Title: http.StatusText(f.Status), What: f.Detail, RequestID: f.RequestID,
		Back: "/", BackText: "To the notices",
	}
	if f.Message != "" {
		m.Title, m.Since, m.Runbook = views.MessageTitle(f.Message), stamp(f.Since), views.RunbookPath(f.Message)
	}
	if f.Status >= 500 {
		m.Again = resubmit(r)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.Status)
	part := views.ProblemPage(m)
	if isHTMX(r) {
		part = views.ProblemNote(m)
	}
	_ = part.Render(r.Context(), w) // the client has left if this fails
}
