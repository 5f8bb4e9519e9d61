package web

import (
	"errors"
	"net"
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
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	refund, err := s.guard.take(email, host)
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
		return db.User{}, errWrongPassword
	}
	refund()
	return u, nil
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
