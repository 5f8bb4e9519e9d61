package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"bongsu/db"
)

// errWrongPassword does not say which of the two was wrong.
var errWrongPassword = errors.New("e-mail or password is wrong")

// maxPassword is the longest password that is looked at, in bytes.
const maxPassword = 1024

// signInGuard slows down guessing. It counts failures only, in this process, by
// account at an address, by address and by account. Each budget fills up again
// with time, so nobody is shut out for long.
type signInGuard struct {
	passwords *passwords
	pair      *budgets
	address   *budgets
	account   *budgets
}

func newSignInGuard(now func() time.Time) *signInGuard {
	return &signInGuard{
		passwords: newPasswords(),
		pair:      newBudgets(5, 10*time.Second, now),
		address:   newBudgets(30, 2*time.Second, now),
		account:   newBudgets(60, 2*time.Second, now),
	}
}

// checkPassword gives the person whose e-mail and password these are.
func (s *Server) checkPassword(r *http.Request, email, password string) (db.User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	refund, err := s.guard.take(email, hostOf(r))
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
	ok, err := s.guard.passwords.match(r.Context(), stored, password[:min(len(password), maxPassword+1)])
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

// take spends one try of each budget before the password is looked at, so that
// many tries at once cannot slip through. refund gives the try back.
func (g *signInGuard) take(email, host string) (refund func(), err error) {
	keys := []struct {
		b   *budgets
		key string
	}{{g.pair, email + "\x00" + host}, {g.address, host}, {g.account, email}}
	var refunds []func()
	refund = func() {
		for _, f := range refunds {
			f()
		}
	}
	for _, k := range keys {
		wait := k.b.take(k.key)
		if wait > 0 {
			refund()
			return nil, &throttledError{wait}
		}
		refunds = append(refunds, func() { k.b.refund(k.key) })
	}
	return refund, nil
}
