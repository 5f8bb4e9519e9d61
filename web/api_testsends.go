package web

import (
	"fmt"
	"net/http"

	"bongsu/db"
)

// apiTestSend is POST /test-sends.
func apiTestSend(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	raw, err := readJSON(r)
	if err != nil {
		return err
	}
	var f faults
	o := newObject(raw, "", &f)
	d := db.Draft{Title: orEmpty(o.text("title")), Body: orEmpty(o.text("body")), Link: orEmpty(o.text("link"))}
	devices := o.numbers("devices")
	o.end()
	if err := f.err(); err != nil {
		return err
	}
	if err := s.checkDraft(r.Context(), &d); err != nil {
		return err
	}
	t, err := s.pages.CreateTestSend(r.Context(), d.Title, d.Body, d.Link, devices, actorOf(r))
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("%s/test-sends/%d", apiRoot, t.ID))
	return writeJSON(w, http.StatusAccepted, shapeTestSend(t))
}

// apiReadTestSend is GET /test-sends/{id}.
func apiReadTestSend(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	t, err := s.pages.TestSend(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shapeTestSend(t))
}
