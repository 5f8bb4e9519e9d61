package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

func accountPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m, err := s.account(r)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.AccountPage(m))
}

func (s *Server) account(r *http.Request) (m views.Account, err error) {
	list, err := s.pages.SessionsOf(r.Context(), ownID(r))
	if err != nil {
		return m, err
	}
	m.Sessions = sessionRows(list, s.thisSession(r))
	m.Shell, err = s.shell(r, "account")
	return m, err
}

// ownID is the number of the person who sends r.
func ownID(r *http.Request) int64 {
	id, _ := strconv.ParseInt(strings.TrimPrefix(actorOf(r).ID, "user:"), 10, 64) // an actor of a page is a person
	return id
}

// changePassword changes one's own, signs out all browsers and goes on in this
// one under a new session.
func changePassword(s *Server, w http.ResponseWriter, r *http.Request) error {
	current, chosen, repeated := r.PostFormValue("current"), r.PostFormValue("new"), r.PostFormValue("repeat")
	u, err := s.checkPassword(r, actorOf(r).Name, current)
	throttled := new(throttledError)
	m := views.Account{NewWrong: PasswordFault(chosen)}
	switch {
	case errors.As(err, &throttled):
		m.CurrentWrong = throttled.Error()
	case errors.Is(err, errWrongPassword):
		m.CurrentWrong = views.Said().PasswordWrong
	case err != nil:
		return err
	}
	if chosen != repeated {
		m.RepeatWrong = views.Said().PasswordsDiffer
	}
	if m.CurrentWrong+m.NewWrong+m.RepeatWrong != "" {
		whole, err := s.account(r)
		if err != nil {
			return err
		}
		whole.CurrentWrong, whole.NewWrong, whole.RepeatWrong = m.CurrentWrong, m.NewWrong, m.RepeatWrong
		return renderForm(w, r, http.StatusUnprocessableEntity, views.AccountPage(whole), views.PasswordForm(whole))
	}
	hashed, err := s.passwords.hash(r.Context(), chosen)
	if err != nil {
		return err
	}
	if err := s.pages.SetPassword(r.Context(), u.ID, hashed, actorOf(r)); err != nil {
		return err
	}
	ctx, err := s.beginSession(w, r, sessionUserKey, u)
	if err != nil {
		return err
	}
	return s.doneThen(w, r.WithContext(ctx), views.Said().PasswordChanged, "/account")
}

// endOwnSession signs out one browser of one's own, or all others where none is
// named.
func endOwnSession(s *Server, w http.ResponseWriter, r *http.Request) error {
	session, this := r.PostFormValue("session"), s.thisSession(r)
	if session == this {
		if err := s.signOut(w, r); err != nil {
			return err
		}
		return seeOther(w, r, "/signin")
	}
	if session != "" {
		if err := s.pages.EndSession(r.Context(), ownID(r), session, actorOf(r)); err != nil {
			return err
		}
		return s.doneThen(w, r, views.Said().SignedOutThere, "/account")
	}
	list, err := s.pages.SessionsOf(r.Context(), ownID(r))
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.ID == this {
			continue
		}
		if err := s.pages.EndSession(r.Context(), ownID(r), x.ID, actorOf(r)); err != nil && !errors.Is(err, db.ErrNotFound) {
			return err
		}
	}
	return s.doneThen(w, r, views.Said().SignedOutAll, "/account")
}
