package views

import (
	"slices"
	"strings"

	"bongsu/views/ui"
)

// The states of a part.
const (
	StateOK      = "ok"
	StateWarn    = "warn"
	StateDown    = "down"
	StateUnknown = "unknown" // nobody can say just now
)

// Status is the page that says how everything is.
type Status struct {
	Shell
	Live StatusLive
	// The time limits, the outermost first.
	Ladder []Limit
}

// StatusLive is the part that is asked for again.
type StatusLive struct {
	LookedAt string
	Items    []StatusRow
	Workers  []WorkerRow
	Can      Can // of the reader, for what a state means to him
}

// StatusRow is one part and how it is. Key is database, redis, vendor, workers,
// feeder, backlog, notices or disk.
type StatusRow struct {
	Key, State string
	Message    string // key of the message that explains it; empty: none
	Facts      string // numbers and words, already put together
	Since      string // since when it is so; empty: not known
	Next       string // when it is tried again; empty: not known
	Last       string // when it did its work last; empty: not known
	Links      []StatusLink
}

// StatusLink leads to something that is not well.
type StatusLink struct{ Href, Text, Since string }

// WorkerRow is one process that sends.
type WorkerRow struct {
	ID, StartedAt, SeenAt, Version string
	InFlight, Slots                int64
	Lost                           bool // it is not heard of any more
}

// Limit is one step of the ladder of time limits.
type Limit struct {
	Name, Value string
	Longer      string // what it must be longer than, in words
	Variable    string // the setting; empty: it is fixed
	OK          bool
}

// BadgeFor sums up: what is down, else how many warnings there are, else that
// all is well. row is the first that is not well.
func BadgeFor(row StatusRow, warnings int) Badge {
	switch {
	case row.State == StateDown:
		return Badge{Text: badgeText(row), State: StateDown}
	case warnings > 0:
		return Badge{Text: ui.Of(int64(warnings), "warning", "warnings"), State: StateWarn}
	default:
		return Badge{Text: statusWords().AllWell, State: StateOK}
	}
}

// BadgeUnknown is the badge while nobody can say how the parts are.
func BadgeUnknown() Badge { return Badge{Text: statusWords().NotKnown, State: StateUnknown} }

// JoinFacts puts facts beside one another, without the empty ones.
func JoinFacts(facts ...string) string {
	var some []string
	for _, f := range facts {
		if f != "" {
			some = append(some, f)
		}
	}
	return strings.Join(some, "; ")
}

// means says in one line what the state of a part means for the reader.
func (r StatusRow) means(can Can) string {
	if m, ok := MessageOf(r.Message); ok {
		return m.line(can)
	}
	return statusMeans(r.Key, r.State)
}

// knowsWorkers says whether anything is known of the workers.
func (m StatusLive) knowsWorkers() bool {
	return slices.ContainsFunc(m.Items, func(r StatusRow) bool { return r.Key == "workers" && r.State != StateUnknown })
}

// worker says whether one is running.
func (m StatusLive) worker() bool {
	return slices.ContainsFunc(m.Workers, func(w WorkerRow) bool { return !w.Lost })
}
