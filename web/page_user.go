package web

import (
	"context"
	"net/http"

	"bongsu/db"
	"bongsu/views"
)

func userPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	u, err := s.pages.UserRow(r.Context(), id)
	if err != nil {
		return err
	}
	list, err := s.pages.SessionsOf(r.Context(), id)
	if err != nil {
		return err
	}
	m := views.Person{One: personRow(u, actorOf(r)), LinkUntil: stampOf(u.LinkUntil), DisabledAt: stampOf(u.DisabledAt),
		Sessions: sessionRows(list, s.thisSession(r))}
	if m.Shell, err = s.shell(r, "people"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.PersonPage(m))
}

func setRole(s *Server, w http.ResponseWriter, r *http.Request) error {
	role := db.Role(r.PostFormValue("role"))
	return s.actThen(w, r, views.Said().RoleChanged, userHref, func(ctx context.Context, id int64, a db.Actor) error {
		return s.pages.SetRole(ctx, id, role, a)
	})
}

// disableUserPage asks before a person is shut out.
func disableUserPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	u, err := s.pages.User(r.Context(), id)
	if err != nil {
		return err
	}
	m := views.DisableText(u.Email)
	if m.Shell, err = s.shell(r, "people"); err != nil {
		return err
	}
	m.Action, m.Back = userHref(id)+"/disable", userHref(id)
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}

func disableUser(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actThen(w, r, views.Said().PersonDisabled, userHref, s.pages.DisableUser)
}

func enableUser(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actThen(w, r, views.Said().PersonEnabled, userHref, s.pages.EnableUser)
}

// endUserSessions signs a person out of one browser, or of all where none is named.
func endUserSessions(s *Server, w http.ResponseWriter, r *http.Request) error {
	session := r.PostFormValue("session")
	done := views.Said().SignedOutThere
	if session == "" {
		done = views.Said().SignedOutAll
	}
	return s.actThen(w, r, done, userHref, func(ctx context.Context, id int64, a db.Actor) error {
		if session != "" {
			return s.pages.EndSession(ctx, id, session, a)
		}
		_, err := s.pages.EndUserSessions(ctx, id, a)
		return err
	})
}
