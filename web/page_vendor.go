package web

import (
	"net/http"

	"bongsu/db"
	"bongsu/views"
)

// resumeVendor lets calls to all paused vendors go on, and has one that is out of
// order tried at once.
func resumeVendor(s *Server, w http.ResponseWriter, r *http.Request) error {
	said := views.Said().VendorCalled
	err := s.eachVendor(r, func(v db.VendorState) error {
		switch v.State {
		case "ok":
			return nil
		case "probing":
			said = views.Said().VendorTried
		}
		return s.pages.ResumeVendor(r.Context(), v.Scope, actorOf(r))
	})
	if err != nil {
		return err
	}
	return s.doneThen(w, r, said, "/status")
}

// agreeRefusals says that what the vendors refuse for good is right.
func agreeRefusals(s *Server, w http.ResponseWriter, r *http.Request) error {
	err := s.eachVendor(r, func(v db.VendorState) error {
		if !v.KeepDevices && textOf(v.Reason) != "refusals" {
			return nil
		}
		return s.pages.AgreeRefusals(r.Context(), v.Scope, actorOf(r))
	})
	if err != nil {
		return err
	}
	return s.doneThen(w, r, views.Said().RefusalsAgreed, "/status")
}

func (s *Server) eachVendor(r *http.Request, do func(db.VendorState) error) error {
	list, err := s.pages.Vendors(r.Context())
	if err != nil {
		return err
	}
	for _, v := range list {
		if err := do(v); err != nil {
			return err
		}
	}
	return nil
}
