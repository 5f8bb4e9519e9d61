package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"

	"bongsu/db"
)

// How long a session lasts: at most sessionLifetime, and sessionIdle without a
// request that a person made. Its last use is stored at most once in
// sessionTouch.
const (
	sessionLifetime = 10 * time.Hour
	sessionIdle     = 30 * time.Minute
	sessionTouch    = time.Minute
)

// What a session holds.
const (
	sessionUserKey  = "user"
	sessionSeenKey  = "seen"
	sessionFlashKey = "flash"
	sessionBadKey   = "flash_bad"
)

// newSessions makes the session manager. Its middleware is not used: that
// commits after the handler has answered, when a failure cannot be told any
// more. Here whoever changes a session commits it before answering.
func newSessions(pages *db.DB, secure bool) *scs.SessionManager {
	m := scs.New()
	m.Lifetime = sessionLifetime
	m.IdleTimeout = 0 // it would commit at every request, and revive a session that was ended meanwhile
	m.Store = pages.Sessions(sessionUserOf)
	m.Cookie.Name = "bongsu"
	if secure {
		m.Cookie.Name = "__Host-bongsu"
	}
	m.Cookie.Secure = secure
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Persist = false
	return m
}

// sessionUserOf reads the person's number out of a stored session, 0 for nobody.
func sessionUserOf(data []byte) int64 {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return 0
	}
	id, _ := values[sessionUserKey].(int64)
	return id
}

// loadSession puts the session of r's cookie into the context of the request
// that it returns.
func (s *Server) loadSession(r *http.Request) (*http.Request, error) {
	var token string
	if c, err := r.Cookie(s.sessions.Cookie.Name); err == nil {
		token = c.Value
	}
	ctx, err := s.sessions.Load(r.Context(), token)
	if err != nil {
		return r, err
	}
	return r.WithContext(ctx), nil
}

// signIn checks e-mail and password and starts a session under a new token. It
// answers nothing yet but the cookie. It fails with errWrongPassword, in the
// same time whether the account exists or not, or with a *throttledError.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, email, password string) error {
	u, err := s.checkPassword(r, email, password)
	if err != nil {
		return err
	}
	r, err = s.loadSession(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	if err := s.sessions.Clear(ctx); err != nil {
		return err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return err
	}
	s.sessions.Put(ctx, sessionUserKey, u.ID)
	s.sessions.Put(ctx, sessionSeenKey, s.now().Unix())
	token, expiry, err := s.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	s.sessions.WriteSessionCookie(ctx, w, token, expiry)
	w.Header().Set("Cache-Control", "no-store")
	stateOf(ctx).actor = db.UserActor(u.ID, u.Email, u.Role, stateOf(ctx).id)
	return nil
}

// signOut ends r's session for good and takes the cookie back. It is for routes
// on which a person is signed in.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.sessions.Destroy(r.Context()); err != nil {
		return err
	}
	s.sessions.WriteSessionCookie(r.Context(), w, "", time.Time{})
	w.Header().Set("Cache-Control", "no-store")
	return nil
}

// isSignedIn says whether r, on an open route, comes with a session that works.
func (s *Server) isSignedIn(r *http.Request) (bool, error) {
	r, err := s.loadSession(r)
	if err != nil {
		return false, err
	}
	_, err = s.sessionUser(r.Context(), true)
	if errors.Is(err, errSignedOut) {
		return false, nil
	}
	return err == nil, err
}

// setFlash keeps a message for the person's next page.
func (s *Server) setFlash(r *http.Request, text string, bad bool) error {
	s.sessions.Put(r.Context(), sessionFlashKey, text)
	s.sessions.Put(r.Context(), sessionBadKey, bad)
	_, _, err := s.sessions.Commit(r.Context())
	return err
}

// takeFlash gives the message that the last act left, once; "" is none.
func (s *Server) takeFlash(r *http.Request) (text string, bad bool, err error) {
	text = s.sessions.PopString(r.Context(), sessionFlashKey)
	bad = s.sessions.PopBool(r.Context(), sessionBadKey)
	if text == "" {
		return "", false, nil
	}
	if _, _, err = s.sessions.Commit(r.Context()); db.CauseOf(err) == db.ReadOnly {
		err = nil // it is shown once more, which is better than no page
	}
	return text, bad, err
}
