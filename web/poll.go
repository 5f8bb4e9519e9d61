package web

import "time"

// pollEvery says how often a page asks about something that has been under way for
// this long: in the first minute each second, and then less often, since who looks
// at something that takes an hour does not look each second.
func pollEvery(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "1s"
	case age < 10*time.Minute:
		return "2s"
	default:
		return "5s"
	}
}
