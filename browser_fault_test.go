package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"bongsu/db"
)

// TestBrowserFaultProxyAnswers has a proxy answer with a page of its own, to a submit
// and to polls. The banner says so with the status, the page is never put in, what
// was typed is there, and pressing again when the proxy is well sends it once.
func TestBrowserFaultProxyAnswers(t *testing.T) {
	s := newSite(t, plainVendor())
	s.devices(200, goodToken)
	base := s.boot("BONGSU_RATE=20")
	front := newFront(t, base)
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, horse(), commandActor())
	s.no(err)
	b := newBrowser(t)
	b.signIn(front.url)
	b.open(front.url + "/notices/new")
	b.write("#title", "Typed and kept")
	b.write("#body", "Also this")
	front.page.Store(http.StatusBadGateway)
	b.click("#compose .acts > button[type=submit]")
	b.says("#banner", "status 502")
	b.says("#banner", "Press again")
	b.notForeign()
	if got := b.eval(`() => document.querySelector("#title").value`); got != "Typed and kept" {
		t.Errorf("the title is %q", got)
	}
	b.until("the button can be pressed again", func() bool {
		return b.eval(`() => String(document.querySelector("#compose .acts > button[type=submit]").disabled)`) == "false"
	})
	front.page.Store(0)
	b.click("#compose .acts > button[type=submit]")
	b.atNotice()
	b.until("it is being sent", func() bool { return strings.Contains(b.textOf("#progress"), "of 200") })

	front.page.Store(http.StatusGatewayTimeout) // now the polls meet it
	b.until("the page says how old its numbers are", func() bool {
		return strings.Contains(b.eval(`() => document.body.innerText`), "504")
	})
	b.notForeign()
	front.page.Store(0)
	b.until("the poll has gone on to the end", func() bool { return strings.Contains(b.textOf("#progress"), "200 of 200") })
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		t.Errorf("%d notices", n)
	}
}

// TestBrowserFaultSessionOver ends somebody's session while they type. The press says
// so, what they typed stays, and after signing in elsewhere the same press sends it.
func TestBrowserFaultSessionOver(t *testing.T) {
	s := newSite(t, plainVendor())
	s.devices(10, goodToken)
	base := s.boot()
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, horse(), commandActor())
	s.no(err)
	b := newBrowser(t)
	b.signIn(base)
	b.open(base + "/notices/new")
	b.write("#title", "Typed in an old session")
	b.write("#body", "Text")
	s.count("WITH gone AS (UPDATE web_session SET ended_at = now() RETURNING 1) SELECT count(*) FROM gone")
	b.click("#compose .acts > button[type=submit]")
	b.says("#banner", "signed out")
	if got := b.eval(`() => document.querySelector("#title").value`); got != "Typed in an old session" {
		t.Errorf("the title is %q", got)
	}
	other, err := b.page.Browser().Page(target(base + "/signin"))
	s.no(err)
	second := &browser{t: t, page: other.Timeout(ends)}
	second.signIn(base)
	_, err = b.page.Activate() // a tab behind another is not painted, and cannot be pressed
	s.no(err)
	b.click("#compose .acts > button[type=submit]")
	b.atNotice()
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		t.Errorf("%d notices", n)
	}
}

// TestBrowserFaultPressedTwice presses Enter twice in a field, and then the buttons
// of two tabs with the same text. Each time there is one notice, and the second tab
// is told of the original.
func TestBrowserFaultPressedTwice(t *testing.T) {
	s := newSite(t, plainVendor())
	s.devices(10, goodToken)
	base := s.boot()
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, horse(), commandActor())
	s.no(err)
	b := newBrowser(t)
	b.signIn(base)
	b.open(base + "/notices/new")
	b.write("#body", "Text")
	b.write("#title", "Enter twice")
	b.no(b.page.Keyboard.Type(input.Enter, input.Enter))
	b.atNotice()
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		t.Errorf("Enter twice made %d notices", n)
	}

	tab, err := b.page.Browser().Page(target(base + "/notices/new"))
	s.no(err)
	second := &browser{t: t, page: tab.Timeout(ends)}
	for _, each := range []*browser{b, second} {
		_, err := each.page.Activate()
		s.no(err)
		each.open(base + "/notices/new")
		each.write("#title", "Two tabs")
		each.write("#body", "Text")
	}
	press := `() => document.querySelector("#compose .acts > button[type=submit]").click()`
	b.eval(press)
	second.eval(press)
	for _, each := range []*browser{b, second} {
		each.until("it is told of the notice", func() bool {
			return strings.Contains(each.textOf("body"), "original") || strings.HasPrefix(each.eval("() => document.querySelector('h1').innerText"), "Two tabs")
		})
	}
	if n := s.count("SELECT count(*) FROM notice WHERE title = 'Two tabs'"); n != 1 {
		t.Errorf("two tabs made %d notices", n)
	}
}
