package views

import (
	"strings"

	"bongsu/views/ui"
)

// Imports is the list of imports, with the form for a new one.
type Imports struct {
	Shell
	Mine                bool   // only the reader's own
	State               string // only in this state; "": all
	Tabs                []Tab
	MineHref, AllHref   string
	Items               []ImportRow
	FirstHref, NextHref string
	Form                ImportForm
}

// ImportRow is one line of it.
type ImportRow struct {
	Href, ID, File, State, AcceptedAt, By string
	Total, Rejected                       int64
}

// ImportForm is what was chosen, and what is wrong with it.
type ImportForm struct {
	DryRun, Enable, FullList bool
	AgainOf                  string // the import that is repeated on purpose
	Wrong                    string
}

// Import is the page of one import.
type Import struct {
	Shell
	Run      ImportRun
	Original bool // the file was here before: this is the import that it became
	Rejects  []RejectedRow
	More     bool // there are further rejected rows than are shown
	CSVHref  string
}

// ImportRun is its live part.
type ImportRun struct {
	ID, File, State, Phase                                  string
	By, AcceptedAt, StartedAt, FinishedAt, EndedBy          string
	DryRun, Enable, FullList                                bool
	AgainOf                                                 string
	Bytes, BytesRead                                        int64
	Total                                                   int64
	TotalKnown                                              bool
	Created, Updated, Unchanged, Rejected, Doubled, Missing int64
	Enabled, Disabled                                       int64
	Ignored                                                 []string
	Reasons                                                 []ReasonGroup
	Error                                                   string
	Rate, Left                                              int64 // rows per second; seconds
	Live, Asks, AsksTwice, CanAct                           bool
	ConfirmedBy                                             string
	StalledSince                                            string // nobody has worked on it since; "": somebody does
	QueueDown, NoWorker                                     bool
	PollHref, PollEvery                                     string
}

// RejectedRow is a row of the list that did not go in.
type RejectedRow struct {
	Row                    int64
	Column, Value, Message string
}

func (r ImportRun) processed() int64 {
	return r.Created + r.Updated + r.Unchanged + r.Rejected + r.Doubled
}

// share is how much is done, of value and max of a bar.
func (r ImportRun) share() (value, whole int64) {
	if r.TotalKnown {
		return r.processed(), max(r.Total, 1)
	}
	return r.BytesRead, max(r.Bytes, 1)
}

type importsText struct {
	Title, Intro, Caption, Number, File, State, Accepted, By, Rows, Rejected, Empty, EmptyHint, NoMatch, NoMatchHint               string
	New, Choose, ChooseHint, DryRun, Enable, FullList, Do, AgainOf, Format, FormatWhat, FormatVendor, Template, Sending, Mine, All string
	ByState, Options, Anybody, Export                                                                                              string
}

func importsWords() importsText {
	return importsText{
		Title: "Imports", Intro: "Device lists as CSV. A list is accepted at once and worked on by itself: it need not be sent again.",
		Caption: "Imports, newest first", Number: "Import", File: "File", State: "State", Accepted: "Accepted", By: "By", Rows: "Rows", Rejected: "Rejected",
		Empty: "Nothing was imported yet.", EmptyHint: "Choose a list above.", NoMatch: "No import is in this state.", NoMatchHint: "Choose another state, or all.",
		New: "Import a list", Choose: "The list (CSV, may be packed with gzip)", ChooseHint: "Up to 2,000,000 rows and 512 MiB.",
		DryRun:   "Dry run: only count what would change",
		Enable:   "Enable devices again that are disabled",
		FullList: "This is the full list: disable devices that it does not name (you are asked before)",
		Do:       "Import", AgainOf: "This repeats import", Options: "Options",
		Format:       "What the list must look like",
		FormatWhat:   "The first row names the columns, in any order: token and platform (android, ios or web), and where you have them user, tags (a|b), consent (true or false) and installation. A column that is left out leaves what is stored. Comma, semicolon or tab; UTF-8 or UTF-16.",
		FormatVendor: "Where devices are at several vendors, the column vendor says http, fcm, apns or webpush. With apns, environment is production or sandbox; with webpush, token is the endpoint, and p256dh and auth are the keys of the browser's subscription. An empty vendor leaves a device where it is; a new one is at http.",
		Template:     "An empty list to fill in", Sending: "{done} of {whole} MB are there", Mine: "Only mine", All: "Everybody's", ByState: "By state", Anybody: "all",
		Export: "Export devices",
	}
}

