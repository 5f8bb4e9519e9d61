package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image/png"
	"net/http"

	"bongsu/db"
	"bongsu/views"
)

// secondPage shows a new secret to scan, which the session keeps until a code
// proves that it arrived, or that there is a second factor already.
func secondPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	u, err := s.pages.User(r.Context(), ownID(r))
	if err != nil {
		return err
	}
	m, err := s.second(r, u)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.SecondPage(m))
}

func (s *Server) second(r *http.Request, u db.User) (m views.Second, err error) {
	m = views.Second{On: u.TOTPSecret != nil, Since: stampOf(u.TOTPSince), Required: s.owesSecond(u)}
	if !m.On {
		m.Secret = s.sessions.GetString(r.Context(), sessionSecretKey)
		if m.Secret == "" {
			m.Secret = newSecond()
			s.sessions.Put(r.Context(), sessionSecretKey, m.Secret)
			if _, _, err := s.sessions.Commit(r.Context()); err != nil {
				return m, err
			}
		}
		if m.QR, err = qrOf(m.Secret, u.Email); err != nil {
			return m, err
		}
	}
	m.Shell, err = s.shell(r, "account")
	return m, err
}

// qrOf draws the secret for an authenticator, as a data address of a picture.
func qrOf(secret, email string) (string, error) {
	key, err := secondKey(secret, email)
	if err != nil {
		return "", err
	}
	picture, err := key.Image(400, 400)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// turnSecondOn takes the first code and shows the recovery codes, once.
func turnSecondOn(s *Server, w http.ResponseWriter, r *http.Request) error {
	u, err := s.pages.User(r.Context(), ownID(r))
	if err != nil {
		return err
	}
	secret := s.sessions.GetString(r.Context(), sessionSecretKey)
	step, ok := stepOf(secret, plainCode(r.PostFormValue("code")), s.now())
	if u.TOTPSecret != nil || secret == "" || !ok {
		m, err := s.second(r, u)
		if err != nil {
			return err
		}
		m.Wrong = upper(errWrongCode.Error())
		return renderForm(w, r, http.StatusUnprocessableEntity, views.SecondPage(m), views.SecondForm(m))
	}
	codes, hashes := newRecoveryCodes()
	if err := s.pages.SetSecond(r.Context(), u.ID, secret, step, hashes, actorOf(r)); err != nil {
		return err
	}
	s.sessions.Remove(r.Context(), sessionSecretKey)
	if _, _, err := s.sessions.Commit(r.Context()); err != nil {
		return err
	}
	m := views.RecoveryCodes{Codes: codes}
	if m.Shell, err = s.shell(r, "account"); err != nil {
		return err
	}
	return renderForm(w, r, http.StatusOK, views.RecoveryPage(m), views.RecoveryPart(m))
}

// turnSecondOff asks for the password again.
func turnSecondOff(s *Server, w http.ResponseWriter, r *http.Request) error {
	u, err := s.checkPassword(r, actorOf(r).Name, r.PostFormValue("password"))
	var throttled *throttledError
	if errors.Is(err, errWrongPassword) || errors.As(err, &throttled) {
		own, uerr := s.pages.User(r.Context(), ownID(r))
		if uerr != nil {
			return uerr
		}
		m, merr := s.second(r, own)
		if merr != nil {
			return merr
		}
		m.PasswordWrong = upper(err.Error())
		return renderForm(w, r, http.StatusUnprocessableEntity, views.SecondPage(m), views.SecondOffForm(m))
	}
	if err != nil {
		return err
	}
	if err := s.pages.DropSecond(r.Context(), u.ID, actorOf(r)); err != nil {
		return err
	}
	return seeOther(w, r, "/signin")
}

// dropUserSecond takes another person's second factor away, whose phone is lost.
func dropUserSecond(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actThen(w, r, views.Said().SecondDropped, userHref, s.pages.DropSecond)
}

// signInCodePage asks for the code after the password was right.
func signInCodePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	next := safeNext(r.FormValue("next"))
	r, _, err := s.halfSignedIn(r)
	if errors.Is(err, errSignedOut) {
		return seeOther(w, r, signInPath(next))
	}
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.SignInCodePage(views.SignInCode{Next: next}))
}

// submitSignInCode ends what the password began.
func submitSignInCode(s *Server, w http.ResponseWriter, r *http.Request) error {
	next := safeNext(r.PostFormValue("next"))
	r, u, err := s.halfSignedIn(r)
	if errors.Is(err, errSignedOut) {
		return seeOther(w, r, signInPath(next))
	}
	if err == nil {
		err = s.checkCode(r, u, r.PostFormValue("code"))
	}
	var throttled *throttledError
	if errors.Is(err, errWrongCode) || errors.As(err, &throttled) {
		m := views.SignInCode{Next: next, Wrong: upper(err.Error()) + "."}
		return renderForm(w, r, http.StatusUnprocessableEntity, views.SignInCodePage(m), views.SignInCodeForm(m))
	}
	if err != nil {
		return err
	}
	if err := s.signedIn(w, r, u); err != nil {
		return err
	}
	return seeOther(w, r, next)
}
