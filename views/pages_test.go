package views_test

import (
	"strings"
	"testing"

	"bongsu/views"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

// html renders c and reads it back as a browser would.
func html(t *testing.T, c templ.Component) (*goquery.Document, string) {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc, b.String()
}

func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

// Whatever people and vendors write, and whatever state a page is in, these hold.
func TestEveryPage(t *testing.T) {
	for name, c := range pages() {
		t.Run(name, func(t *testing.T) {
			doc, _ := html(t, c)
			checkFrame(t, doc)
			checkNothingInline(t, doc)
			checkLabels(t, doc)
			checkIDs(t, doc)
		})
	}
}

func checkFrame(t *testing.T, doc *goquery.Document) {
	t.Helper()
	for selector, want := range map[string]int{"h1": 1, "main": 1, "body > header": 1, "title": 1, "#banner": 1, "#announce[aria-live=polite]": 1, "#words": 1, "a.skip[href='#main']": 1} {
		if got := doc.Find(selector).Length(); got != want {
			t.Errorf("%d of %s, want %d", got, selector, want)
		}
	}
	doc.Find("table").Each(func(_ int, s *goquery.Selection) {
		if s.Find("caption").Length() != 1 || s.Find("thead th:not([scope])").Length() != 0 {
			t.Errorf("a table without caption or scope: %s", text(s))
		}
	})
}

// The content policy would block these, or they would be an injection.
func checkNothingInline(t *testing.T, doc *goquery.Document) {
	t.Helper()
	if n := doc.Find("script").Length(); n != 2 || doc.Find("script:not([src])").Length() != 0 {
		t.Errorf("%d scripts", n)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Get(0).Attr {
			bad := a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") ||
				strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val)), "javascript:") && a.Key != "value"
			if bad {
				t.Errorf("<%s %s=%q>", goquery.NodeName(s), a.Key, a.Val)
			}
		}
	})
	if n := doc.Find("img:not([src^='/static/'])").Length(); n != 0 {
		t.Errorf("%d foreign images", n)
	}
}

func checkLabels(t *testing.T, doc *goquery.Document) {
	t.Helper()
	doc.Find("input:not([type=hidden]), textarea, select").Each(func(_ int, s *goquery.Selection) {
		id, _ := s.Attr("id")
		_, named := s.Attr("aria-label")
		if !named && s.Closest("label").Length() == 0 && (id == "" || doc.Find("label[for='"+id+"']").Length() != 1) {
			t.Errorf("input %q has no label", id)
		}
		if ids, ok := s.Attr("aria-describedby"); ok {
			for _, id := range strings.Fields(ids) {
				if doc.Find("#"+id).Length() != 1 {
					t.Errorf("aria-describedby names %q, which is not there", id)
				}
			}
		}
	})
}

func checkIDs(t *testing.T, doc *goquery.Document) {
	t.Helper()
	seen := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id, _ := s.Attr("id")
		if seen[id] {
			t.Errorf("id %q is there twice", id)
		}
		seen[id] = true
	})
}

// Every form that acts is a plain POST that htmx makes safe against a second press.
func TestFormsWorkWithAndWithoutScript(t *testing.T) {
	for name, c := range pages() {
		doc, _ := html(t, c)
		doc.Find("main form").Each(func(_ int, s *goquery.Selection) {
			method, _ := s.Attr("method")
			action, _ := s.Attr("action")
			if method == "get" {
				return
			}
			if method != "post" || action == "" {
				t.Errorf("%s: form method %q action %q", name, method, action)
			}
			if hx, _ := s.Attr("hx-post"); hx != action {
				t.Errorf("%s: hx-post %q, action %q", name, hx, action)
			}
			if sync, _ := s.Attr("hx-sync"); sync != "this:drop" {
				t.Errorf("%s: hx-sync %q", name, sync)
			}
		})
	}
}

func TestHostileTextComesOutAsText(t *testing.T) {
	for i, want := range hostile {
		doc, raw := html(t, hostilePages(want)["notice"])
		if got := doc.Find("h1").Text(); got != want {
			t.Errorf("%d: h1 is %.80q", i, got)
		}
		if got := doc.Find("dl.facts .written").Text(); !strings.Contains(got, want) {
			t.Errorf("%d: the body is %.80q", i, got)
		}
		if strings.Contains(raw, "<script>alert") {
			t.Errorf("%d: a script came through", i)
		}
		doc, _ = html(t, hostilePages(want)["compose"])
		if got, _ := doc.Find("#title").Attr("value"); got != want {
			t.Errorf("%d: the title field holds %.80q", i, got)
		}
		if got := doc.Find("#body").Text(); strings.TrimPrefix(got, "\n") != want {
			t.Errorf("%d: the body field holds %.80q", i, got)
		}
	}
}

// A textarea swallows one leading line end, so the page gives it one to swallow.
func TestBodyKeepsItsLeadingEmptyLine(t *testing.T) {
	m := compose()
	m.Body = "\nsecond line"
	_, raw := html(t, views.ComposeForm(m))
	if !strings.Contains(raw, ">\n\nsecond line</textarea>") {
		t.Errorf("no further line end in %s", raw)
	}
}

func TestNavigationShowsOnlyWhatMayBeDone(t *testing.T) {
	m := notice()
	m.Can = views.Can{Devices: true}
	m.Role = "support"
	doc, _ := html(t, views.NoticePage(m))
	var got []string
	doc.Find("header nav a").Each(func(_ int, s *goquery.Selection) { got = append(got, text(s)) })
	if want := "Notices Devices Status"; strings.Join(got, " ") != want {
		t.Errorf("navigation %q, want %q", got, want)
	}
	if current := text(doc.Find("header nav a[aria-current=page]")); current != "Notices" {
		t.Errorf("current is %q", current)
	}
}

func TestNobodySignedInSeesNoNavigation(t *testing.T) {
	doc, _ := html(t, views.SignInPage(views.SignIn{}))
	if doc.Find("header nav, header form").Length() != 0 {
		t.Error("there is a navigation")
	}
}

func TestVendorBannerSaysWhatToDo(t *testing.T) {
	doc, _ := html(t, views.NoticePage(troubled()))
	banner := doc.Find("main section .note-bad").First()
	for _, want := range []string{"BONGSU_VENDOR_TOKEN", "3,578 deliveries are waiting", "401 <b>bad token</b>"} {
		if !strings.Contains(text(banner), want) {
			t.Errorf("%q is not in %q", want, text(banner))
		}
	}
	if n := banner.Find("form[action='/vendor/resume'] button").Length(); n != 1 {
		t.Errorf("%d buttons", n)
	}
}

// Without script a failed submit is a page of its own: what was typed is in it.
func TestProblemKeepsWhatWasTyped(t *testing.T) {
	doc, _ := html(t, pages()["problem"])
	form := doc.Find("main form[method=post][action='/notices']")
	if got, _ := form.Find("input[name=body]").Attr("value"); got != "a\nb" {
		t.Errorf("body is %q", got)
	}
	if form.Find("button").Length() != 1 {
		t.Error("no button to try again")
	}
}