type importText struct {
	Title, Accepted, By, Original, OriginalWhat, Again, AgainHint, Options, Counts, Created, Updated, Unchanged, Rejected, Doubled, Disabled, Missing string
	DoubledHint, Ignored, Finished, Reasons, Reason, Number, Bar, Left, Rate, Cancel, LookAgain, Rejects, Row, Column, Value, Why, All, First         string
	AskYes, AskTwice, AskNo, AskLegend, QueueDown, NoWorker, Stalled, Repeats, Back, NoRejects, Confirmed                                             string
}

func importWords() importText {
	return importText{
		Title: "Import", Accepted: "Accepted", By: "by", Original: "This file was accepted at", OriginalWhat: "Nothing was imported twice.",
		Again: "Import again", AgainHint: "To import the same file once more on purpose, choose it again here.", Options: "Options",
		Counts: "Rows", Created: "new devices", Updated: "changed", Unchanged: "unchanged", Rejected: "rejected", Doubled: "overtaken", Disabled: "devices disabled", Missing: "devices not in the list",
		DoubledHint: "Overtaken rows name a device that a later row of the list names too: the last one counts.",
		Ignored:     "Columns that mean nothing here:", Finished: "Ended", Reasons: "Rejected, by reason", Reason: "Reason", Number: "Number",
		Bar: "Share that is done", Left: "about %s left", Rate: "rows a second", Cancel: "Cancel …", LookAgain: "Look again",
		Rejects: "Rejected rows", Row: "Row", Column: "Column", Value: "Value", Why: "What is wrong",
		All: "All rejected rows as CSV, to mend and upload again", First: "The first 1,000 are shown.",
		AskYes: "Disable them", AskTwice: "Yes, that is right although it is more than a fifth of all devices", AskNo: "Leave them as they are",
		AskLegend: "The list is in. What of the devices that it does not name?",
		QueueDown: "Work waits for the queue, which does not answer. Nothing is lost, and it goes on by itself.",
		NoWorker:  "Work waits: no worker is running. Nothing is lost.", Stalled: "Nobody has worked on it since", Repeats: "It repeats import",
		Back: "All imports", NoRejects: "No row was rejected.", Confirmed: "Confirmed by",
	}
}

// importSays is the first sentence of the page.
func importSays(r ImportRun) string {
	switch r.State {
	case "pending":
		return "The list is here and waits for its turn. It need not be sent again."
	case "failed":
		return "The list could not be imported."
	case "cancelled":
		return "Cancelled. " + ui.Of(r.processed(), "row was", "rows were") + " done before, and stay done."
	case "done":
		return doneSays(r)
	}
	switch r.Phase {
	case "reading":
		return "Reading the list: " + ui.Of(r.Total, "row", "rows") + " so far, " + megabytes(r.BytesRead) + " of " + megabytes(r.Bytes) + ". It need not be sent again."
	case "matching":
		return "Looking for devices that the list names more than once."
	case "writing":
		return ui.Num(r.processed()) + " of " + ui.Of(r.Total, "row", "rows") + " done. It need not be sent again."
	case "counting":
		return "Looking for devices that the list does not name."
	case "confirm":
		return ui.Of(r.Missing, "enabled device is", "enabled devices are") + " not in the list, of " + ui.Num(r.Enabled) + "."
	default:
		return "Disabling devices that the list does not name: " + ui.Num(r.Disabled) + " of " + ui.Num(r.Missing) + "."
	}
}

func doneSays(r ImportRun) string {
	what := "Done"
	if r.DryRun {
		what = "Dry run, nothing was changed"
	}
	if r.Total == 0 {
		return what + ": the list has no row."
	}
	list := parts(part{r.Created, "new"}, part{r.Updated, "changed"}, part{r.Unchanged, "unchanged"}, part{r.Doubled, "overtaken"}, part{r.Rejected, "rejected"})
	if r.Disabled > 0 {
		list = append(list, ui.Of(r.Disabled, "device", "devices")+" disabled")
	}
	return what + ": " + ui.Of(r.Total, "row", "rows") + ", " + strings.Join(list, ", ") + "."
}

