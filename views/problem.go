package views

// Problem is what a person reads when something went wrong. It needs nothing
// but itself, so that it can be shown while the database is away.
type Problem struct {
	Shell
	Title     string // what happened, in a few words
	What      string // what happened
	Do        string // what to do; empty: nothing
	Back      string // where to go; empty: nowhere
	BackText  string
	Since     string // since when it is so; empty: not known
	Runbook   string // where it is explained; empty: nowhere
	RequestID string
	NewTab    bool // Back opens beside this page, so that what was typed stays
	Again     *Again
}

// Again is a form that was sent and not done, to be sent again as it was: so
// what was typed is not lost where there is no script.
type Again struct {
	Action string
	Fields []Hidden
}

type problemText struct{ Request, Again, Kept, Since, Runbook string }

func problemWords() problemText {
	return problemText{
		Request: "If you ask somebody about it, name this request:",
		Since:   "It has been so since", Runbook: "What this means, and what to do",
		Again: "Try again", Kept: "What you typed is kept here:",
	}
}
