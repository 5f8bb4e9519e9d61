package views_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"bongsu/views"

	"github.com/PuerkitoBio/goquery"
)

func paced(t *testing.T, steps ...views.PaceStep) *goquery.Document {
	t.Helper()
	p := progress("sending", views.Counts{Total: 10, Sent: 5})
	p.Pace = views.Pace{From: "2026-12-01T05:11:00Z", To: "2026-12-01T05:12:00Z", Width: 5, Steps: steps}
	doc, _ := html(t, views.ProgressPart(p))
	return doc
}

func number(t *testing.T, s *goquery.Selection, name string) float64 {
	t.Helper()
	v, _ := s.Attr(name)
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		t.Fatalf("%s of a bar is %q", name, v)
	}
	return n
}

func TestChartSaysItsNumbers(t *testing.T) {
	doc := paced(t, views.PaceStep{At: "2026-12-01T05:11:00Z", Sent: 3000, Failed: 1000}, views.PaceStep{At: "2026-12-01T05:11:05Z"},
		views.PaceStep{At: "2026-12-01T05:11:10Z", Sent: 1, Back: 7})
	label, _ := doc.Find(".pace svg[role=img]").Attr("aria-label")
	if want := "Bar chart of 3,001 accepted by the vendor and 1,000 failed, in 3 steps of 5 s from 2026-12-01 05:11:00 UTC, with at most 4,000 in one."; label != want {
		t.Errorf("label %q, want %q", label, want)
	}
	if got := text(doc.Find(".pace figcaption")); !strings.Contains(got, "at most 4,000 in 5 s") {
		t.Errorf("caption %q", got)
	}
	if n := doc.Find("#pace-table tbody tr").Length(); n != 2 {
		t.Errorf("%d rows, two steps had something", n)
	}
	if got := text(doc.Find("#pace-table tbody tr").Last()); got != "2026-12-01 05:11:10 UTC107" {
		t.Errorf("the last row is %q", got)
	}
	bars := doc.Find(".pace svg > rect")
	if bars.Length() != 3 || bars.Filter(".failed[fill^='url(#']").Length() != 1 {
		t.Errorf("%d bars", bars.Length())
	}
	sent, failed := bars.Eq(0), bars.Eq(1)
	if number(t, failed, "y")+number(t, failed, "height") != number(t, sent, "y") {
		t.Error("the failed ones do not stand on those that were sent")
	}
	if high := number(t, bars.Eq(2), "height"); high < 2 {
		t.Errorf("one of 4,000 is %v high", high)
	}
}

// Whatever the numbers are, the bars are within the chart.
func TestBarsStayInTheChart(t *testing.T) {
	many := make([]views.PaceStep, 60)
	for i := range many {
		many[i] = views.PaceStep{Sent: int64(i), Failed: 1}
	}
	for name, steps := range map[string][]views.PaceStep{
		"one":       {{Sent: 1}},
		"huge":      {{Sent: math.MaxInt64, Failed: math.MaxInt64}, {Sent: 1, Failed: 1}},
		"below all": {{Sent: -5, Failed: -1}, {Sent: 2, Failed: -1}},
		"sixty":     many,
		"none":      {{}, {}},
	} {
		paced(t, steps...).Find(".pace svg > rect").Each(func(_ int, s *goquery.Selection) {
			x, y, w, h := number(t, s, "x"), number(t, s, "y"), number(t, s, "width"), number(t, s, "height")
			if x < 0 || y < -0.01 || x+w > 600.01 || y+h > 96.01 || w <= 0 || w > 40 || h < 2 {
				t.Errorf("%s: a bar at %v, %v of %v by %v", name, x, y, w, h)
			}
		})
	}
}

func TestChartBeforeThereIsOne(t *testing.T) {
	doc := paced(t)
	if doc.Find(".pace svg, .pace details").Length() != 0 || !strings.Contains(text(doc.Find(".pace .pace-none")), "Nothing has been sent") {
		t.Errorf("%s", text(doc.Find(".pace")))
	}
	doc, _ = html(t, views.NoticePage(unkept()))
	if !strings.Contains(text(doc.Find(".pace")), "before this was kept") {
		t.Errorf("%s", text(doc.Find(".pace")))
	}
}

// Enter in a field of the notice's form sends the notice, so nothing of a test is in
// that form but the way to another one, whose first button only looks for devices.
func TestEnterSendsNoTestAndNoNotice(t *testing.T) {
	doc, _ := html(t, views.ComposePage(compose()))
	if first := doc.Find("form#compose button[type=submit]").First(); first.AttrOr("formaction", "") != "" || text(first) != "Send it again" {
		t.Errorf("the first button is %q", text(first))
	}
	if doc.Find("#compose-test :is(input, textarea)").Length() != 0 || doc.Find("#compose-test button[formaction='/notices/test'][formnovalidate]").Length() != 1 {
		t.Error("the way to a test is not a button alone")
	}
	doc, _ = html(t, views.TestFormPage(testForm()))
	if v, _ := doc.Find("#test-form button[type=submit]").First().Attr("value"); v != "find" {
		t.Errorf("Enter in the form of a test presses %q", v)
	}
}
