package views

import (
	"strings"

	"bongsu/views/ui"
)

type progressText struct {
	Vendors, Vendor, Calls                                            string
	Heading, Bar, Now, Average, Left, LookedAt, Ends, Phases          string
	Reasons, Status, Reason, Number, Show, InArchive                  string
	Total, Pending, Retrying, Sending, Sent, Failed, Skipped          string
	Unknown, UnknownHint, Decide, QueueDown, QueueHint, NoWorker      string
	NoWorkerHint, LastSeen, Stalled, NextDue, VendorPaused, LookAgain string
	Pause, Resume, Cancel, Repeat, Acts                               string
}

func progressWords() progressText {
	return progressText{
		Heading: "Progress", Bar: "Share that is done", Now: "/s now", Average: "/s on average", Left: "about %s left",
		LookedAt: "as of", Ends: "ends at", Phases: "Steps",
		Reasons: "What did not arrive, by reason", Status: "Status", Reason: "Reason", Number: "Number", Show: "Show them", InArchive: "In the archive",
		Vendors: "By vendor", Vendor: "Vendor", Calls: "Calls",
		Total: "Total", Pending: "Waiting", Retrying: "Waiting for a retry", Sending: "Being sent", Sent: "Sent", Failed: "Failed",
		Skipped: "Skipped", Unknown: "Unknown",
		UnknownHint: "were called without an answer and wait for a decision.", Decide: "Decide",
		QueueDown: "Sending waits for the queue (Redis), which has not answered since", QueueHint: "Nothing is lost; sending goes on by itself when it is back.",
		NoWorker: "No worker is running", NoWorkerHint: "Nothing is lost. Start bongsu serve with the role worker or all; sending goes on by itself.",
		LastSeen: "one was last seen at",
		Stalled:  "Nothing has moved since", NextDue: "The next retry is due at",
		VendorPaused: "Calls to the vendor are paused, so this waits. Nothing is lost and nothing is charged.",
		LookAgain:    "Look again",
		Pause:        "Pause", Resume: "Resume", Cancel: "Cancel …", Repeat: "Send it again …", Acts: "What you can do",
	}
}

// stateText says in a sentence where the notice is.
func stateText(p Progress) string {
	switch p.State {
	case "accepted":
		return "Accepted; sending begins in a moment."
	case "sending":
		return "Being sent."
	case "paused":
		return "Paused: no new call is made until somebody resumes it."
	case "finished":
		return finishedText(p.Counts)
	case "cancelled":
		return "Cancelled. " + finishedText(p.Counts)
	default:
		return p.State
	}
}

// finishedText says how it ended.
func finishedText(c Counts) string {
	if c.Total == 0 {
		return "Finished: nobody matched, so nobody was told."
	}
	return "Finished: " + strings.Join(parts(
		part{c.Sent, "sent"}, part{c.Failed, "failed"}, part{c.Skipped, "skipped"}, part{c.Unknown, "unknown"},
	), ", ") + "."
}

// countsText is the first thing on the page: how many of how many, and where
// the rest is.
func countsText(p Progress) string {
	c := p.Counts
	if p.nobody() {
		return "Nobody was told: no device was in the audience."
	}
	whole := ui.Num(c.Total)
	if !p.AllKnown && p.Estimate > c.Total {
		whole = "about " + ui.Num(p.Estimate)
	}
	if c.Total == 0 && p.Estimate == 0 {
		if p.AllKnown {
			return "Nobody was told: no device was in the audience."
		}
		return "The audience has not been gone through yet."
	}
	s := ui.Num(c.Done()) + " of " + whole + " done"
	if done := parts(part{c.Sent, "accepted by the vendor"}, part{c.Failed, "failed"},
		part{c.Skipped, "skipped"}, part{c.Unknown, "unknown"}); len(done) > 0 {
		s += ": " + strings.Join(done, ", ")
	}
	if rest := parts(part{c.Retrying, "waiting for a retry"}, part{c.Sending, "being sent"},
		part{c.Pending, "waiting"}); len(rest) > 0 {
		s += "; " + strings.Join(rest, ", ")
	}
	return s + "."
}

type part struct {
	n    int64
	what string
}

// parts leaves out what is zero.
func parts(all ...part) []string {
	var out []string
	for _, p := range all {
		if p.n != 0 {
			out = append(out, ui.Num(p.n)+" "+p.what)
		}
	}
	return out
}

func phaseText(name string) string {
	words := map[string]string{
		"accepted": "accepted", "listed": "audience gone through", "first": "first attempts",
		"retries": "retries", "finished": "finished", "cancelled": "cancelled",
	}
	if w, ok := words[name]; ok {
		return w
	}
	return name
}

func twiceText(n int64) string {
	return ui.Of(n, "device", "devices") + " may have been told twice: a call was made and its answer never came, so it was made again."
}

func unknownText(n int64) string {
	return ui.Of(n, "delivery", "deliveries") + " " + progressWords().UnknownHint
}

// RepeatOf says which notice Send it again repeats, where it is not this one.
func (progressText) RepeatOf(a Acts) string {
	return "It repeats the newest of these, #" + a.RepeatID + " (" + a.RepeatState + ")."
}

// callsText says whether a vendor is called, and callsTone how that looks.
func callsText(state, reason string) string {
	switch {
	case state == "ok":
		return "as usual"
	case state == "probing":
		return "out of order, tried every 2 s"
	case reason == "credentials_refused":
		return "paused: our credentials are refused"
	case reason == "not_configured":
		return "paused: no settings for it"
	case reason == "refusals":
		return "paused: it refuses most"
	default:
		return "paused"
	}
}

func callsTone(state string) ui.Tone {
	if state == "ok" {
		return ui.Good
	}
	return ui.Warn
}
