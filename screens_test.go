package main

import (
	"fmt"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"bongsu/db"
)

// A scene is one screen in one state, as somebody with a role sees it.
type scene struct {
	name  string
	as    db.Role // "": nobody is signed in
	path  string
	shows string           // a text without which it is not this scene
	does  func(b *browser) // what is done on the page before it is looked at; nil: nothing
	wrong int              // the status of the page where that is an error; 0: it is none
	draws string           // the picture in docs that it gives; "": none
}

// An act is a state of the whole installation, and the scenes that are in it.
// They are played in the order of the table, each on what the one before left.
type act struct {
	name   string
	set    func(x *screens)
	until  string // what Status says once the pages know of it; "": nothing to wait for
	scenes []scene
}

// screens is the installation that scenes are played in: pages without a worker,
// so that nothing moves by itself, and one tab.
type screens struct {
	*site
	base   string
	people map[db.Role]*person
	b      *browser
	heard  *heard
	as     db.Role
	back   func() // gives the database back
}

// TestScreens loads every screen in its states, light and dark, narrow and wide,
// in a browser. axe finds nothing to say, nothing is logged as an error, and a
// narrow page is not wider than its window.
func TestScreens(t *testing.T) {
	x := newScreens(t)
	for _, a := range acts() {
		a.set(x)
		if a.until != "" {
			x.until(a.name, func() bool { return strings.Contains(x.people[db.Admin].get("/status").body, a.until) })
		}
		for _, c := range a.scenes {
			t.Run(a.name+"/"+c.name, func(t *testing.T) { x.plays(t, a.name, c) })
		}
	}
}

func newScreens(t *testing.T) *screens {
	t.Helper()
	s := newSite(t, plainVendor())
	x := &screens{site: s, people: map[db.Role]*person{}, as: "unset"}
	x.base = s.start(roleWeb, "REDIS_URL="+s.redis.URL()).base
	for role, email := range map[db.Role]string{db.Operator: "olive@example.com", db.Support: "sam@example.com", db.Admin: "ada@example.com"} {
		x.people[role] = s.signsIn(x.base, email, role)
	}
	x.b = newBrowser(t)
	x.b.page = x.b.page.CancelTimeout()
	x.heard = listen(t, x.b.page)
	return x
}

// plays shows one scene and looks at it in every way.
func (x *screens) plays(t *testing.T, act string, c scene) {
	b := &browser{t: t, page: x.b.page.Timeout(time.Minute), waits: 10 * time.Second}
	defer b.page.CancelTimeout()
	x.becomes(b, c.as)
	b.looksAs(looks[0])
	b.open("about:blank") // what the page before says as it ends is none of this one's
	x.heard.until(b)
	x.heard.forget()
	b.open(x.base + c.path)
	if c.does != nil {
		c.does(b)
	}
	if !b.shows(c.shows) {
		t.Fatalf("%s does not say %q:\n%s", b.eval("() => location.href"), c.shows, b.textOf("body"))
	}
	if c.does == nil && c.as != "" && b.eval("() => location.pathname + location.search") != c.path {
		t.Errorf("the page led to %s", b.eval("() => location.href"))
	}
	for _, l := range looks {
		b.looksAs(l)
		for _, found := range b.faults() {
			t.Errorf("%s: %s", l, found)
		}
		b.keeps(act+"-"+c.name, l, c.draws)
	}
	for _, said := range x.heard.until(b) {
		if c.wrong != 0 && strings.Contains(strings.ToLower(said), "status") && strings.Contains(said, fmt.Sprint(" ", c.wrong)) {
			continue // the browser's own line about the answer, and htmx's
		}
		t.Errorf("the browser says: %s", said)
	}
}

// becomes signs the tab in as the person with the role, by their cookie.
func (x *screens) becomes(b *browser, role db.Role) {
	b.t.Helper()
	if x.as == role {
		return
	}
	x.as = role
	b.no(b.page.SetCookies(nil)) // takes all away
	if role == "" {
		return
	}
	b.wears(x.people[role])
}

// wears gives the tab a person's cookies.
func (b *browser) wears(p *person) {
	b.t.Helper()
	at, err := url.Parse(p.base)
	b.no(err)
	var list []*proto.NetworkCookieParam
	for _, c := range p.http.Jar.(*cookiejar.Jar).Cookies(at) {
		list = append(list, &proto.NetworkCookieParam{Name: c.Name, Value: c.Value, URL: p.base})
	}
	b.no(b.page.SetCookies(list))
}

// shows says whether the page comes to contain text, as shown or in a field.
func (b *browser) shows(text string) bool {
	return poll(b.t.Context(), 5*time.Second, 20*time.Millisecond, "the text", func() (bool, error) {
		typed := b.eval(`() => [...document.querySelectorAll("input, textarea")].map((e) => e.value).join("\n")`)
		return strings.Contains(b.textOf("body")+typed, text), nil
	}) == nil
}

// TestScreensSeeFaults shows a page with faults, so that a suite that finds none
// is known to look.
func TestScreensSeeFaults(t *testing.T) {
	b := newBrowser(t)
	h := listen(t, b.page)
	b.looksAs(looks[2])
	b.open(`data:text/html,<html><body><img src="data:,"><p style="color:%23888;background:%23999">pale</p>` +
		`<p style="width:50rem">wide</p><script>console.error("spoken"); thrown()</script>`)
	found := strings.Join(b.faults(), "\n")
	for _, want := range []string{"image-alt", "color-contrast", "html-has-lang", "the page is 8"} {
		if !strings.Contains(found, want) {
			t.Errorf("nothing was said of %s:\n%s", want, found)
		}
	}
	said := strings.Join(h.until(b), "\n")
	for _, want := range []string{"spoken", "thrown is not defined"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s was not heard: %s", want, said)
		}
	}
}
