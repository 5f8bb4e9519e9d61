package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

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
	sessionUserKey    = "user"
	sessionSeenKey    = "seen"
	sessionFlashKey   = "flash"
	sessionBadKey     = "flash_bad"
	sessionAgentKey   = "agent"
	sessionAddressKey = "address"
	sessionHalfKey    = "half"   // the person whose password was right, and whose code is awaited
	sessionSecretKey  = "secret" // of a second factor that is being set up
)

// newSessions makes the session manager. Its middleware is not used: that
// commits after the handler has answered, when a failure cannot be told any
// more. Here whoever changes a session commits it before answering.
func newSessions(pages *db.DB, secure bool) *scs.SessionManager {
	m := scs.New()
	m.Lifetime = sessionLifetime
	m.IdleTimeout = 0 // it would commit at every request, and revive a session that was ended meanwhile
	m.Store = pages.Sessions(sessionOwnerOf)
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

// sessionOwnerOf reads out of a stored session whose it is.
func sessionOwnerOf(data []byte) (o db.SessionOwner) {
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return o
	}
	o.User, _ = values[sessionUserKey].(int64)
	o.Agent, _ = values[sessionAgentKey].(string)
	o.Address, _ = values[sessionAddressKey].(string)
	return o
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
// answers nothing yet but the cookie. code says that the session waits for the code
// of a second factor. It fails with errWrongPassword, in the same time whether the
// account exists or not, or with a *throttledError.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, email, password string) (code bool, err error) {
	u, err := s.checkPassword(r, email, password)
	if err != nil {
		return false, err
	}
	if u.TOTPSecret == nil {
		return false, s.signedIn(w, r, u)
	}
	_, err = s.beginSession(w, r, sessionHalfKey, u)
	return true, err
}

// signedIn starts the session of a person who has proved who they are.
func (s *Server) signedIn(w http.ResponseWriter, r *http.Request, u db.User) error {
	ctx, err := s.beginSession(w, r, sessionUserKey, u)
	if err != nil {
		return err
	}
	st := stateOf(ctx)
	st.actor = db.UserActor(u.ID, u.Email, u.Role, st.id)
	return s.pages.NoteAct(ctx, st.actor, "signin", "user:"+idText(u.ID),
		map[string]any{"address": hostOf(r), "second_factor": u.TOTPSecret != nil})
}

// halfSignedIn gives the person whose password was right a moment ago, or
// errSignedOut.
func (s *Server) halfSignedIn(r *http.Request) (*http.Request, db.User, error) {
	r, err := s.loadSession(r)
	if err != nil {
		return r, db.User{}, err
	}
	id := s.sessions.GetInt64(r.Context(), sessionHalfKey)
	since := time.Unix(s.sessions.GetInt64(r.Context(), sessionSeenKey), 0)
	if id == 0 || s.now().Sub(since) > secondWait {
		return r, db.User{}, errSignedOut
	}
	u, err := s.pages.User(r.Context(), id)
	if errors.Is(err, db.ErrNotFound) || err == nil && u.DisabledAt != nil {
		return r, u, errSignedOut
	}
	return r, u, err
}

// owesSecond says whether a person must set up a second factor before anything else.
func (s *Server) owesSecond(u db.User) bool {
	return s.secondForAdmins && u.Role == db.Admin && u.TOTPSecret == nil
}

// beginSession starts a session under a new token, in place of the one that r came
// with, and gives a context that holds it. key is what it says of u.
func (s *Server) beginSession(w http.ResponseWriter, r *http.Request, key string, u db.User) (context.Context, error) {
	r, err := s.loadSession(r)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	if err := s.sessions.Clear(ctx); err != nil {
		return nil, err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return nil, err
	}
	s.sessions.Put(ctx, key, u.ID)
	s.sessions.Put(ctx, sessionSeenKey, s.now().Unix())
	s.sessions.Put(ctx, sessionAgentKey, agentOf(r))
	s.sessions.Put(ctx, sessionAddressKey, hostOf(r))
	token, expiry, err := s.sessions.Commit(ctx)
	if err != nil {
		return nil, err
	}
	s.sessions.WriteSessionCookie(ctx, w, token, expiry)
	w.Header().Set("Cache-Control", "no-store")
	return ctx, nil
}

// agentOf gives what the browser calls itself, in printable characters.
func agentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "?")
	agent = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, agent)
	if chars := []rune(agent); len(chars) > maxAgent {
		agent = string(chars[:maxAgent]) + "…"
	}
	return agent
}

// maxAgent is how much is kept of a browser's name for itself, in characters.
const maxAgent = 200

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
