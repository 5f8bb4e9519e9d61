package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"bongsu/db"
)

const tokenPrefix = "bongsu_"

// tokenLength is the length of a token's text: the prefix and 32 bytes.
var tokenLength = len(tokenPrefix) + base64.RawURLEncoding.EncodedLen(32)

// NewToken makes a token for a program, and the hash that is stored of it. The
// token is shown once and never stored.
func NewToken() (token string, hash []byte) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: the program ends where the system has no randomness
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return token, tokenHash(token)
}

func tokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// identify finds out who sends r and notes it in r's state. It fails where the
// route wants somebody and nobody is known.
func (s *Server) identify(rt *route, r *http.Request) (*http.Request, error) {
	switch rt.kind {
	case api:
		return r, s.identifyProgram(r)
	case page, fragment:
		if rt.outage {
			return s.identifyWhereKnown(rt, r)
		}
		return s.identifyPerson(rt, r)
	default:
		return r, nil
	}
}

// identifyProgram reads the bearer token.
func (s *Server) identifyProgram(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return errNoToken
	}
	token = strings.TrimSpace(token)
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return errBadToken
	}
	t, err := s.pages.TokenByHash(r.Context(), tokenHash(token))
	if errors.Is(err, db.ErrNotFound) {
		return errBadToken
	}
	if err != nil {
		return err
	}
	st := stateOf(r.Context())
	st.actor, st.token = db.TokenActor(t.ID, t.Name, t.Role, st.id), t.ID
	return nil
}

// identifyPerson reads the session, and the role that its person holds now.
func (s *Server) identifyPerson(rt *route, r *http.Request) (*http.Request, error) {
	r, err := s.loadSession(r)
	if err != nil {
		return r, err
	}
	u, err := s.sessionUser(r.Context(), rt.quiet)
	if err != nil {
		return r, err
	}
	st := stateOf(r.Context())
	st.actor = db.UserActor(u.ID, u.Email, u.Role, st.id)
	if s.owesSecond(u) && !rt.beforeSecond {
		return r, errOwesSecond
	}
	return r, nil
}

// sessionUser gives the person of the session in ctx, or errSignedOut. A
// session that was idle too long, or whose person is disabled, is ended.
func (s *Server) sessionUser(ctx context.Context, quiet bool) (db.User, error) {
	id := s.sessions.GetInt64(ctx, sessionUserKey)
	if id == 0 {
		return db.User{}, errSignedOut
	}
	idle := s.now().Sub(time.Unix(s.sessions.GetInt64(ctx, sessionSeenKey), 0))
	if idle > sessionIdle {
		return db.User{}, s.endSession(ctx)
	}
	u, err := s.pages.User(ctx, id)
	if errors.Is(err, db.ErrNotFound) || err == nil && u.DisabledAt != nil {
		return db.User{}, s.endSession(ctx)
	}
	if err != nil {
		return db.User{}, err
	}
	if !quiet && idle > sessionTouch {
		s.sessions.Put(ctx, sessionSeenKey, s.now().Unix())
		if _, _, err := s.sessions.Commit(ctx); err != nil && db.CauseOf(err) != db.ReadOnly {
			return db.User{}, err
		}
	}
	return u, nil
}

// endSession gives errSignedOut, or why the session could not be ended.
func (s *Server) endSession(ctx context.Context) error {
	if err := s.sessions.Destroy(ctx); err != nil {
		return err
	}
	return errSignedOut
}
