package views

import "strings"

// WhyLine is why a device did not get a notice, or that it did: a case of
// db.WhyCases with what belongs to it. What is not known is empty.
type WhyLine struct {
	Case, NoticeID, NoticeTitle, DeviceID string
	AcceptedAt, At, Since, Until          string // stamps
	Reason, Code, Message, By             string
	Platform, Platforms, Tags             string
}

type whyText struct{ Ask, Notice, Button, Of, Device, NoDevices, Lookup, LookingUp string }

func whyWords() whyText {
	return whyText{
		Ask: "Why did this person not get it?", Notice: "Notice number", Button: "Say why", Of: "Notice", Device: "Device",
		NoDevices: "No device of this user is known, so no notice could reach them.",
		Lookup:    "Look up a device or a user in this notice", LookingUp: "Whoever is found, it is also said why they did or did not get notice",
	}
}

// WhySentence is the answer in one line. {at} and the like stand for parts of the
// line.
func WhySentence(w WhyLine) string {
	switch w.Case {
	case "sent":
		return "Told: the vendor accepted it at {at}."
	case "waiting":
		return "Waiting for its first call to the vendor, which is made as soon as its turn comes."
	case "retry":
		return "Waiting for the next try at {at}, since {reason}. {code} {message}"
	case "paused":
		return "Waiting: the notice was paused by {by} at {at}."
	case "vendor_paused":
		return "Waiting: calls to the vendor are paused. It goes on by itself when they go on."
	case "sending":
		return "Being sent: a worker took it up at {at}."
	case "failed":
		return "Failed at {at}, because {reason}. {code} {message}"
	case "skipped":
		return whySkipped(w)
	case "unknown":
		return "Unknown: {reason}, so nobody knows whether the call that ended at {at} arrived. {code} {message}"
	case "cancelling":
		return "Not told: the notice was cancelled by {by} at {at}, before it came to this device."
	case "expiring":
		return "Not told: the notice expired at {at}, before it came to this device."
	default:
		return whyNone(w)
	}
}

func whySkipped(w WhyLine) string {
	switch {
	case w.Reason == "cancelled" && w.By != "":
		return "Skipped: the notice was cancelled by {by} at {since}."
	case w.Reason == "no_consent" && w.Since != "":
		return "Skipped at {at}: there was no consent. It was withdrawn at {since}."
	case w.Since != "":
		return "Skipped at {at}: {reason}, since {since}."
	default:
		return "Skipped at {at}: {reason}."
	}
}

// whyNone says why there is no delivery.
func whyNone(w WhyLine) string {
	switch w.Case {
	case "no_notice":
		return "There is no notice {notice}."
	case "no_device":
		return "There is no device {device}."
	case "later":
		return "Not in it: the device was registered at {at}, after the notice was accepted at {accepted}."
	case "to_come":
		return "Not yet: its turn is still to come, the notice's devices are being gone through."
	case "to_come_paused":
		return "Not yet: the notice was paused by {by} at {at}, before it came to this device."
	case "erased":
		return "Not in it: the device was erased at {at}."
	case "platform":
		return "Not in its audience: the device was on {platform}, and the notice was for {platforms}."
	case "tags":
		return "Not in its audience: the device has none of the tags {tags}."
	case "disabled", "no_consent":
		return whyGap(w)
	case "tags_changed":
		return "Not in its audience: it matched none of the tags {tags} then. Its own were changed at {at}; what they were is not kept."
	case "erased_since":
		return "Not in it. The device was erased at {at}, so what it was when its turn came is not kept."
	case "not_then":
		return "Not in it: the device matches now, and did not when its turn came. What changed is not on record."
	default:
		return w.Case
	}
}

// whyGap says that consent was missing, or that the device was disabled, from when
// to when.
func whyGap(w WhyLine) string {
	said := map[string][4]string{
		"no_consent": {
			"Not in it: the device has no consent, and none before is on record.",
			"Not in it: consent was withdrawn at {since}, and has not been given since.",
			"Not in it: there was no consent. It was given at {until}, too late for this notice.",
			"Not in it: consent was withdrawn at {since}, and given again at {until}, too late for this notice.",
		},
		"disabled": {
			"Not in it: the device is disabled: {why}.",
			"Not in it: the device was disabled at {since}: {why}.",
			"Not in it: the device was disabled until {until}.",
			"Not in it: the device was disabled at {since}: {why}. It was enabled again at {until}, too late for this notice.",
		},
	}[w.Case]
	known := 0
	if w.Since != "" {
		known |= 1
	}
	if w.Until != "" {
		known |= 2
	}
	return said[known]
}

// whyPiece is a part of the line: words of ours, or a value of some kind.
type whyPiece struct{ kind, text string }

// pieces gives the line with its values in their places; only our own words are
// searched for places. A value that is empty is left out.
func (w WhyLine) pieces() (list []whyPiece) {
	values := map[string]whyPiece{
		"at": {"time", w.At}, "since": {"time", w.Since}, "until": {"time", w.Until}, "accepted": {"time", w.AcceptedAt},
		"reason": {"", reasonText(w.Reason)}, "why": {"", disabledText(w.Reason)}, "code": {"code", w.Code}, "message": {"words", w.Message},
		"by": {"name", w.By}, "platform": {"", w.Platform}, "platforms": {"", w.Platforms}, "tags": {"name", w.Tags},
		"notice": {"", "#" + w.NoticeID}, "device": {"", w.DeviceID},
	}
	rest := WhySentence(w)
	for {
		words, after, more := strings.Cut(rest, "{")
		if words != "" {
			list = append(list, whyPiece{"", words})
		}
		if !more {
			return list
		}
		name, then, _ := strings.Cut(after, "}")
		if p := values[name]; p.text != "" {
			list = append(list, p)
		}
		rest = then
	}
}

// whyTone shows at a glance how it went.
func (w WhyLine) tone() string {
	switch w.Case {
	case "sent":
		return "good"
	case "failed":
		return "bad"
	case "unknown", "paused", "vendor_paused", "to_come_paused", "retry":
		return "warn"
	default:
		return "calm"
	}
}
