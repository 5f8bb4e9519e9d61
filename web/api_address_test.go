package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

// The keys of a subscription, from RFC 8291, appendix A.
const (
	testP256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	testAuth   = "BTBZMqHH6r4Tts7J_aSIgg"
)

// subscription is a device at an endpoint, as the API takes it.
func subscription(endpoint, more string) string {
	return fmt.Sprintf(`{"token":%q,"platform":"web","vendor":"webpush","p256dh":%q,"auth":%q%s}`, endpoint, testP256dh, testAuth, more)
}

func TestDevicesAtEachVendor(t *testing.T) {
	x := newRig(t)
	hex := strings.Repeat("ab12", 16)
	for _, c := range []struct{ body, vendor, environment, scope string }{
		{`{"token":"plain","platform":"ios"}`, "http", "", "http"},
		{`{"token":"fid:cAbC123","platform":"android","vendor":"fcm","environment":null,"auth":null}`, "fcm", "", "fcm:android"},
		{`{"token":"` + hex + `","platform":"ios","vendor":"apns","environment":"sandbox"}`, "apns", "sandbox", "apns:sandbox"},
		{subscription("https://push.example.com/secret-path", ""), "webpush", "", "webpush:push.example.com"},
	} {
		a := x.call(db.Operator, "PUT", "/devices", c.body)
		checkDocumented(t, "PUT", apiRoot+"/devices", c.body, a)
		d := read[deviceJSON](t, a)
		if a.status != 200 || d.Vendor != c.vendor || textOf(d.Environment) != c.environment {
			t.Errorf("%s: %d %s", c.body, a.status, a.body)
		}
		a = x.call(db.Support, "GET", fmt.Sprintf("/devices/%d", d.ID), "")
		if got := read[deviceJSON](t, a); got.Vendor != c.vendor || textOf(got.Environment) != c.environment {
			t.Errorf("read: %s", a.body)
		}
		for _, secret := range []string{"secret-path", testP256dh, testAuth, hex} {
			if strings.Contains(string(a.body), secret) {
				t.Errorf("%s is told", secret)
			}
		}
		if n := x.count(fmt.Sprintf("SELECT count(*) FROM device WHERE scope = '%s'", c.scope)); n != 1 {
			t.Errorf("%d devices are in %s", n, c.scope)
		}
	}
	for _, secret := range []string{"secret-path", testP256dh, testAuth, hex} {
		if strings.Contains(x.log.text(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

func TestAddressFaultsAreNamed(t *testing.T) {
	x := newRig(t)
	for body, fields := range map[string][]string{
		`{"token":"ab","platform":"ios","vendor":"apns"}`:                         {"environment"},
		`{"token":"ab","platform":"ios","vendor":"palm"}`:                         {"vendor"},
		`{"token":"ab","platform":"ios","vendor":7}`:                              {"vendor"},
		`{"token":"xy","platform":"web","vendor":"webpush"}`:                      {"token", "p256dh", "auth"},
		`[{"token":"ab","platform":"ios","environment":"sandbox"}]`:               {"devices[0].environment"},
		`{"token":"ab","platform":"ios","keys":{"p256dh":"a","auth":"b"}}`:        {"keys"},
		`[` + subscription("https://push.example.com/1", `,"tags":["a b"]`) + `]`: {"devices[0].tags"},
	} {
		a := x.call(db.Operator, "PUT", "/devices", body)
		if a.status != 422 || !a.problem(t).names(fields...) {
			t.Errorf("%s: %d %s, want %v", body, a.status, a.body, fields)
		}
	}
	first := subscription("https://push.example.com/1", `,"installation":"tab"`)
	if a := x.call(db.Operator, "PUT", "/devices", first); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := x.call(db.Operator, "PUT", "/devices", `{"token":"https://push.example.com/2","platform":"web","installation":"tab"}`)
	if a.status != 422 || !a.problem(t).names("vendor") {
		t.Errorf("a new endpoint without its keys: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM device"); n != 1 {
		t.Errorf("%d devices", n)
	}
}

func TestEndpointsThatAreNotCalledAreRefused(t *testing.T) {
	var asked []string
	hosts := map[string]error{
		"inside.example.com": errors.New("push to inside.example.com: it is at a private address"),
		"lost.example.com":   &net.DNSError{Err: "no answer", Name: "lost.example.com", IsTemporary: true},
	}
	x := newRig(t, func(d *Deps) {
		d.CheckEndpoint = func(_ context.Context, endpoint string) error {
			host := db.EndpointHost(endpoint)
			asked = append(asked, host)
			return hosts[host]
		}
	})
	refused := subscription("https://inside.example.com/secret-path", "")
	for body, field := range map[string]string{refused: "token", `[{"token":"a","platform":"ios"},` + refused + `]`: "devices[1].token"} {
		a := x.call(db.Operator, "PUT", "/devices", body)
		if a.status != 422 || !a.problem(t).names(field) || !strings.Contains(string(a.body), "private address") || strings.Contains(string(a.body), "secret-path") {
			t.Errorf("%s: %d %s", field, a.status, a.body)
		}
	}
	a := x.call(db.Operator, "PUT", "/devices", `[`+refused+`,`+subscription("https://lost.example.com/secret-path", "")+`]`)
	if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "lost.example.com") || strings.Contains(string(a.body), "secret-path") {
		t.Errorf("a host that nobody knows now: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM device"); n != 0 {
		t.Errorf("%d devices", n)
	}
	asked = nil
	many := make([]string, 300)
	for i := range many {
		many[i] = subscription(fmt.Sprintf("https://good%d.example.com/%d", i%3, i), "")
	}
	if a := x.call(db.Operator, "PUT", "/devices", "["+strings.Join(many, ",")+"]"); a.status != 200 || len(asked) != 3 {
		t.Errorf("300 endpoints of three hosts: %d, asked about %v", a.status, asked)
	}
	if strings.Contains(x.log.text(), "secret-path") {
		t.Error("an endpoint is in the log")
	}
}

// A look-up that outlasts the request is an outage and no refusal.
func TestEndpointCheckEndsWithTheRequest(t *testing.T) {
	x := newRig(t, func(d *Deps) {
		d.Limits.Handler = 300 * time.Millisecond
		d.CheckEndpoint = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return errors.New("asked in vain")
		}
	})
	if a := x.call(db.Operator, "PUT", "/devices", subscription("https://push.example.com/1", "")); a.status != 503 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// What an export gives, an import takes back without a change, whatever the vendor.
func TestExportOfAllVendorsIsAList(t *testing.T) {
	x := newRig(t)
	list := `[{"token":"plain","platform":"ios","user":"kim","tags":["vip"],"consent":false},
		{"token":"fid:cAbC123","platform":"android","vendor":"fcm"},
		{"token":"ab12","platform":"ios","vendor":"apns","environment":"production"},` +
		subscription("https://push.example.com/1?a=b,c", `,"installation":"tab"`) + `]`
	if a := x.call(db.Admin, "PUT", "/devices", list); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := x.send("GET", apiRoot+"/devices/export", "", withToken(x.tokens[db.Admin]))
	want := "\ufefftoken,platform,user,tags,consent,installation,vendor,environment,p256dh,auth\r\n" +
		"plain,ios,kim,vip,false,,http,,,\r\n" +
		"fid:cAbC123,android,,,true,,fcm,,,\r\n" +
		"ab12,ios,,,true,,apns,production,,\r\n" +
		"\"https://push.example.com/1?a=b,c\",web,,,true,tab,webpush,," + testP256dh + "," + testAuth + "\r\n"
	if string(a.body) != want {
		t.Errorf("%q, want %q", a.body, want)
	}
	if n := x.count("SELECT count(*) FROM audit a WHERE a::text LIKE '%" + testAuth + "%'"); n != 0 || strings.Contains(x.log.text(), testAuth) {
		t.Error("a secret is in the log")
	}
}

func TestPagesTellTheVendorAndNoKeys(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	endpoint := "https://push.example.com:444/secret-path"
	put := func(d db.DeviceInput) {
		if _, err := x.db.PutDevices(t.Context(), []db.DeviceInput{d}, command); err != nil {
			t.Fatal(err)
		}
	}
	put(db.DeviceInput{Token: "plain", Platform: "ios", User: new("kim"), Installation: new("tab")})
	put(db.DeviceInput{Token: "fid:cAbC123", Platform: "android", Vendor: new("fcm"), User: new("kim")})
	put(db.DeviceInput{Token: "ab12", Platform: "ios", Vendor: new("apns"), Environment: new("sandbox"), User: new("kim")})
	put(db.DeviceInput{Token: endpoint, Platform: "web", Vendor: new("webpush"), P256dh: new(testP256dh), Auth: new(testAuth), Installation: new("tab")})
	v := x.get("/devices?user=kim")
	for _, want := range []string{"FCM", "APNs (sandbox)", "Web Push (push.example.com:444)"} {
		if !strings.Contains(v.text("tbody"), want) {
			t.Errorf("%q is not in the list: %s", want, v.text("tbody"))
		}
	}
	if v = x.post("/devices/find", "token", endpoint); v.at != "/devices/1" {
		t.Errorf("by its endpoint: at %s", v.at)
	}
	if facts := v.text("dl.facts"); !strings.Contains(facts, "Web Push (push.example.com:444)") {
		t.Errorf("the facts: %s", facts)
	}
	if events := v.text(".events"); !strings.Contains(events, "Another vendor; it was HTTP vendor") {
		t.Errorf("the history: %s", events)
	}
	for _, secret := range []string{"secret-path", testP256dh, testAuth} {
		if strings.Contains(v.text("html"), secret) || strings.Contains(x.get("/devices?user=kim").text("html"), secret) {
			t.Errorf("a page shows %s", secret)
		}
	}
	if v = x.post("/devices/1/erase"); !strings.Contains(v.text("dl.facts"), "Web Push") || strings.Contains(v.text("dl.facts"), "push.example.com") {
		t.Errorf("erased: %s", v.text("dl.facts"))
	}
	if v = x.get("/imports"); !strings.Contains(v.text("#format"), "p256dh") || !strings.Contains(v.text("#format"), "webpush") {
		t.Errorf("the help: %s", v.text("#format"))
	}
}
