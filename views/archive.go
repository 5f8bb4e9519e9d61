package views

import (
	"strings"

	"bongsu/views/ui"
)

// Archive is the list of failed deliveries: groups by reason, then the rows.
type Archive struct {
	Shell
	Notice, Reason, Code string // the filters in force; empty: none
	Groups               []ArchiveGroup
	Matched              int64 // how many match the filters
	Items                []DeliveryRow
	FirstHref, NextHref  string
	CanReplay            bool
}

// ArchiveGroup is how many failed for one reason.
type ArchiveGroup struct {
	Href, Reason string
	N            int64
	On           bool // it is the one chosen
}

func (m Archive) filtered() bool { return m.Notice != "" || m.Reason != "" || m.Code != "" }

// Replay is the page of one replay run.
type Replay struct {
	Shell
	Run ReplayRun
}

// ReplayRun is the live part: what was matched, put back and skipped.
type ReplayRun struct {
	ID, State         string // pending, running or done
	Reason, Code      string // the filters; empty: any
	Matched, Replayed int64
	Skipped           []ReasonGroup
	AskedBy, AskedAt  string
	FinishedAt        string
	Live              bool
	PollHref          string
	NoticeID          string // the filter's; empty: any, or single deliveries were chosen
}

func (r ReplayRun) skipped() (n int64) {
	for _, g := range r.Skipped {
		n += g.N
	}
	return n
}

type archiveText struct {
	Title, Intro, Groups, Reason, Code, Notice, Number, Show, ClearAll, Filters string
	Rows, Caption, Choose, ChooseAll, ReplayN, ReplayChosen, ReplayOne, Narrow  string
	Empty, EmptyHint, NoMatch, NoMatchHint                                      string
}

func archiveWords() archiveText {
	return archiveText{
		Title: "Archive", Intro: "Deliveries that ended as failed. Mend the cause, then replay: each is put back once and tried again.",
		Groups: "By reason", Reason: "Reason", Code: "Code", Notice: "Notice", Number: "Number", Show: "Show only these",
		ClearAll: "Show all again", Filters: "Only",
		Rows: "Deliveries", Caption: "Failed deliveries", Choose: "Choose", ChooseAll: "Choose all on this page",
		ReplayN: "Replay the {n} chosen", ReplayChosen: "Replay the chosen", ReplayOne: "Replay",
		Narrow: "Choose a reason or a notice above to replay all that match.",
		Empty:  "The archive is empty.", EmptyHint: "No delivery has failed. Failures are listed here with their reason.",
		NoMatch: "Nothing matches.", NoMatchHint: "These may have been replayed meanwhile.",
	}
}

func replayAllText(n int64) string {
	if n == 1 {
		return "Replay the 1 that matches"
	}
	return "Replay all " + ui.Num(n) + " that match"
}

type replayText struct {
	Title, Asked, By, Matched, Replayed, Skipped, Left, Finished, Notice, Archive, Bar, LookAgain, Reasons, Reason, Number string
}

func replayWords() replayText {
	return replayText{
		Title: "Replay", Asked: "Asked for", By: "by", Matched: "Matched", Replayed: "Put back", Skipped: "Skipped", Left: "Left",
		Finished: "Done", Notice: "See how they fare on the notice's page", Archive: "Back to the archive", Bar: "Share that is done",
		LookAgain: "Look again", Reasons: "Skipped, by reason", Reason: "Reason", Number: "Number",
	}
}

// replaySays is the first sentence of the page.
func replaySays(r ReplayRun) string {
	s := ui.Of(r.Matched, "delivery", "deliveries") + " matched: " + ui.Num(r.Replayed) + " put back, " + ui.Num(r.skipped()) + " skipped"
	left := r.Matched - r.Replayed - r.skipped()
	switch {
	case left > 0 && r.State == "done":
		s += ", " + ui.Num(left) + " no longer in the archive when their turn came"
	case left > 0:
		s += ", " + ui.Num(left) + " left"
	}
	return s + "."
}

// replayWhat says what was chosen.
func replayWhat(r ReplayRun) string {
	var parts []string
	if r.NoticeID != "" {
		parts = append(parts, "notice #"+r.NoticeID)
	}
	if r.Reason != "" {
		parts = append(parts, reasonText(r.Reason))
	}
	if r.Code != "" {
		parts = append(parts, "code "+r.Code)
	}
	if len(parts) == 0 {
		return "Single deliveries were chosen."
	}
	return "All that match: " + strings.Join(parts, ", ") + "."
}

func (r ReplayRun) announce() string {
	if r.State == "done" {
		return replaySays(r)
	}
	return r.State
}
