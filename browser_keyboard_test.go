package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"

	"bongsu/db"
)

// mostStops is how many presses of Tab a page may need until something is reached.
const mostStops = 120

// stop is what has the focus: whether it is what is looked for, and whether one
// sees that it has it. Where Tab goes round from the last element to the first, the
// page itself is without the focus for a moment, and shows none.
const stop = `selector => {
	const e = document.activeElement;
	const s = getComputedStyle(e);
	const seen = !document.hasFocus() || e === document.body || e.id === "main" || (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2);
	return (e.matches(selector) ? "there" : "on the way") + (seen ? "" : ", unseen at " + [":focus", ":focus-visible", ":focus-within"].filter((x) => e.matches(x)) + s.outline + e.outerHTML.slice(0, 120));
}`

// tabs presses Tab until what selector selects has the focus. Whatever has it on
// the way shows so.
func (b *browser) tabs(selector string) {
	b.t.Helper()
	b.see(selector)
	for range mostStops {
		got, err := b.page.Eval(stop, selector)
		b.no(err)
		at := got.Value.Str()
		if strings.Contains(at, "unseen") {
			b.t.Fatalf("the focus cannot be seen: %s", at)
		}
		if at == "there" {
			return
		}
		b.types(input.Tab)
	}
	b.t.Fatalf("%d times Tab do not lead to %s", mostStops, selector)
}

func (b *browser) types(keys ...input.Key) {
	b.t.Helper()
	b.no(b.page.Keyboard.Type(keys...))
}

// presses goes to something and presses Enter.
func (b *browser) presses(selector string) {
	b.t.Helper()
	b.tabs(selector)
	b.types(input.Enter)
}

// fills goes to a field and types.
func (b *browser) fills(selector, text string) {
	b.t.Helper()
	b.tabs(selector)
	for _, c := range text {
		b.types(input.Key(c))
	}
}

// entersByKeyboard signs a person in without a mouse.
func (s *site) entersByKeyboard(b *browser, base, email string, role db.Role) {
	s.t.Helper()
	_, err := s.store.AddUser(s.t.Context(), email, role, horse(), commandActor())
	s.no(err)
	b.no(b.page.SetCookies(nil))
	b.open(base + "/signin")
	b.fills("#email", email)
	b.fills("#password", "correct horse")
	b.types(input.Enter)
	b.at("/notices")
}

func (b *browser) leavesByKeyboard() {
	b.t.Helper()
	b.presses(".who form button")
	b.at("/signin")
}

// TestBrowserKeyboard does what each role does with the keyboard alone.
func TestBrowserKeyboard(t *testing.T) {
	s := newSite(t, incidentVendor(true))
	s.devices(200, incidentToken)
	base := s.boot("BONGSU_RATE=20", "BONGSU_RETRY_DELAYS=50ms")
	b := newBrowser(t)
	b.waits = 30 * time.Second
	t.Run("operator", func(t *testing.T) { s.operatorTypes(b.in(t), base) })
	t.Run("support", func(t *testing.T) { s.supportTypes(b.in(t), base) })
	t.Run("admin", func(t *testing.T) { s.adminTypes(b.in(t), base) })
}

// in is the same tab in a part of a test.
func (b *browser) in(t *testing.T) *browser {
	return &browser{t: t, page: b.page.CancelTimeout().Timeout(ends), waits: b.waits}
}

// operatorTypes skips to the content, sends a notice, pauses it, resumes it, keeps
// the focus over polls, cancels it, and imports a list.
func (s *site) operatorTypes(b *browser, base string) {
	s.entersByKeyboard(b, base, "olive@example.com", db.Operator)
	b.open(base + "/notices")
	b.types(input.Tab)
	b.types(input.Enter)
	b.until("the focus is on the content", func() bool { return b.eval(`() => document.activeElement.id`) == "main" })
	b.presses(`nav a[href="/notices/new"]`)
	b.at("/notices/new")
	b.fills("#title", "Typed")
	b.fills("#body", "By hand")
	b.tabs(`input[name=platforms][value=web]`)
	b.types(input.Space, input.Space)
	b.presses("#compose .acts > button[type=submit]")
	b.atNotice()
	s.focusStays(b)
	b.presses(`form[action$="/pause"] button`)
	b.see(`form[action$="/resume"] button`)
	b.presses(`form[action$="/resume"] button`)
	b.see(`form[action$="/pause"] button`)
	b.presses(`a[href$="/cancel"]`)
	b.says("h1", "Cancel this notice?")
	b.presses("main form button.danger")
	b.says("#progress", "cancelled")

	b.open(base + "/imports")
	choose, err := b.page.HandleFileDialog()
	b.no(err)
	b.tabs("#file")
	b.types(input.Enter)
	b.no(choose([]string{s.file("list.csv", deviceList(20))}))
	b.presses("#import button[type=submit]")
	b.at("/imports/")
	b.says("#import-run", "20 new")
	b.leavesByKeyboard()
}