func (r ImportRun) announce() string {
	if r.Live && !r.Asks {
		return r.State
	}
	return importSays(r)
}

// megabytes writes a size.
func megabytes(n int64) string {
	switch {
	case n < 1000:
		return ui.Of(n, "byte", "bytes")
	case n < 1_000_000:
		return ui.Num(n/1000) + " kB"
	default:
		return ui.Num(n/1_000_000) + "." + ui.Num(n/100_000%10) + " MB"
	}
}

func importTone(r ImportRun) ui.Tone {
	if r.State == "done" && r.Rejected > 0 {
		return ui.Warn
	}
	return importStateTone(r.State)
}

func importStateTone(state string) ui.Tone {
	switch state {
	case "done":
		return ui.Good
	case "failed":
		return ui.Bad
	case "cancelled":
		return ui.Warn
	case "running":
		return ui.Now
	default:
		return ui.Next
	}
}

// importOptions says what an import was asked to do.
func importOptions(r ImportRun) string {
	var list []string
	for _, o := range []struct {
		on   bool
		what string
	}{{r.DryRun, "dry run"}, {r.Enable, "disabled devices are enabled again"}, {r.FullList, "full list"}} {
		if o.on {
			list = append(list, o.what)
		}
	}
	return strings.Join(list, ", ")
}

// rejectText says in a few words why rows were rejected.
func rejectText(reason string) string {
	words := map[string]string{
		"bad_token": "no token, or one that cannot be", "bad_platform": "no platform that is known", "bad_user": "a user that cannot be",
		"bad_tags": "tags that cannot be", "bad_installation": "an installation that cannot be", "bad_consent": "consent in words that are not known",
		"bad_quotes": "quotes in the wrong place", "too_many_cells": "more cells than columns", "header_again": "the first row once more",
		"bad_vendor": "no vendor that is known, or one that is missing", "bad_environment": "environment missing, or not of this vendor",
		"bad_p256dh": "p256dh missing, wrong, or not of this vendor", "bad_auth": "auth missing, wrong, or not of this vendor",
		"host_unsure": "a host that could not be looked up",
		"zero_byte":   "a zero byte", "control_character": "a control character", "refused": "refused by the database",
	}
	if w, ok := words[reason]; ok {
		return w
	}
	return reason
}

// CancelImportText gives the words of the page that asks before an import is
// cancelled. n is how many rows are done.
func CancelImportText(file string, n int64) Confirm {
	return Confirm{
		Title: "Cancel this import?",
		Says: []string{"“" + file + "” stops at once. " + ui.Of(n, "row is", "rows are") + " done by now and stay done; the others do not go in.",
			"A cancelled import cannot go on; the same file can be imported again."},
		Yes: "Cancel the import", No: "Back, let it go on",
	}
}

// Export is the page on which devices are taken out as CSV.
type Export struct {
	Shell
	Platform, Tag, User, State string
}

type exportText struct{ Title, Intro, Platform, Tag, User, State, Any, Do string }

func exportWords() exportText {
	return exportText{
		Title: "Export devices", Intro: "The addresses of devices, keys of browsers among them, in the columns that an import reads. Importing the file again changes nothing. Who takes one out is in the log.",
		Platform: "Platform", Tag: "Tag", User: "User", State: "State", Any: "all", Do: "Export as CSV",
	}
}

func platformOptions(on string) []ui.Option {
	list := []ui.Option{{Value: "", Label: exportWords().Any, On: on == ""}}
	for _, p := range []string{"android", "ios", "web"} {
		list = append(list, ui.Option{Value: p, Label: p, On: on == p})
	}
	return list
}

func exportStates(on string) []ui.Option {
	return []ui.Option{
		{Value: "", Label: exportWords().Any, On: on == ""}, {Value: "enabled", Label: "enabled", On: on == "enabled"},
		{Value: "disabled", Label: "disabled", On: on == "disabled"}, {Value: "no_consent", Label: "without consent", On: on == "no_consent"},
	}
}
