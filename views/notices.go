package views

// Notices is the list of notices, newest first.
type Notices struct {
	Shell
	Items     []NoticeRow
	FirstHref string // empty: this is the first page
	NextHref  string // empty: this is the last page
}

// NoticeRow is one notice in the list.
type NoticeRow struct {
	Href, Title, State, AcceptedAt, By string
	Total, Sent, Failed, Waiting       int64
	RepeatOf                           string // its id; empty: none
}

type noticesText struct {
	Title, Caption, New, Empty, EmptyHint, EmptyRead                string
	Notice, State, Total, Sent, Failed, Waiting, Accepted, RepeatOf string
}

func noticesWords() noticesText {
	return noticesText{
		Title: "Notices", Caption: "All notices, the newest first", New: "Write a new notice",
		Empty: "There is no notice yet.", EmptyHint: "Write the first one: it is accepted at once and sent in the background.",
		EmptyRead: "It will be listed here as soon as an operator submits one.",
		Notice:    "Notice", State: "State", Total: "Devices", Sent: "Sent", Failed: "Failed", Waiting: "Waiting",
		Accepted: "Accepted", RepeatOf: "repeats",
	}
}

// stateWord is the notice's state, and that a finished one told nobody.
func (n NoticeRow) stateWord() string {
	if n.State == "finished" && n.Total == 0 {
		return "finished: nobody matched"
	}
	return n.State
}
