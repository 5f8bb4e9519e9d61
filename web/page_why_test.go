package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"bongsu/db"
	"bongsu/views"
)

func TestEveryCaseHasItsWords(t *testing.T) {
	for _, c := range db.WhyCases {
		if got := views.WhySentence(views.WhyLine{Case: string(c)}); got == string(c) || got == "" {
			t.Errorf("%s is said as %q", c, got)
		}
	}
}

func TestWhyOnADevicesPage(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(3)
	id := x.failedNotice(2)
	if _, err := x.db.PutDevices(t.Context(), []db.DeviceInput{{Token: "token-9", Platform: "ios"}, {Token: "token-3", Platform: "ios", Consent: new(false)}}, command); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[string]string{
		"1": "because the vendor says the address is gone. 410 gone <b>for good</b>",
		"3": "Not in it: consent was withdrawn at",
		"4": "after the notice was accepted at",
	} {
		v := x.get("/devices/" + device + "?notice=" + id)
		if got := v.text("#why-heading ~ .note"); !strings.Contains(got, want) {
			t.Errorf("device %s: %q does not say %q", device, got, want)
		}
		if v.text("section h3") != "#"+id+" Failed one" {
			t.Errorf("which notice: %q", v.text("section h3"))
		}
		if n := v.Find("a[href='/devices/" + device + "?notice=" + id + "'], button[data-copy='/devices/" + device + "?notice=" + id + "']").Length(); n != 2 {
			t.Errorf("device %s: %d ways to this very view", device, n)
		}
	}
	if got := x.get("/devices/1?notice=99").text("#why-heading ~ .note"); got != "There is no notice #99." {
		t.Errorf("a notice that is not there: %q", got)
	}
	v := x.get("/devices/1?notice=abc")
	if v.status != 200 || v.text("#notice-wrong") != views.Said().BadNotice || v.Find("#why-heading ~ .note").Length() != 0 {
		t.Errorf("no number: %d %q", v.status, v.text("#notice-wrong"))
	}
	v = x.get("/devices/3")
	if got := v.text("#events-heading ~ ol"); !strings.Contains(got, "Consent withdrawn") || !strings.Contains(got, "Registered for the first time") {
		t.Errorf("the history of consent: %q", got)
	}
	if v.Find("a[href='/devices/3']").Length() == 0 {
		t.Error("no link to this view")
	}
}

func TestWhyForAUser(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(3)
	id := x.failedNotice(2)
	x.sql(`UPDATE device SET consent = false WHERE id = 3`)
	v := x.get("/notices/" + id)
	if v.Find("a[href='/devices?notice="+id+"']").Length() != 1 {
		t.Error("no way from the notice to a look-up")
	}
	v = x.get("/devices?notice=" + id)
	if got, _ := v.Find("form input[type=hidden][name=notice]").Attr("value"); got != id || !strings.Contains(v.text("main"), "Failed one") {
		t.Errorf("the look-up forgets the notice: %q", got)
	}
	v = x.post("/devices/find", "user", "kim", "notice", id)
	if v.at != "/devices?notice="+id+"&user=kim" {
		t.Fatalf("at %s", v.at)
	}
	var got []string
	v.Find("#why-heading ~ .note p").Each(func(_ int, p *goquery.Selection) { got = append(got, p.Text()) })
	if len(got) != 3 || !strings.Contains(got[0], "no consent") || !strings.Contains(got[1], "Failed at") {
		t.Errorf("%q", got)
	}
	if v = x.post("/devices/find", "id", "2", "notice", id); v.at != "/devices/2?notice="+id {
		t.Errorf("by number: at %s", v.at)
	}
	if v = x.get("/devices?user=kim&notice=99"); !strings.Contains(v.text("main"), views.Said().NoSuchNotice) {
		t.Errorf("a notice that is not there: %s", v.text("main"))
	}
	if v = x.post("/devices/find", "id", "x1"); v.at != "/devices" || !strings.Contains(v.text("main"), views.Said().NoSuchDevice) {
		t.Errorf("no number: at %s", v.at)
	}
}

// A token stands in no address, no line of a log and no line of the log of acts,
// whichever field it was typed into.
func TestTokensStayOutOfAddressesAndLogs(t *testing.T) {
	x := newRig(t)
	const known, unknown = "known-token-4711", "unknown-token-4711"
	if a := x.call(db.Admin, "PUT", "/devices", `{"token":"`+known+`","platform":"web","user":"kim"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	me := withCookie(x.session(db.Support))
	for _, field := range []string{"token", "user", "id"} {
		a := x.send("POST", "/devices/find", field+"="+known, me, formType)
		if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != "/devices/1" {
			t.Errorf("%s: %d, to %s", field, a.status, got)
		}
		a = x.send("POST", "/devices/find", field+"="+unknown, me, formType)
		if got := a.header.Get("Location"); a.status != http.StatusSeeOther || got != "/devices" {
			t.Errorf("%s, unknown: %d, to %s", field, a.status, got)
		}
	}
	if strings.Contains(x.log.text(), "token-4711") {
		t.Error("a token is in the log")
	}
	if n := x.count("SELECT count(*) FROM audit a WHERE a::text LIKE '%token-4711%'"); n != 0 {
		t.Errorf("a token is in %d lines of the log of acts", n)
	}
}

func TestAskingWhyIsInTheLogOfActs(t *testing.T) {
	x := newRig(t)
	x.call(db.Admin, "PUT", "/devices", `{"token":"abc","platform":"web","user":"kim"}`)
	me := withCookie(x.session(db.Support))
	x.send("GET", "/devices/1?notice=5", "", me)
	x.send("GET", "/devices?user=kim&notice=5", "", me)
	for _, act := range []string{"device.read", "device.find"} {
		if n := x.count("SELECT count(*) FROM audit WHERE act = $1 AND (detail->>'notice')::int = 5", act); n != 1 {
			t.Errorf("%s: %d lines", act, n)
		}
	}
	if a := x.send("GET", "/notices/1", "", withCookie(x.session(db.Operator))); strings.Contains(string(a.body), "/devices?notice=") {
		t.Error("an operator is offered a look-up, which is for support")
	}
}
