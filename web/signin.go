package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"bongsu/db"
)

// errWrongPassword does not say which of the two was wrong.
var errWrongPassword = errors.New("e-mail or password is wrong")

// maxPassword is the longest password that is looked at, in bytes.
const maxPassword = 1024

// throttledError says that there were too many failures, and how long to wait.
type throttledError struct{ wait time.Duration }

func (e *throttledError) Error() string {
	return fmt.Sprintf("too many failed tries: wait %d seconds and try again", int((e.wait+time.Second-1)/time.Second))
}

// triesOf gives what slows down guessing: failures are counted by account at an address,
// by address and by account, for all processes together. Each fills up again with time,
// so nobody is shut out for long.
func triesOf(account, address string) []db.TryBudget {
	address = networkOf(address)
	return []db.TryBudget{
		{Key: "pair " + account + "\x00" + address, Size: 5, Every: 10 * time.Second},
		{Key: "address " + address, Size: 30, Every: 2 * time.Second},
		{Key: "account " + account, Size: 60, Every: 2 * time.Second},
	}
}

// takeTries spends a try before the password is looked at, so that many at once cannot
// slip through. refund gives it back. It fails with a *throttledError, and where the
// database does not answer: nobody could sign in then anyway.
func (s *Server) takeTries(r *http.Request, account string) (refund func(), err error) {
	tries := triesOf(account, hostOf(r))
	wait, err := s.pages.TakeTries(r.Context(), tries...)
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, &throttledError{wait}
	}
	return func() {
		if err := s.pages.GiveTriesBack(context.WithoutCancel(r.Context()), tries...); err != nil {
			s.log.WarnContext(r.Context(), "a try was not given back; it comes back by itself", "error", err, "request_id", requestIDOf(r))
		}
	}, nil
}

// checkPassword gives the person whose e-mail and password these are.
func (s *Server) checkPassword(r *http.Request, email, password string) (db.User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	refund, err := s.takeTries(r, email)
	if err != nil {
		return db.User{}, err
	}
	u, err := s.pages.UserByEmail(r.Context(), email)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		refund()
		return db.User{}, err
	}
	stored := u.PasswordHash
	if u.DisabledAt != nil {
		stored = ""
	}
	ok, err := s.passwords.match(r.Context(), stored, password[:min(len(password), maxPassword+1)])
	switch {
	case err != nil:
		refund()
		return db.User{}, err
	case !ok || len(password) > maxPassword:
		return db.User{}, s.refusedSignIn(r, email, u)
	}
	refund()
	return u, nil
}

// refusedSignIn notes a failed try in the log of acts, for an account that there
// is not too: it takes as long, and does not keep what was typed, which may be a
// password. It gives errWrongPassword, or why it could not be noted.
func (s *Server) refusedSignIn(r *http.Request, email string, u db.User) error {
	who := db.Actor{ID: "nobody", Name: "no such account", RequestID: requestIDOf(r)}
	object := "user:0"
	if u.ID != 0 {
		who.Name, who.Role, object = email, u.Role, "user:"+idText(u.ID)
	}
	if err := s.pages.NoteRefusal(r.Context(), who, "signin", object, map[string]any{"address": hostOf(r)}); err != nil {
		return err
	}
	return errWrongPassword
}
