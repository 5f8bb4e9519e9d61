package web

import (
	"errors"
	"net/http"
	"net/url"

	"bongsu/views"
)

func signInPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	next := safeNext(r.FormValue("next"))
	in, err := s.isSignedIn(r)
	if err != nil {
		return err
	}
	if in {
		return seeOther(w, r, next)
	}
	return render(w, r, http.StatusOK, views.SignInPage(views.SignIn{Next: next, Ready: r.FormValue("ready") != ""}))
}

// submitSignIn starts a session. A wrong password comes back with the form.
func submitSignIn(s *Server, w http.ResponseWriter, r *http.Request) error {
	next := safeNext(r.PostFormValue("next"))
	code, err := s.signIn(w, r, r.PostFormValue("email"), r.PostFormValue("password"))
	if err == nil && code {
		return seeOther(w, r, "/signin/code?next="+url.QueryEscape(next))
	}
	if err == nil {
		return seeOther(w, r, next)
	}
	var throttled *throttledError
	if !errors.Is(err, errWrongPassword) && !errors.As(err, &throttled) {
		return err
	}
	m := views.SignIn{Email: r.PostFormValue("email"), Next: next, Wrong: upper(err.Error()) + "."}
	return renderForm(w, r, http.StatusUnprocessableEntity, views.SignInPage(m), views.SignInForm(m))
}

func submitSignOut(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := s.signOut(w, r); err != nil {
		return err
	}
	return seeOther(w, r, "/signin")
}

func startPage(_ *Server, w http.ResponseWriter, r *http.Request) error {
	return seeOther(w, r, "/notices")
}