// focusStays wants the focus where it was after the live part was replaced.
func (s *site) focusStays(b *browser) {
	s.t.Helper()
	b.see("#count-total, #count-")
	b.tabs("#progress a[id^=count-]")
	b.eval(`() => { window.was = document.activeElement; window.wasID = was.id }`)
	for range 2 {
		b.until("the live part is replaced", func() bool { return b.eval(`() => String(window.was.isConnected)`) == "false" })
		if at := b.eval(`() => document.activeElement.id === window.wasID ? "" : document.activeElement.outerHTML.slice(0, 200)`); at != "" {
			b.t.Fatalf("the focus went to %s", at)
		}
		b.eval(`() => { window.was = document.activeElement }`)
	}
}

// supportTypes finds a device and reads its page.
func (s *site) supportTypes(b *browser, base string) {
	s.entersByKeyboard(b, base, "sam@example.com", db.Support)
	b.presses(`nav a[href="/devices"]`)
	b.at("/devices")
	b.fills("#id", "1")
	b.types(input.Enter)
	b.until("the device is shown", func() bool { return b.eval("() => location.pathname + location.search") != "/devices" })
	b.says("main", "android")
	b.leavesByKeyboard()
}

// adminTypes replays one failed delivery and all that match, invites a person, and
// makes a token and takes it back.
func (s *site) adminTypes(b *browser, base string) {
	s.failed()
	s.entersByKeyboard(b, base, "ada@example.com", db.Admin)
	b.open(base + "/archive?reason=token_expired")
	b.presses("#archive-rows button[name=one]")
	b.at("/archive/replays/")
	b.says("#replay", "done")
	b.open(base + "/archive?reason=token_expired")
	b.tabs("#archive-rows input[name=delivery]")
	b.types(input.Space)
	b.until("one is chosen", func() bool { return strings.Contains(b.textOf("main button[data-chosen]"), "1") })
	b.presses(`button[name=act][value=all]`)
	b.at("/archive/plans/")
	b.presses("form[action$='/start'] button")
	b.at("/archive/replays/")
	b.says("#replay", "done")

	b.presses(`nav a[href="/users"]`)
	b.at("/users")
	b.fills("#email", "new@example.com")
	b.tabs("#invite input[name=role]")
	b.types(input.Space)
	b.presses("#invite button[type=submit]")
	b.see("#link")

	b.presses(`nav a[href="/tokens"]`)
	b.at("/tokens")
	b.fills("#name", "billing")
	b.tabs("#token input[name=role]")
	b.types(input.Space)
	b.presses("#token button[type=submit]")
	b.see("#made")
	b.open(base + "/tokens")
	b.presses(`a[aria-label$=" billing"]`)
	b.at("/tokens/")
	b.presses("main form button.danger")
	b.says("main", "revoked")
	if n := s.count("SELECT count(*) FROM api_token WHERE name = 'billing' AND revoked_at IS NOT NULL"); n != 1 {
		b.t.Errorf("%d tokens are revoked", n)
	}
	b.leavesByKeyboard()
}

// failed makes a notice that is through, four devices of which failed.
func (s *site) failed() {
	s.t.Helper()
	s.devices(4, func(i int) string { return fmt.Sprintf("gone-%d", i) })
	_, err := s.pool.Exec(s.t.Context(), `
		WITH n AS (
			INSERT INTO notice (key_scope, key, fingerprint, title, body, category, expires_at, expires_given, accepted_by, accepted_by_name, audience_max, state,
				started_at, finished_at, cut_at, settled_at)
			VALUES ('content', 'failed', 'f', 'Failed', 'body', 'info', now() + interval '1 day', true, 'user:1', 'x', 1, 'finished', now(), now(), now(), now())
			RETURNING id),
		d AS (
			INSERT INTO delivery (notice_id, device_id, status, reason, failed_at, attempts, charged)
			SELECT n.id, v.id, 'failed', 'token_expired', now(), 1, 1 FROM n, (SELECT id FROM device WHERE token LIKE 'gone-%') v),
		c AS (INSERT INTO notice_counter (notice_id, shard, total, failed, attempts) SELECT id, 0, 4, 4, 4 FROM n)
		INSERT INTO notice_reason (notice_id, shard, status, reason, n) SELECT id, 0, 'failed', 'token_expired', 4 FROM n`)
	s.no(err)
}
