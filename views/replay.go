package views

import (
	"slices"
	"strings"

	"bongsu/views/ui"
)

// ReplayPlan is what a replay would do, before it begins.
type ReplayPlan struct {
	Shell
	ID               string
	Filter           ArchiveFilter
	Listed           bool // single deliveries were chosen
	Matched          int64
	Refused          []ReasonGroup // whom it would skip
	Rate             int64         // calls a second; 0: no limit
	AskedBy, AskedAt string
	Back             string
}

func (m ReplayPlan) refused() int64 { return sumOf(m.Refused) }

func sumOf(groups []ReasonGroup) (n int64) {
	for _, g := range groups {
		n += g.N
	}
	return n
}

// Replay is the page of one replay run.
type Replay struct {
	Shell
	Run ReplayRun
}

// ReplayRun is the live part: what was matched, put back and skipped, and how it
// fared.
type ReplayRun struct {
	ID, State         string // pending, running, paused, cancelled or done
	Filter            ArchiveFilter
	Matched, Replayed int64
	FailedAgain       int64
	Skipped           []ReasonGroup
	AskedBy, AskedAt  string
	FinishedAt        string
	Live              bool
	PollHref          string
	PollEvery         string // such as 1s
}

func (r ReplayRun) skipped() int64 { return sumOf(r.Skipped) }

func (r ReplayRun) left() int64 { return max(0, r.Matched-r.Replayed-r.skipped()) }

func (r ReplayRun) over() bool { return r.State == "done" || r.State == "cancelled" }

type replayText struct {
	Title, Asked, By, Finished, Notice, Archive, Bar, LookAgain, Reasons, Reason, Number, Again                 string
	Pause, Resume, Cancel                                                                                       string
	PlanTitle, PlanSkips, PlanStart, PlanBack, PlanFrozen, PlanNone, PlanNobody, PlanDisabled, PlanDisabledLink string
}

func replayWords() replayText {
	return replayText{
		Title: "Replay", Asked: "Asked for", By: "by", Finished: "Ended",
		Notice: "See how they fare on the notice's page", Archive: "Back to the archive", Bar: "Share that is done",
		LookAgain: "Look again", Reasons: "Skipped, by reason", Reason: "Reason", Number: "Number", Again: "See those that failed again",
		Pause: "Pause", Resume: "Resume", Cancel: "Cancel…",
		PlanTitle: "Replay these?", PlanSkips: "Will be skipped, by reason", PlanStart: "Start the replay", PlanBack: "Back, do nothing",
		PlanFrozen:       "This is the set as it is now: what fails later does not belong to it. Each is put back once, whoever else presses; nothing has been done yet.",
		PlanNone:         "Nothing matches any more. These may have been replayed meanwhile.",
		PlanNobody:       "All of them would be skipped, so there is nothing to start. Mend what they are skipped for, then choose them again in the archive.",
		PlanDisabled:     "Devices are disabled when a vendor calls their address gone. If that was wrong, import a list of them with “Enable devices again that are disabled” under",
		PlanDisabledLink: "Imports",
	}
}

// disabled tells whether some are skipped because their device is disabled.
func (m ReplayPlan) disabled() bool {
	return slices.ContainsFunc(m.Refused, func(g ReasonGroup) bool { return g.Reason == "device_disabled" })
}

// planSays is the first sentence of a plan.
func planSays(m ReplayPlan) string {
	s := ui.Of(m.Matched, "delivery matches", "deliveries match") + ": " + ui.Num(m.Matched-m.refused()) + " will be put back and sent again"
	if n := m.refused(); n > 0 {
		s += ", " + ui.Num(n) + " will be skipped"
	}
	return s + "."
}

// planRate says how fast.
func planRate(m ReplayPlan) string {
	if m.Rate == 0 {
		return "There is no limit of calls a second: they go out as fast as the vendor takes them, beside what is being sent."
	}
	return "At most " + ui.Of(m.Rate, "call", "calls") + " a second go out, beside what is being sent: " + ui.Span((m.Matched-m.refused()+m.Rate-1)/m.Rate) + " at least."
}

// replaySays is the first sentence of a run's page.
func replaySays(r ReplayRun) string {
	s := ui.Of(r.Matched, "delivery", "deliveries") + " matched: " + ui.Num(r.Replayed) + " put back, " + ui.Num(r.skipped()) + " skipped"
	if r.left() > 0 {
		s += ", " + ui.Num(r.left()) + map[bool]string{true: " left in the archive", false: " left"}[r.over()]
	}
	return s + "."
}

// replayAgain says how many of those put back have failed again.
func replayAgain(r ReplayRun) string {
	switch {
	case r.Replayed == 0:
		return ""
	case r.FailedAgain == 0:
		return "None of them has failed again so far."
	case r.FailedAgain > 10_000:
		return "More than 10,000 of them have failed again so far."
	default:
		return ui.Of(r.FailedAgain, "of them has", "of them have") + " failed again so far."
	}
}

// filterSays says what was chosen.
func filterSays(f ArchiveFilter) string {
	var parts []string
	for _, p := range []struct{ before, what string }{
		{"notice #", f.Notice}, {"", reasonOrNone(f.Reason)}, {"code ", f.Code}, {"", f.Platform}, {"failed from ", utcMinute(f.Since)}, {"failed until ", utcMinute(f.Until)},
	} {
		if p.what != "" {
			parts = append(parts, p.before+p.what)
		}
	}
	if len(parts) == 0 {
		return "Single deliveries were chosen."
	}
	return "All that match: " + strings.Join(parts, ", ") + "."
}

func reasonOrNone(reason string) string {
	if reason == "" {
		return ""
	}
	return reasonText(reason)
}

// utcMinute shows a moment of the filter.
func utcMinute(text string) string {
	if text == "" {
		return ""
	}
	return strings.Replace(text, "T", " ", 1) + " UTC"
}

func (r ReplayRun) announce() string {
	if r.over() {
		return replaySays(r)
	}
	return r.State
}

// CancelReplayText gives the words of the page that asks before a replay is
// cancelled.
func CancelReplayText(r ReplayRun) Confirm {
	return Confirm{
		Title: "Cancel replay " + r.ID + "?",
		Says: []string{
			ui.Of(r.left(), "delivery is", "deliveries are") + " still to be put back. Cancelled, they stay in the archive and can be replayed later.",
			ui.Of(r.Replayed, "delivery was", "deliveries were") + " put back by now and will be sent.",
		},
		Yes: "Cancel the replay", No: "Back, do nothing",
	}
}
