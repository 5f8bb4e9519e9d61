package web

import (
	"fmt"
	"unicode/utf8"
)

// Bounds of a password that is chosen, in characters.
const (
	minPasswordChars = 12
	maxPasswordChars = 200
)

// PasswordFault says what is wrong with a password that somebody chooses; "" is
// nothing.
func PasswordFault(password string) string {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return "is not valid UTF-8"
	case n < minPasswordChars || n > maxPasswordChars || len(password) > maxPassword:
		return fmt.Sprintf("has %d characters; it must have from %d to %d", n, minPasswordChars, maxPasswordChars)
	}
	return ""
}
