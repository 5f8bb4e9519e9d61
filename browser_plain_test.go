package main

import (
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

// unfolds shows what stands in the page for when there is no script: the browser
// has one, it is our scripts that are kept away.
func (b *browser) unfolds() {
	b.t.Helper()
	_, err := b.page.Eval(`() => document.querySelectorAll("noscript").forEach((n) => { n.outerHTML = n.textContent })`)
	b.no(err)
}

// TestBrowserWithoutScript writes a notice, looks at its preview, is told what is
// wrong with it, submits it twice, and replays, as with JavaScript off.
// TestBrowserImportWithoutScript does so with a list.
func TestBrowserWithoutScript(t *testing.T) {
	s := newSite(t, incidentVendor(true))
	s.devices(20, goodToken)
	base := s.boot("BONGSU_RETRY_DELAYS=50ms")
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Admin, horse(), commandActor())
	s.no(err)
	b := newBrowser(t)
	b.waits = 30 * time.Second
	b.noScript()
	b.signIn(base)

	b.open(base + "/notices/new")
	b.write("#title", "No script")
	b.write("#body", "Plain text")
	b.write("#link", "javascript:alert(1)")
	b.unfolds()
	b.click("button[value=preview]")
	b.says(".preview", "Plain text")
	b.click("#compose .acts > button[type=submit]")
	b.see("#link-wrong")
	if n := s.count("SELECT count(*) FROM notice"); n != 0 {
		t.Errorf("%d notices came of a wrong form", n)
	}
	b.no(b.see("#link").SelectAllText())
	b.write("#link", "https://example.com")
	b.click("#compose .acts > button[type=submit]")
	b.atNotice()
	b.looksAgain("#progress", "finished")

	b.open(base + "/notices/new")
	b.write("#title", "No script")
	b.write("#body", "Plain text")
	b.write("#link", "https://example.com")
	b.click("#compose .acts > button[type=submit]")
	b.atNotice()
	b.says("main", "original")
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		t.Errorf("%d notices", n)
	}

	s.failed()
	b.open(base + "/archive?reason=token_expired")
	b.click("#archive-rows button[name=one]")
	b.at("/archive/replays/")
	b.looksAgain("#replay", "done")
	b.open(base + "/archive?reason=token_expired")
	b.click("button[name=act][value=all]")
	b.at("/archive/plans/")
	b.says("main", "will be put back")
	b.click("form[action$='/start'] button")
	b.at("/archive/replays/")
	b.until("all are done", func() bool { return s.count("SELECT count(*) FROM replay WHERE state = 'done'") == 2 })
	if b.eval("() => typeof window.htmx") != "undefined" {
		t.Error("the script is there")
	}
}

// looksAgain asks for the page until the element says text.
func (b *browser) looksAgain(selector, text string) {
	b.t.Helper()
	b.until(selector+" says "+text, func() bool {
		b.no(b.page.Reload())
		b.no(b.page.WaitLoad())
		return strings.Contains(b.textOf(selector), text)
	})
}
