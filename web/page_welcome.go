package web

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"

	"bongsu/db"
	"bongsu/views"
)

// newLink makes the token of a one-time link, and the hash that is stored of it.
func newLink() (token string, hash []byte) {
	var raw [24]byte
	_, _ = rand.Read(raw[:]) // never fails: the program ends where the system has no randomness
	token = base64.RawURLEncoding.EncodeToString(raw[:])
	return token, tokenHash(token)
}

// welcomePage shows where a one-time link leads. Looking at it uses nothing up:
// programs that read mail look at links too.
func welcomePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := views.Welcome{Token: r.PathValue("token")}
	u, err := s.pages.UserOfLink(r.Context(), tokenHash(m.Token))
	if errors.Is(err, db.ErrNotFound) {
		return render(w, r, http.StatusNotFound, views.WelcomePage(m))
	}
	if err != nil {
		return err
	}
	m.Email = u.Email
	return render(w, r, http.StatusOK, views.WelcomePage(m))
}

// submitWelcome sets the password and leads to the sign-in page.
func submitWelcome(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := views.Welcome{Token: r.PathValue("token")}
	hash := tokenHash(m.Token)
	u, err := s.pages.UserOfLink(r.Context(), hash)
	if err == nil {
		m.Email, m.Wrong = u.Email, PasswordFault(r.PostFormValue("new"))
		if r.PostFormValue("new") != r.PostFormValue("repeat") {
			m.RepeatWrong = views.Said().PasswordsDiffer
		}
		if m.Wrong+m.RepeatWrong != "" {
			return renderForm(w, r, http.StatusUnprocessableEntity, views.WelcomePage(m), views.WelcomeForm(m))
		}
		hashed, herr := s.passwords.hash(r.Context(), r.PostFormValue("new"))
		if herr != nil {
			return herr
		}
		_, err = s.pages.UseUserLink(r.Context(), hash, hashed, requestIDOf(r))
	}
	if errors.Is(err, db.ErrNotFound) {
		return render(w, r, http.StatusNotFound, views.WelcomePage(views.Welcome{}))
	}
	if err != nil {
		return err
	}
	return seeOther(w, r, "/signin?ready=1")
}
