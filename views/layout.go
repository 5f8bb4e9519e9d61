// Package views holds the pages: for each a templ file, its view model in plain
// strings, numbers and bools, and its text in one place. It does no I/O and has
// no clock: times come as RFC 3339 in UTC, lengths of time in seconds or
// milliseconds, already counted.
package views

import "bongsu/views/ui"

// Shell is what every page needs around it.
type Shell struct {
	Section string // which entry of the navigation is current
	User    string // e-mail; empty: nobody is signed in, and there is no navigation
	Role    string
	Can     Can
	Flash   Flash
	Badge   Badge
	Paused  *VendorPaused // nil: nobody is asked anything about the vendor
}

// Can says what the person may do, so that no page offers what would be refused.
type Can struct {
	Send    bool // write notices; pause, resume, cancel
	Devices bool // look up devices and people
	Archive bool // read the archive and replay
	Admin   bool // queues, vendor
}

// Flash is a message about what was just done.
type Flash struct {
	Text string // empty: none
	Bad  bool
}

// Badge is the short sign of how everything is, in the header of every page; it
// leads to the Status page.
type Badge struct {
	Text  string // empty: none
	State string // as a StatusRow's
}

// VendorPaused says why calls to the vendor wait, or what an admin is asked.
type VendorPaused struct {
	Vendor      Vendor
	Reason      string // credentials_refused, not_configured, backlog or refusals; empty: it is called, and devices are kept
	Detail      string // the vendor's words
	Since       string
	NextProbeAt string // empty: no probe is planned
	Waiting     int64
	CanResume   bool
	KeepDevices bool // 410s do not disable devices until an admin agrees
	CanAgree    bool
	Runbook     string // where it is explained
}

// tone shows the state of a part.
func tone(state string) ui.Tone {
	switch state {
	case StateOK:
		return ui.Good
	case StateWarn:
		return ui.Warn
	case StateDown:
		return ui.Bad
	default:
		return ui.Calm
	}
}

// htmxConfig switches off what the content policy forbids or what would hide
// trouble, and sets the browser's limit of 15 s. What comes is dressed at once: a
// delay would have times painted as they were sent, and the page jump.
const htmxConfig = `{"timeout":15000,"historyEnabled":false,"historyCacheSize":0,"refreshOnHistoryMiss":true,` +
	`"historyRestoreAsHxRequest":false,"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,` +
	`"selfRequestsOnly":true,"scrollIntoViewOnBoost":false,"defaultSettleDelay":0,"responseHandling":[{"code":"204","swap":false},` +
	`{"code":"[23]..","swap":true},{"code":"422","swap":true},{"code":"[45]..","swap":false,"error":true}]}`
