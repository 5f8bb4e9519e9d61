package views

import "strconv"

// Progress is the part of the notice page that is asked for again and again.
type Progress struct {
	NoticeID  string
	PollHref  string // where the next look goes; it names what the reader has already
	PollEvery string // such as 1s
	Live      bool   // false: nothing will change by itself any more, so polling ends
	State     string
	Estimate  int64 // how many devices matched when it began
	Counts    Counts
	AllKnown  bool  // total is final: the audience has been gone through
	Rate      int64 // deliveries per second now
	RateAll   int64 // on average
	Left      int64 // seconds left; 0: not known

	Pace       Pace
	Phases     []Phase
	Groups     []ReasonGroup
	Vendors    []VendorProgress // empty where all go to the HTTP vendor
	Twice      int64            // devices that may have been told twice
	LookedAt   string           // when the numbers were read
	FinishedAt string
	ExpiresAt  string

	QueueDownSince string // the queue does not answer; empty: it does
	NoWorker       bool
	NoWorkerSince  string // empty: not known since when
	StalledSince   string // nothing has moved; empty: it does move
	NextDueAt      string // when the next retry is due; empty: none waits
	VendorPaused   bool

	Acts     Acts
	ActsSwap bool // the actions have changed since the reader's page: send them along
}

// VendorProgress is how far it is at one vendor.
type VendorProgress struct {
	Vendor              Vendor
	Total, Sent, Failed int64
	Waiting             int64  // or under way
	State               string // ok, paused or probing
	Reason              string // why it is not ok
}

// Counts are the parts of the whole. Retrying are those that wait after a
// charged failure, Pending the rest that wait.
type Counts struct {
	Total, Pending, Retrying, Sending, Sent, Failed, Skipped, Unknown int64
}

// Done is how many have come to an end or to a person's desk.
func (c Counts) Done() int64 { return c.Sent + c.Failed + c.Skipped + c.Unknown }

// Phase is one step of a notice's way.
type Phase struct {
	Name string // accepted, listed, first, finished, cancelled
	Done bool
	Now  bool
	At   string
}

// ReasonGroup is how many deliveries ended in one status for one reason.
type ReasonGroup struct {
	Status, Reason string
	N              int64
	Href           string // the deliveries of the group
	ArchiveHref    string // empty: not for this reader, or not failed
}

// Acts says what may be done with a notice now, by this reader.
type Acts struct {
	NoticeID, Version             string
	Pause, Resume, Cancel, Repeat bool
	RepeatID, RepeatState         string // the newest of the chain, which Send it again repeats
}

// nobody says that the notice has ended and nobody was in its audience.
func (p Progress) nobody() bool {
	return p.State == "finished" && p.Counts.Total == 0
}

// percent is floored and reaches 100 only when the notice is finished. ok is
// false while the whole is not known, and where nobody was to be told.
func (p Progress) percent() (n int64, ok bool) {
	switch {
	case p.nobody():
		return 0, false
	case p.State == "finished":
		return 100, true
	case !p.AllKnown || p.Counts.Total == 0:
		return 0, false
	default:
		return min(p.Counts.Done()*100/p.Counts.Total, 99), true
	}
}

// announce is what a screen reader is told: only when a tenth more is done.
func (p Progress) announce() string {
	n, ok := p.percent()
	if !ok || p.State != "sending" {
		return stateText(p)
	}
	return stateText(p) + " " + strconv.FormatInt(n/10*10, 10) + " %"
}
