package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"bongsu/db"
)

func TestANoticeToNobodyAsksFirst(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3) // with the tag vip
	notices := func() int { return x.get("/notices").Find("tbody tr").Length() }
	form := func(tags string, more ...string) []string {
		return append([]string{"title", "Hello", "body", "Text", "category", "info", "tags", tags}, more...)
	}

	v := x.post("/notices", form("vup, gold")...)
	if v.status != http.StatusUnprocessableEntity || notices() != 0 {
		t.Fatalf("%d, %d notices", v.status, notices())
	}
	if got := v.text("#nobody"); !strings.Contains(got, "Nobody matches the tags vup, gold now: 0 devices.") ||
		!strings.Contains(got, "No device has the tag vup. Did you mean vip?") || !strings.Contains(got, "No device has the tag gold.") {
		t.Errorf("it asks %q", got)
	}
	if title, _ := v.Find("#title").Attr("value"); title != "Hello" || v.Find("#nobody input[type=checkbox][checked]").Length() != 0 {
		t.Errorf("typed was %q; or the box is ticked already", title)
	}
	said, _ := v.Find("#nobody input[name=nobody]").Attr("value")

	// Another audience of nobody is asked about anew, and one of somebody needs no answer.
	if v = x.post("/notices", form("gold", "nobody", said)...); v.status != http.StatusUnprocessableEntity || notices() != 0 {
		t.Errorf("the answer held for another audience: %d", v.status)
	}
	if v = x.post("/notices", form("vip")...); v.Find("#nobody").Length() != 0 || !strings.HasPrefix(v.at, "/notices/") {
		t.Errorf("somebody matches, and it asks: %s", v.text("main"))
	}

	// The answer is taken, with and without script, and is no part of the key.
	first := x.post("/notices", form("vup, gold", "nobody", said)...).at
	if again := x.post("/notices", form("gold,vup")...); again.at != first+"?original=1" {
		t.Errorf("%s, and again %s", first, again.at)
	}
	if h := x.htmx("POST", "/notices", form("gold")...); h.status != http.StatusUnprocessableEntity || h.Find("form#compose #nobody").Length() != 1 {
		t.Errorf("by htmx: %d %s", h.status, h.text("form"))
	}
	// What is wrong with a field comes before the question.
	if v = x.post("/notices", "title", "", "body", "Text", "category", "info", "tags", "gold"); v.Find("#nobody").Length() != 0 || v.text("#title-wrong") == "" {
		t.Errorf("a form with a mistake asks: %s", v.text("main"))
	}
}

func TestSendItAgainToNobodyLeadsToTheForm(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	x.sql("UPDATE device SET consent = false")
	id := strings.TrimPrefix(at, "/notices/")
	v := x.post(at+"/repeat", "repeat_of", id)
	if v.at != "/notices/new?repeat_of="+id || !strings.Contains(v.text("#audience-count"), "No device matches now") {
		t.Errorf("it led to %s: %s", v.at, v.text("#audience-count"))
	}
}

func TestTheAudienceNamesTagsThatNobodyHas(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3)
	if got := x.get("/notices/new").text("#tags-hint"); !strings.Contains(got, "In use: vip") {
		t.Errorf("the hint says %q", got)
	}
	v := x.get("/notices/audience?tags=vip,+VIP")
	if got := v.text("#audience-count"); !strings.Contains(got, "3 devices match now.") || !strings.Contains(got, "No device has the tag VIP. Did you mean vip?") {
		t.Errorf("%q", got)
	}
}

func TestAFinishedNoticeToNobodySaysSo(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	v := x.post("/notices", "title", "Hello", "body", "Text", "category", "info")
	said, _ := v.Find("#nobody input[name=nobody]").Attr("value")
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info", "nobody", said).at
	x.sql(`UPDATE notice SET state = 'finished', started_at = now(), cut_at = now(), finished_at = now(), settled_at = now(), estimate = 0`)
	main := x.get(at).text("main")
	if !strings.Contains(main, "Finished: nobody matched, so nobody was told.") || strings.Contains(main, "100 %") {
		t.Errorf("its page says %q", main)
	}
	if got := x.get("/notices").text("tbody .badge"); !strings.Contains(got, "finished: nobody matched") {
		t.Errorf("the list says %q", got)
	}
}

func TestNear(t *testing.T) {
	known := []string{"seoul", "vip", "서울", "busan", "vip-gold", "seoul-north", "seoul-south", "seoul-east"}
	for word, want := range map[string][]string{
		"seol": {"seoul"}, "SEOUL": {"seoul", "seoul-east", "seoul-north"}, "vup": {"vip"}, "vi": {"vip"}, "서을": {"서울"}, "vip-": {"vip", "vip-gold"},
		"nothing": nil, "xyz": nil,
	} {
		if got := near(word, known); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
