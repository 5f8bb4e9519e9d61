package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

// onNotice has an operator look, through a gate, at a notice that is being sent and
// does not move: the process has no worker.
func onNotice(t *testing.T) (s *site, g *gate, b *browser) {
	t.Helper()
	s = newSite(t, plainVendor())
	base := s.start(roleWeb).base
	s.movesTo(0)
	g = newGate(t, base)
	b = newBrowser(t)
	b.waits = 30 * time.Second
	b.wears(s.signsIn(g.url, "kim@example.com", db.Operator))
	b.open(g.url + "/notices/1")
	b.says("#progress", "of 1,000 done")
	return s, g, b
}

// movesTo has n of the thousand deliveries of notice 1 sent.
func (s *site) movesTo(n int) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), fmt.Sprintf(`
		INSERT INTO notice (key_scope, key, fingerprint, title, body, category, expires_at, expires_given, accepted_by, accepted_by_name, audience_max, state, started_at, cut_at)
		SELECT 'content', 'k', 'f', 'Moving', 'body', 'info', now() + interval '1 day', true, 'user:1', 'x', 1, 'sending', now(), now() WHERE NOT EXISTS (SELECT FROM notice);
		INSERT INTO notice_counter (notice_id, shard, total, pending, sent) VALUES (1, 0, 1000, %d, %d)
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET pending = excluded.pending, sent = excluded.sent`, 1000-n, n))
	s.no(err)
}

// shown waits until the live part shows that n are sent.
func (b *browser) shown(n int) {
	b.t.Helper()
	b.says("#progress .lead", fmt.Sprintf("%d of 1,000 done", n))
}

// stale waits until the page says how old its numbers are, with this in it.
func (b *browser) stale(says string) {
	b.t.Helper()
	b.says("#progress-note", says)
	if b.eval(`() => /\d\d:\d\d:\d\d/.test(document.getElementById("progress-note").textContent) ? "dated" : ""`) != "dated" {
		b.t.Errorf("the note does not say since when: %s", b.textOf("#progress-note"))
	}
}

// TestBrowserPoll takes a notice's page through a 503, refused connections and an
// answer that does not come. Each time it says how old its numbers are, and goes on
// by itself.
func TestBrowserPoll(t *testing.T) {
	s, g, b := onNotice(t)
	for i, fault := range []struct {
		name       string
		begin, end func()
		says       string
	}{
		{"503", func() { g.down.Store(true) }, func() { g.down.Store(false) }, "503"},
		{"refused", g.refuses, g.opens, "no answer"},
		{"hang", g.holds, g.lets, "no answer"},
	} {
		fault.begin()
		b.stale(fault.says)
		s.movesTo(100 * (i + 1))
		fault.end()
		b.shown(100 * (i + 1))
		b.until(fault.name+": the note is gone", func() bool { return b.eval(`() => String(document.getElementById("progress-note").hidden)`) == "true" })
	}
}

// TestBrowserPollStays lets numbers grow: nothing on the page is moved by it, and
// where nothing has changed nothing is replaced, so the focus is where it was.
func TestBrowserPollStays(t *testing.T) {
	s, _, b := onNotice(t)
	s.movesTo(1)
	b.shown(1)
	b.eval(`() => {
		window.shift = "";
		new PerformanceObserver((l) => l.getEntries().forEach((e) => {
			window.shift += e.value + " " + e.sources.map((s) => s.node?.outerHTML ?? s.node?.textContent).join(" ") + "\n";
		})).observe({ type: "layout-shift" });
	}`)
	for _, n := range []int{9, 10, 99, 100, 500} {
		s.movesTo(n)
		b.shown(n)
	}
	if shift := b.eval(`() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shift))))`); shift != "" {
		t.Errorf("polling moved the page: %s", shift)
	}
	s.count("WITH p AS (UPDATE notice SET state = 'paused' RETURNING 1) SELECT count(*) FROM p") // while it is being sent its average changes with the clock
	b.says("#progress", "paused")
	b.eval(`() => { window.still = 0; window.was = document.getElementById("count-sent"); window.was.focus();
		document.addEventListener("htmx:afterRequest", (e) => { window.still = e.detail.xhr.status === 204 ? window.still + 1 : 0 }) }`)
	b.until("three polls in a row had nothing new", func() bool {
		b.eval(`() => { const e = document.getElementById("count-sent"); if (e !== window.was) { window.was = e; window.still = 0 } }`)
		return b.eval(`() => String(window.still >= 3)`) == "true"
	})
	if b.eval(`() => String(document.activeElement === window.was)`) != "true" {
		t.Error("a poll without news took the focus away")
	}
}

