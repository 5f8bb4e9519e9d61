package views

import "bongsu/views/ui"

// Confirm is the page between a press and an act that cannot be taken back.
type Confirm struct {
	Shell
	Title   string
	Says    []string // what will happen, a paragraph each
	Action  string   // where the act is posted to
	Fields  []Hidden
	Yes, No string // labels
	Back    string // where No leads
}

// Hidden is a value that a form carries along.
type Hidden struct{ Name, Value string }

// CancelText gives the words of the page that asks before a notice is cancelled.
// waiting is how many deliveries have not come to an end.
func CancelText(title string, waiting int64) Confirm {
	return Confirm{
		Title: "Cancel this notice?",
		Says: []string{
			"“" + title + "” stops for good. Of the " + ui.Of(waiting, "delivery", "deliveries") + " still open, those that the vendor was not called for are skipped with the reason cancelled.",
			"What is being sent right now is still recorded. A cancelled notice cannot be resumed; it can be sent again as a new one.",
		},
		Yes: "Cancel the notice", No: "Back, do nothing",
	}
}

// EraseText gives the words of the page that asks before a device is erased.
func EraseText() Confirm {
	return Confirm{
		Title: "Erase this device?",
		Says: []string{
			"Its address, its user and its tags are removed for good, and it gets no further notice.",
			"The counts of the notices it got stay as they are. This cannot be taken back.",
		},
		Yes: "Erase the device", No: "Back, do nothing",
	}
}
