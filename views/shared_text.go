package views

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bongsu/views/ui"
)

// reasonText says in a few words why a delivery failed, was skipped, waits or
// is unknown. A reason that it does not know is shown as it is.
func reasonText(reason string) string {
	words := map[string]string{
		"token_expired":       "the vendor says the address is gone",
		"rejected":            "the vendor refused it",
		"content_refused":     "the vendor refuses what the notice says, whoever it is for",
		"vendor_error":        "the vendor had an error",
		"rate_limited":        "the vendor asked us to wait",
		"timeout":             "the vendor did not answer in time",
		"unreachable":         "the vendor could not be reached",
		"credentials_refused": "the vendor refused our credentials",
		"expired":             "the notice expired before it could be sent",
		"outcome_unknown":     "five workers were lost while they sent it",
		"holder_lost":         "the worker that sent it was lost",
		"no_consent":          "no consent",
		"device_disabled":     "the device is disabled",
		"device_erased":       "the device was erased",
		"replayed_already":    "it no longer matched, or another replay had put it back",
		"cancelled":           "the notice was cancelled",
	}
	if w, ok := words[reason]; ok {
		return w
	}
	return reason
}

// stateTone and stateText show the state of a notice.
func stateTone(state string) ui.Tone {
	switch state {
	case "sending":
		return ui.Now
	case "finished":
		return ui.Good
	case "paused":
		return ui.Warn
	case "cancelled":
		return ui.Bad
	default:
		return ui.Calm
	}
}

// endTone is stateTone, but for a notice that ended without anybody to tell.
func endTone(state string, total int64) ui.Tone {
	if state == "finished" && total == 0 {
		return ui.Warn
	}
	return stateTone(state)
}

// statusTone shows the status of a delivery.
func statusTone(status string) ui.Tone {
	switch status {
	case "sent", "done":
		return ui.Good
	case "failed":
		return ui.Bad
	case "unknown", "retrying", "paused":
		return ui.Warn
	case "sending", "running":
		return ui.Now
	default:
		return ui.Calm
	}
}

type pagerText struct{ Label, First, Next string }

func pagerWords() pagerText {
	return pagerText{Label: "Pages", First: "« To the start", Next: "Older »"}
}

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
