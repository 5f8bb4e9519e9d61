package views_test

import (
	"strings"
	"testing"

	"bongsu/views"
)

// Each case has one line of its own, whatever of it is known.
func TestWhyIsOneLineInEveryCase(t *testing.T) {
	seen := map[string]string{}
	for c, w := range whyLines() {
		line := views.WhySentence(*w)
		if line == c || strings.Contains(line, "\n") {
			t.Errorf("%s is said as %q", c, line)
		}
		if other, twice := seen[line]; twice {
			t.Errorf("%s and %s are both said as %q", c, other, line)
		}
		seen[line] = c
		doc, raw := html(t, views.DevicePage(views.Device{Shell: shell("devices"), ID: "4711", Link: "/devices/4711", Notice: "17", Why: w}))
		if got := text(doc.Find("#why-heading ~ .note p")); strings.ContainsAny(got, "{}") || got == "" {
			t.Errorf("%s: %q", c, got)
		}
		if strings.Contains(raw, "<script>alert") {
			t.Errorf("%s: the vendor's words became HTML", c)
		}
		bare := views.WhySentence(views.WhyLine{Case: c, NoticeID: "17", DeviceID: "4711"})
		if strings.Contains(bare, "{since}") || strings.Contains(bare, "{until}") {
			t.Errorf("%s names a time that is not known: %q", c, bare)
		}
	}
}

func TestWhatIsKnownOfAGapIsSaid(t *testing.T) {
	for want, w := range map[string]views.WhyLine{
		"has no consent":           {Case: "no_consent"},
		"has not been given since": {Case: "no_consent", Since: "2026-12-01T05:11:02Z"},
		"too late":                 {Case: "no_consent", Until: "2026-12-01T05:11:02Z"},
		"given again at {until}":   {Case: "no_consent", Since: "2026-12-01T05:11:02Z", Until: "2026-12-01T05:11:03Z"},
		"enabled again at {until}": {Case: "disabled", Since: "2026-12-01T05:11:02Z", Until: "2026-12-01T05:11:03Z"},
		"was cancelled by {by}":    {Case: "skipped", Reason: "cancelled", By: "kim", Since: "2026-12-01T05:11:02Z"},
		"withdrawn at {since}":     {Case: "skipped", Reason: "no_consent", Since: "2026-12-01T05:11:02Z"},
	} {
		if got := views.WhySentence(w); !strings.Contains(got, want) {
			t.Errorf("%+v: %q does not say %q", w, got, want)
		}
	}
}

func TestTheLinkIsThereWithoutScript(t *testing.T) {
	doc, _ := html(t, views.DevicePage(device()))
	link := doc.Find("main a[href='/devices/4711?notice=17']")
	button := doc.Find("main button[type=button][data-copy='/devices/4711?notice=17'][hidden][data-needs-script]")
	if link.Length() != 1 || button.Length() != 1 || doc.Find("#words[data-copied][data-copybyhand]").Length() != 1 {
		t.Errorf("%d links, %d buttons", link.Length(), button.Length())
	}
}

func TestWhoChangedADeviceIsNamed(t *testing.T) {
	doc, _ := html(t, views.DevicePage(device()))
	rows := text(doc.Find("#events-heading ~ ol"))
	for _, want := range []string{"the vendor says the address is gone", "the vendor's answer to notice #17", "API, token shop", "import #5", "it was android", "ada@example.com"} {
		if !strings.Contains(rows, want) {
			t.Errorf("%q is not in %q", want, rows)
		}
	}
	if strings.Contains(rows, "first time") {
		t.Error("the first registration is told before the last page")
	}
	if doc.Find("a[href='/imports/5']").Length() != 0 {
		t.Error("a link to an import for somebody who may not see it")
	}
}
