package devicelist

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mask shows the two ends of a token: at most four characters of each, and
// together never more than a third of it.
func Mask(token string) string {
	runes := []rune(token)
	show := min(4, len(runes)/6)
	return string(runes[:show]) + "…" + string(runes[len(runes)-show:])
}

// shown gives the value of a cell as a Problem tells it. A column that is not
// read may hold anything, so nothing of it is told.
func shown(column, value string) string {
	switch column {
	case "":
		return ""
	case Token:
		return printable(Mask(value))
	default:
		return printable(shorten(value, maxValue))
	}
}

// shorten cuts s to at most n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// printable puts signs in the place of control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '␀' + r
		case r == 0x7F:
			return '␡'
		case unicode.IsControl(r):
			return utf8.RuneError
		default:
			return r
		}
	}, s)
}
