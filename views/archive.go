package views

import "bongsu/views/ui"

// ArchiveFilter is what the archive is narrowed to, as it was typed; what is empty
// does not narrow. Times are UTC.
type ArchiveFilter struct{ Notice, Reason, Code, Platform, Since, Until string }

func (f ArchiveFilter) on() bool { return f != ArchiveFilter{} }

// Archive is the list of failed deliveries: groups by reason, then the rows.
type Archive struct {
	Shell
	Filter                       ArchiveFilter
	Wrong                        map[string]string // by field of the filter
	Groups                       []ArchiveGroup
	Matched                      int64 // how many match the filters
	Items                        []DeliveryRow
	Runs                         []ReplayRun // the newest, those under way first
	FirstHref, NextHref, CSVHref string
	CanReplay                    bool
}

// ArchiveGroup is how many failed for one reason.
type ArchiveGroup struct {
	Href, Reason    string
	N               int64
	FirstAt, LastAt string
	On              bool // it is the one chosen
}

type archiveText struct {
	Title, Intro, Groups, Reason, Code, CodeHint, Notice, Number, First, Last, Show, ClearAll, Filters string
	Platform, Since, Until, TimeHint, Narrow, CSV                                                      string
	Rows, Caption, Choose, ChooseAll, ReplayN, ReplayChosen, ReplayOne, NarrowFirst                    string
	Empty, EmptyHint, NoMatch, NoMatchHint                                                             string
	Runs, Run, State, What, Asked, Done                                                                string
}

func archiveWords() archiveText {
	return archiveText{
		Title: "Archive", Intro: "Deliveries that ended as failed. Mend the cause, then replay: each is put back once and tried again.",
		Groups: "By reason", Reason: "Reason", Code: "Code", CodeHint: "the vendor's own", Notice: "Notice", Number: "Number", First: "First ever", Last: "Last", Show: "Show only these",
		ClearAll: "Show all again", Filters: "Only", Platform: "Platform", Since: "Failed from (UTC)", Until: "until (UTC)", TimeHint: "such as 2027-01-31T18:00",
		Narrow: "Show", CSV: "As CSV",
		Rows: "Deliveries", Caption: "Failed deliveries", Choose: "Choose", ChooseAll: "Choose all on this page",
		ReplayN: "Replay the {n} chosen", ReplayChosen: "Replay the chosen", ReplayOne: "Replay",
		NarrowFirst: "Narrow the list to replay all that match.",
		Empty:       "The archive is empty.", EmptyHint: "No delivery has failed. Failures are listed here with their reason.",
		NoMatch: "Nothing matches.", NoMatchHint: "These may have been replayed meanwhile. Widen the filter, or show all again.",
		Runs: "Replays", Run: "Replay", State: "State", What: "What", Asked: "Asked for", Done: "Put back",
	}
}

func replayAllText(n int64) string {
	if n == 1 {
		return "Replay the 1 that matches"
	}
	return "Replay all " + ui.Num(n) + " that match"
}
