package main

import (
	"testing"

	"bongsu/db"
)

// A link to exactly this view is copied, or shown to be copied by hand where the
// browser does not let a page copy.
func TestBrowserCopiesALink(t *testing.T) {
	s := newSite(t, incidentVendor(true))
	s.devices(2, incidentToken)
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Support, horse(), commandActor())
	s.no(err)
	base := s.boot()
	b := newBrowser(t)
	b.signIn(base)
	b.open(base + "/devices/1?notice=7")
	b.says("main", "There is no notice #7.")
	b.click("[data-copy]")
	s.until("it is said what came of it", func() bool { return b.textOf("#announce") != "" })

	b.open(base + "/devices/1?notice=7")
	b.eval(`() => { Object.defineProperty(navigator, "clipboard", { value: undefined }); return "" }`)
	b.click("[data-copy]")
	b.says("#announce", "copy it from the field")
	if got := b.eval(`() => getSelection().toString() || document.activeElement.value`); got != base+"/devices/1?notice=7" {
		t.Errorf("to be copied: %q", got)
	}
	if got := b.eval(`() => String(document.documentElement.scrollWidth <= document.documentElement.clientWidth)`); got != "true" {
		t.Error("the page is wider than the window")
	}

	b.noScript()
	b.open(base + "/devices/1?notice=7")
	b.click(`main a[href="/devices/1?notice=7"]`)
	b.says("main", "There is no notice #7.")
}
