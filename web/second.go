package web

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"bongsu/db"
)

// The second factor is a code of RFC 6238 with six digits for each 30 s; one step
// early or late is taken, since clocks differ.
const (
	secondStep     = 30 * time.Second
	recoveryCodes  = 10
	secondWait     = 5 * time.Minute // between the password and the code
	recoveryLength = 16              // letters and digits of a recovery code
)

// errWrongCode does not say what was wrong with a code.
var errWrongCode = errors.New("the code is wrong, or was used already")

// newSecond makes the secret of a second factor for an account, in base32.
func newSecond() string {
	var raw [20]byte
	_, _ = rand.Read(raw[:]) // never fails: the program ends where the system has no randomness
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

// secondKey is the secret in the form that authenticators read.
func secondKey(secret, email string) (*otp.Key, error) {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return nil, err
	}
	return totp.Generate(totp.GenerateOpts{Issuer: "Bongsu", AccountName: email, Secret: raw})
}

// stepOf gives the time step whose code this is, near the time now.
func stepOf(secret, code string, now time.Time) (step int64, ok bool) {
	for _, off := range []time.Duration{0, -secondStep, secondStep} {
		at := now.Add(off)
		good, err := totp.ValidateCustom(code, secret, at, totp.ValidateOpts{Period: uint(secondStep.Seconds()), Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && good {
			return at.Unix() / int64(secondStep.Seconds()), true
		}
	}
	return 0, false
}

// newRecoveryCodes makes codes to show once, and their hashes to keep.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		text := strings.ToLower(rand.Text()[:recoveryLength])
		code := text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
		codes, hashes = append(codes, code), append(hashes, tokenHash(plainCode(code)))
	}
	return codes, hashes
}

// plainCode is what is left of a code however it was typed.
func plainCode(code string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' {
			return -1
		}
		return c
	}, strings.ToLower(code))
}

// checkCode takes the code of a second factor, or a recovery code, once. It fails
// with errWrongCode or a *throttledError.
func (s *Server) checkCode(r *http.Request, u db.User, code string) error {
	code = plainCode(code)
	refund, err := s.takeTries(r, "code of "+u.Email)
	if err != nil {
		return err
	}
	ok, err := s.useCode(r.Context(), u, code)
	if err != nil || ok {
		refund()
		return err
	}
	who := db.UserActor(u.ID, u.Email, u.Role, requestIDOf(r))
	if err := s.pages.NoteRefusal(r.Context(), who, "signin.code", "user:"+idText(u.ID), map[string]any{"address": hostOf(r)}); err != nil {
		return err
	}
	return errWrongCode
}

func (s *Server) useCode(ctx context.Context, u db.User, code string) (bool, error) {
	if u.TOTPSecret == nil {
		return false, nil
	}
	if step, ok := stepOf(*u.TOTPSecret, code, s.now()); ok {
		return s.pages.UseStep(ctx, u.ID, step)
	}
	if len(code) != recoveryLength {
		return false, nil
	}
	used, _, err := s.pages.UseRecoveryCode(ctx, u.ID, tokenHash(code), db.UserActor(u.ID, u.Email, u.Role, stateOf(ctx).id))
	return used, err
}
