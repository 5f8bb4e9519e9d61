package views_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bongsu/views"
)

// docs/runbook.md is the same text as the pages.
func TestRunbookDocumentIsThatOfTheProgram(t *testing.T) {
	const file, env = "../docs/runbook.md", "BONGSU_TEST_DOCS"
	want := views.RunbookMarkdown()
	if os.Getenv(env) != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\]\(([\w-]+\.png)\)`).FindAllStringSubmatch(string(got), -1) {
		if _, err := os.Stat("../docs/" + m[1]); err != nil {
			t.Errorf("a picture is missing: %v", err)
		}
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s=1 go test ./views -run %s mends this (-want +got):\n%s", env, t.Name(), diff)
	}
}

func TestEachMessageIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range views.Messages() {
		if seen[m.Key] {
			t.Errorf("%s is there twice", m.Key)
		}
		seen[m.Key] = true
		for name, text := range map[string]string{"title": m.Title, "see": m.See, "means": m.Means, "lost": m.Lost, "over": m.Over,
			"operator": m.Operator, "support": m.Support, "admin": m.Admin, "do": strings.Join(m.Do, "")} {
			if text == "" {
				t.Errorf("%s does not say its %s", m.Key, name)
			}
		}
		if !strings.HasPrefix(m.Lost, "No") {
			t.Errorf("%s does not begin with whether anything is lost: %s", m.Key, m.Lost)
		}
		doc, _ := html(t, views.RunbookPage(views.Runbook{Message: m}))
		if got := text(doc.Find("h1")); got != m.Title {
			t.Errorf("%s has the title %q", m.Key, got)
		}
		if n := doc.Find("dl.runbook > dt").Length(); n != 5 {
			t.Errorf("%s has %d parts", m.Key, n)
		}
		if n := doc.Find("dl.runbook ol > li").Length(); n != len(m.Do) {
			t.Errorf("%s has %d steps of %d", m.Key, n, len(m.Do))
		}
		if doc.Find("main a[href='/status']").Length() != 1 {
			t.Errorf("%s does not lead back", m.Key)
		}
	}
	doc, _ := html(t, views.RunbookPage(views.Runbook{}))
	if n := doc.Find("#messages a[href^='/runbook/']").Length(); n != len(seen) {
		t.Errorf("the list has %d of %d", n, len(seen))
	}
}

func TestBadgeSumsUp(t *testing.T) {
	for _, c := range []struct {
		row      views.StatusRow
		warnings int
		want     views.Badge
	}{
		{views.StatusRow{}, 0, views.Badge{Text: "all well", State: "ok"}},
		{views.StatusRow{State: "warn", Message: "backlog-old"}, 1, views.Badge{Text: "1 warning", State: "warn"}},
		{views.StatusRow{State: "warn"}, 3, views.Badge{Text: "3 warnings", State: "warn"}},
		{views.StatusRow{Key: "workers", State: "down", Message: "no-worker"}, 0, views.Badge{Text: "sending waits: no worker", State: "down"}},
		{views.StatusRow{Key: "vendor", State: "down", Message: "of-another-version"}, 0, views.Badge{Text: "Vendor down", State: "down"}},
	} {
		if got := views.BadgeFor(c.row, c.warnings); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.row, got, c.want)
		}
	}
}

// The badge is a shape, a word and a colour, on every page of somebody signed in.
func TestBadgeIsNotColourAlone(t *testing.T) {
	m := notice()
	for state, want := range map[string]string{"ok": "✓", "warn": "▲", "down": "✕", "unknown": "●"} {
		m.Badge = views.Badge{Text: "how it is", State: state}
		doc, _ := html(t, views.NoticePage(m))
		badge := doc.Find("header a#badge[href='/status']")
		if got := text(badge); got != want+" how it is" {
			t.Errorf("%s: %q", state, got)
		}
		if label, _ := badge.Attr("aria-label"); label != "Status: how it is" {
			t.Errorf("%s is read out as %q", state, label)
		}
	}
}

func TestStatusRowsSayWhatTheyKnow(t *testing.T) {
	doc, _ := html(t, views.StatusPage(status()))
	redis := doc.Find("#part-redis")
	if got := text(redis); !strings.Contains(got, "✕ down") || !strings.Contains(got, "2026-12-01 05:11:00 UTC") || !strings.Contains(got, "Bring Redis back") {
		t.Errorf("the queue's row: %q", got)
	}
	if redis.Find("a[href='/runbook/redis-down']").Length() != 1 {
		t.Error("it does not lead to what to do")
	}
	if got := text(doc.Find("#part-notices li")); got != "#17 정기 점검 Since 2026-12-01 05:10:00 UTC" {
		t.Errorf("the stalled notice: %q", got)
	}
	if got := text(doc.Find("#part-vendor")); !strings.Contains(got, "next try 2026-12-01 05:12:02 UTC") {
		t.Errorf("the vendor's row: %q", got)
	}
	if doc.Find("#status-workers .badge-bad").Length() != 1 || doc.Find("#status-workers .badge-good").Length() != 1 {
		t.Errorf("the workers: %s", text(doc.Find("#status-workers")))
	}
	if got := text(doc.Find("table").Last().Find("tbody tr").Last()); got != "proxy12sserver write (11s)BONGSU_PROXY_TIMEOUT ✕ no" {
		t.Errorf("the ladder's last row: %q", got)
	}
}
