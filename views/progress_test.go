package views_test

import (
	"strings"
	"testing"

	"bongsu/views"
)

func TestPercentageIsFlooredAndFullOnlyWhenFinished(t *testing.T) {
	for _, c := range []struct {
		name, state, want string
		counts            views.Counts
	}{
		{"nearly", "sending", "99 %", views.Counts{Total: 10000, Sent: 9999, Sending: 1}},
		{"all done, not yet finished", "sending", "99 %", views.Counts{Total: 10000, Sent: 10000}},
		{"floored", "sending", "66 %", views.Counts{Total: 3, Sent: 2, Pending: 1}},
		{"finished", "finished", "100 %", views.Counts{Total: 3, Sent: 3}},
		{"finished with nobody", "finished", "", views.Counts{}},
		{"cancelled", "cancelled", "99 %", views.Counts{Total: 3, Sent: 1, Skipped: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, _ := html(t, views.ProgressPart(progress(c.state, c.counts)))
			if got := text(doc.Find(".under strong")); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestNoPercentageBeforeTheAudienceIsKnown(t *testing.T) {
	p := progress("sending", views.Counts{Total: 500, Sent: 400, Pending: 100})
	p.AllKnown, p.Estimate = false, 12000
	doc, _ := html(t, views.ProgressPart(p))
	if got := text(doc.Find(".under")); strings.Contains(got, "%") {
		t.Errorf("a percentage: %q", got)
	}
	if got, want := text(doc.Find(".lead")), "400 of about 12,000 done: 400 accepted by the vendor; 100 waiting."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCountsComeFirst(t *testing.T) {
	doc, _ := html(t, views.NoticePage(notice()))
	want := "8,322 of 12,000 done: 8,300 accepted by the vendor, 22 failed; 90 waiting for a retry, 10 being sent, 3,578 waiting."
	if got := text(doc.Find("#progress > :first-child")); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheLastFragmentAsksNoMore(t *testing.T) {
	doc, _ := html(t, views.ProgressPart(notice().Progress))
	if got, _ := doc.Find("#progress").Attr("hx-trigger"); got != "every 1s" {
		t.Errorf("a live fragment has hx-trigger %q", got)
	}
	if got, _ := doc.Find("#progress").Attr("hx-get"); got != "/notices/17/progress?v=9" {
		t.Errorf("it asks %q", got)
	}
	doc, _ = html(t, views.ProgressPart(finished().Progress))
	if doc.Find("[hx-trigger], [hx-get], [data-poll]").Length() != 0 {
		t.Error("the last fragment asks again")
	}
	doc, _ = html(t, views.ReplayPart(replay("done", false).Run))
	if doc.Find("[hx-trigger], [hx-get], [data-poll]").Length() != 0 {
		t.Error("the last replay fragment asks again")
	}
}

// The page includes the component that the fragment's address sends alone.
func TestPageAndFragmentAreTheSame(t *testing.T) {
	_, page := html(t, views.NoticePage(notice()))
	_, part := html(t, views.ProgressPart(notice().Progress))
	if !strings.Contains(page, part) {
		t.Error("the page does not hold the fragment")
	}
}

func TestActsComeAlongOnlyWhenTheyChanged(t *testing.T) {
	p := notice().Progress
	doc, _ := html(t, views.ProgressPart(p))
	if doc.Find("#acts").Length() != 0 {
		t.Error("the actions came along though nothing changed")
	}
	p.ActsSwap = true
	doc, _ = html(t, views.ProgressPart(p))
	if got, _ := doc.Find("#acts").Attr("hx-swap-oob"); got != "true" {
		t.Errorf("hx-swap-oob is %q", got)
	}
}

func TestOriginalNamesWhenWhoAndTheNewestRepeat(t *testing.T) {
	doc, _ := html(t, views.NoticePage(troubled()))
	note := doc.Find("[role=status] .note-warn").First()
	for _, want := range []string{"05:11:00 UTC by ada@example.com; this is the original", "#19 (cancelled)", "Send it again"} {
		if !strings.Contains(text(note), want) {
			t.Errorf("%q is not in %q", want, text(note))
		}
	}
	form := note.Find("form[method=post][action='/notices/17/repeat']")
	if got, _ := form.Find("input[name=repeat_of]").Attr("value"); got != "19" {
		t.Errorf("repeat_of is %q, want the newest", got)
	}
}

func TestTroubleIsSaid(t *testing.T) {
	doc, _ := html(t, views.ProgressPart(troubled().Progress))
	all := text(doc.Selection)
	for _, want := range []string{
		"has not answered since 05:11:30 UTC – Nothing is lost", "No worker is running", "Nothing has moved since",
		"7 devices may have been told twice", "4 deliveries were called without an answer",
	} {
		if !strings.Contains(strings.ReplaceAll(all, "2026-12-01 ", ""), want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
}

func TestScreenReadersHearTenthsOnly(t *testing.T) {
	say := func(sent int64) string {
		doc, _ := html(t, views.ProgressPart(progress("sending", views.Counts{Total: 100, Sent: sent, Pending: 100 - sent})))
		got, _ := doc.Find("#progress").Attr("data-announce")
		return got
	}
	if a, b := say(41), say(49); a != b {
		t.Errorf("%q then %q", a, b)
	}
	if a, b := say(49), say(50); a == b {
		t.Errorf("%q at 49 and at 50", a)
	}
}