// TestBrowserPollSignedOut ends the session: the page says so, and asks no more.
func TestBrowserPollSignedOut(t *testing.T) {
	s, g, b := onNotice(t)
	s.count("WITH gone AS (UPDATE web_session SET ended_at = now() RETURNING 1) SELECT count(*) FROM gone")
	b.says("#banner", "signed out")
	b.shown(0)
	asked := g.polls.Load()
	b.eval(`() => { window.kept = 0; document.addEventListener("htmx:beforeRequest", (e) => { if (e.defaultPrevented) window.kept++ }) }`)
	b.until("the timer has run three times", func() bool { return b.eval(`() => String(window.kept >= 3)`) == "true" })
	if n := g.polls.Load(); n != asked {
		t.Errorf("it asked %d times more", n-asked)
	}
}

// TestBrowserBack goes back after a submit, and after signing out.
func TestBrowserBack(t *testing.T) {
	s, g, b := onNotice(t)
	s.devices(1, goodToken)
	b.open(g.url + "/notices/new")
	b.write("#title", "Sent once")
	b.write("#body", "Text")
	b.click("#compose .acts > button[type=submit]")
	b.until("the notice's page is shown", func() bool { return b.textOf("h1") == "Sent once" })
	b.eval("() => history.back()")
	b.at("/notices/new")
	b.see("#compose")
	if said := b.textOf("#banner") + b.textOf("#compose [role=alert]"); strings.TrimSpace(said) != "" {
		t.Errorf("the form says %q", said)
	}
	if b.eval(`() => String(document.querySelector("#compose .acts > button").disabled)`) != "false" {
		t.Error("the button cannot be pressed")
	}
	if n := s.count("SELECT count(*) FROM notice WHERE title = 'Sent once'"); n != 1 {
		t.Errorf("%d notices", n)
	}
	b.open(g.url + "/notices")
	b.click(".who form button")
	b.at("/signin")
	b.eval("() => history.back()")
	b.until("the page before is asked for again", func() bool { return strings.Contains(b.eval("() => location.search"), "next=") })
	if text := b.textOf("body"); strings.Contains(text, "Moving") || strings.Contains(text, "kim@example.com") {
		t.Errorf("a page of before is shown:\n%s", text)
	}
}

// TestBrowserSubmitHangs has the answer to a submit not come: within the browser's
// limit the page says that it is not certain, and the same press is told of the
// notice that was made.
func TestBrowserSubmitHangs(t *testing.T) {
	s, g, b := onNotice(t)
	s.devices(1, goodToken)
	b.open(g.url + "/notices/new")
	b.write("#title", "Held back")
	b.write("#body", "Text")
	g.holds()
	began := time.Now()
	b.click("#compose .acts > button[type=submit]")
	b.says("#banner", "15")
	if took := time.Since(began); took > 20*time.Second || took < 10*time.Second {
		t.Errorf("it said so after %s", took)
	}
	if got := b.eval(`() => document.querySelector("#title").value`); got != "Held back" {
		t.Errorf("the title is %q", got)
	}
	g.lets()
	b.click("#compose .acts > button[type=submit]")
	b.until("the original is shown", func() bool { return b.textOf("h1") == "Held back" && strings.Contains(b.textOf("main"), "original") })
	if n := s.count("SELECT count(*) FROM notice WHERE title = 'Held back'"); n != 1 {
		t.Errorf("%d notices", n)
	}
}
