package devicelist

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mask shows the two ends of a token: at most four characters of each, and
// together never more than a third of it.
func mask(token string) string {
	runes := []rune(token)
	show := min(4, len(runes)/6)
	return string(runes[:show]) + "…" + string(runes[len(runes)-show:])
}

// Show gives the value of a cell as a page or a log may tell it: printable, short,
// and masked where it is a token or a key; of a secret nothing is told. A column that is not read may hold anything, so
// nothing of it is told where column is "".
func Show(column, value string) string {
	switch column {
	case "":
		return ""
	case Token, P256dh, Auth:
		switch {
		case value == "":
			return "" // nothing to hide, and a dot would look like something
		case column == Auth:
			return "…"
		}
		return printable(mask(value))
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
