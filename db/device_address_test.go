package db

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// browser makes the keys of a subscription, as browsers spell them.
func browser(t testing.TB) (p256dh, auth string) {
	t.Helper()
	key := must(ecdh.P256().GenerateKey(rand.Reader))(t)
	secret := make([]byte, 16)
	must(rand.Read(secret))(t)
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(secret)
}

// subscribed is a browser at an endpoint, with keys of its own.
func subscribed(t testing.TB, endpoint string) DeviceInput {
	p256dh, auth := browser(t)
	return DeviceInput{Token: endpoint, Platform: "web", Vendor: new(KindWebPush), P256dh: &p256dh, Auth: &auth}
}

const (
	endpoint = "https://push.example.com/send/abcdefghijkl"
	hexToken = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
)

func TestAddressRules(t *testing.T) {
	p256dh, auth := browser(t)
	compressed := base64.RawURLEncoding.EncodeToString(append([]byte{2}, make([]byte, 32)...))
	offCurve := base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))
	vendor := func(kind, token, platform string) DeviceInput {
		return DeviceInput{Vendor: &kind, Token: token, Platform: platform}
	}
	web := func(change func(*DeviceInput)) DeviceInput {
		d := vendor("webpush", endpoint, "web")
		d.P256dh, d.Auth = &p256dh, &auth
		change(&d)
		return d
	}
	apns := func(token, environment string) DeviceInput {
		d := vendor("apns", token, "ios")
		d.Environment = &environment
		return d
	}
	for name, c := range map[string]struct {
		in     DeviceInput
		fields string
	}{
		"http":                      {vendor("http", "any", "ios"), ""},
		"http with an endpoint":     {vendor("http", endpoint, "web"), ""},
		"unknown vendor":            {vendor("gcm", "any", "ios"), "vendor"},
		"empty vendor":              {vendor("", "any", "ios"), "vendor"},
		"fcm, android":              {vendor("fcm", "fGh2_x:APA91bH-k", "android"), ""},
		"fcm, ios":                  {vendor("fcm", "fGh2_x:APA91bH-k", "ios"), ""},
		"fcm, web":                  {vendor("fcm", "fGh2_x:APA91bH-k", "web"), ""},
		"fcm by installation":       {vendor("fcm", "fid:cAbC-123_xyz", "android"), ""},
		"fcm, no installation":      {vendor("fcm", "fid:", "android"), "token"},
		"fcm, odd installation":     {vendor("fcm", "fid:a.b", "android"), "token"},
		"fcm, odd letters":          {vendor("fcm", "fGh2김", "android"), "token"},
		"fcm with an endpoint":      {vendor("fcm", endpoint, "web"), "token"},
		"fcm without a token":       {vendor("fcm", "", "android"), "token"},
		"apns":                      {apns(hexToken, "production"), ""},
		"apns, sandbox, upper case": {apns(strings.ToUpper(hexToken), "sandbox"), ""},
		"apns, half a byte":         {apns(hexToken[1:], "sandbox"), "token"},
		"apns, not hex":             {apns("zz"+hexToken[2:], "sandbox"), "token"},
		"apns, no environment":      {vendor("apns", hexToken, "ios"), "environment"},
		"apns, empty environment":   {apns(hexToken, ""), "environment"},
		"apns, other environment":   {apns(hexToken, "development"), "environment"},
		"apns on android":           {DeviceInput{Vendor: new("apns"), Environment: new("sandbox"), Token: hexToken, Platform: "android"}, "platform"},
		"apns on no platform":       {DeviceInput{Vendor: new("apns"), Environment: new("sandbox"), Token: hexToken}, "platform"},
		"environment with fcm":      {DeviceInput{Vendor: new("fcm"), Environment: new("sandbox"), Token: "a", Platform: "ios"}, "environment"},
		"environment alone":         {DeviceInput{Environment: new("sandbox"), Token: "a", Platform: "ios"}, "environment"},
		"webpush":                   {web(func(*DeviceInput) {}), ""},
		"webpush with a port":       {web(func(d *DeviceInput) { d.Token = "https://push.example.com:8443/x?y=z" }), ""},
		"webpush on a phone":        {web(func(d *DeviceInput) { d.Platform = "android" }), "platform"},
		"longest endpoint":          {web(func(d *DeviceInput) { d.Token += strings.Repeat("x", 2048-len(endpoint)) }), ""},
		"endpoint too long":         {web(func(d *DeviceInput) { d.Token += strings.Repeat("x", 2049-len(endpoint)) }), "token"},
		"http endpoint":             {web(func(d *DeviceInput) { d.Token = "http://push.example.com/x" }), "token"},
		"HTTPS endpoint":            {web(func(d *DeviceInput) { d.Token = "HTTPS://push.example.com/x" }), "token"},
		"no host":                   {web(func(d *DeviceInput) { d.Token = "https:///x" }), "token"},
		"only a port":               {web(func(d *DeviceInput) { d.Token = "https://:443/x" }), "token"},
		"endpoint with a user":      {web(func(d *DeviceInput) { d.Token = "https://push.example.com@127.0.0.1/x" }), "token"},
		"endpoint with a backslash": {web(func(d *DeviceInput) { d.Token = `https://push.example.com\@127.0.0.1/x` }), "token"},
		"endpoint with a fragment":  {web(func(d *DeviceInput) { d.Token += "#x" }), "token"},
		"host in odd letters":       {web(func(d *DeviceInput) { d.Token = "https://push。example.com/x" }), "token"},
		"no public key":             {web(func(d *DeviceInput) { d.P256dh = nil }), "p256dh"},
		"empty public key":          {web(func(d *DeviceInput) { d.P256dh = new("") }), "p256dh"},
		"public key cut":            {web(func(d *DeviceInput) { d.P256dh = new(p256dh[:40]) }), "p256dh"},
		"public key not base64":     {web(func(d *DeviceInput) { d.P256dh = new("!" + p256dh[1:]) }), "p256dh"},
		"public key with a break":   {web(func(d *DeviceInput) { d.P256dh = new(p256dh[:40] + "\n" + p256dh[40:]) }), "p256dh"},
		"public key compressed":     {web(func(d *DeviceInput) { d.P256dh = &compressed }), "p256dh"},
		"public key off the curve":  {web(func(d *DeviceInput) { d.P256dh = &offCurve }), "p256dh"},
		"no secret":                 {web(func(d *DeviceInput) { d.Auth = nil }), "auth"},
		"short secret":              {web(func(d *DeviceInput) { d.Auth = new(auth[:20]) }), "auth"},
		"long secret":               {web(func(d *DeviceInput) { d.Auth = new(auth + auth) }), "auth"},
		"endless secret":            {web(func(d *DeviceInput) { d.Auth = new(strings.Repeat(auth, 1000)) }), "auth"},
		"webpush with nothing":      {vendor("webpush", "x", "ios"), "token platform p256dh auth"},
		"keys with fcm":             {web(func(d *DeviceInput) { d.Vendor, d.Token = new("fcm"), "a" }), "p256dh auth"},
		"keys alone":                {web(func(d *DeviceInput) { d.Vendor = nil }), "p256dh auth"},
	} {
		_, err := checkDevices([]DeviceInput{c.in})
		if got := strings.ReplaceAll(fieldsOf(err), "devices[0].", ""); got != c.fields {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.fields, err)
		}
		for _, part := range []string{textOr(c.in.Auth), textOr(c.in.P256dh), c.in.Token} {
			if err != nil && len(part) > 8 && strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error repeats what was given: %v", name, err)
			}
		}
	}
}

func TestKeysInAnySpellingAreOne(t *testing.T) {
	db := newDB(t)
	in := subscribed(t, endpoint)
	d := put(t, db, in)
	for _, spell := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		again := in
		raw, _ := keyBytes(*in.P256dh)
		secret, _ := keyBytes(*in.Auth)
		again.P256dh, again.Auth = new(spell.EncodeToString(raw)), new(spell.EncodeToString(secret))
		put(t, db, again)
	}
	if got := ask[string](t, db, "SELECT p256dh || ' ' || auth FROM device"); got != *in.P256dh+" "+*in.Auth {
		t.Errorf("stored as %q", got)
	}
	wantEvents(t, db, d.ID)
}

func TestVendorLeftOutStays(t *testing.T) {
	db := newDB(t)
	if d := put(t, db, DeviceInput{Token: "plain"}); d.Kind != KindHTTP || d.Environment != nil || d.Scope != "http" {
		t.Errorf("a new one: %+v", d)
	}
	phone := put(t, db, DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox"), Installation: new("phone")})
	if phone.Kind != "apns" || *phone.Environment != "sandbox" || phone.Scope != "apns:sandbox" {
		t.Errorf("made %+v", phone)
	}
	for _, token := range []string{hexToken, "ab" + hexToken} { // the same, and a new one of the same app
		if d := put(t, db, DeviceInput{Token: token, Platform: "ios", Installation: new("phone")}); d.ID != phone.ID || d.Scope != "apns:sandbox" {
			t.Errorf("vendor left out: %+v", d)
		}
	}
	in := subscribed(t, endpoint)
	in.Installation = new("tab")
	tab := put(t, db, in)
	if d := put(t, db, DeviceInput{Token: endpoint, Platform: "web", User: new("kim")}); d.ID != tab.ID || d.Scope != "webpush:push.example.com" {
		t.Errorf("the same endpoint: %+v", d)
	}
	if got := ask[string](t, db, "SELECT auth FROM device WHERE id = $1", tab.ID); got != *in.Auth {
		t.Error("the secret changed")
	}
	wantEvents(t, db, phone.ID, "token"+bySomeone)
	wantEvents(t, db, tab.ID, "user"+bySomeone)
	for name, c := range map[string]struct {
		in     DeviceInput
		fields string
	}{
		"a new endpoint without keys":  {DeviceInput{Token: endpoint + "2", Platform: "web", Installation: new("tab")}, "devices[1].vendor"},
		"a token that is no apns'":     {DeviceInput{Token: "fGh2:APA91", Platform: "ios", Installation: new("phone")}, "devices[1].token"},
		"a platform that is no apns'":  {DeviceInput{Token: "ab" + hexToken, Platform: "android"}, "devices[1].platform"},
		"a browser that became an app": {DeviceInput{Token: endpoint, Platform: "ios"}, "devices[1].platform"},
	} {
		_, err := db.PutDevices(t.Context(), []DeviceInput{{Token: "beside", Platform: "ios"}, c.in}, someone)
		if fieldsOf(err) != c.fields {
			t.Errorf("%s: %v, want %s", name, err, c.fields)
		}
	}
	if _, err := db.DeviceByToken(t.Context(), "beside"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a list with a fault was stored: %v", err)
	}
}

// One phone that goes round the vendors is one device all the time, and its history
// tells the vendors and no address.
func TestInstallationMovesToAnotherVendor(t *testing.T) {
	db := newDB(t)
	web := subscribed(t, endpoint)
	steps := []struct {
		in    DeviceInput
		scope string
	}{
		{DeviceInput{Token: "first-token", Platform: "ios"}, "http"},
		{DeviceInput{Token: "fid:cAbC123", Platform: "ios", Vendor: new("fcm")}, "fcm:ios"},
		{web, "webpush:push.example.com"},
		{DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")}, "apns:sandbox"},
		{DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("production")}, "apns:production"},
		{DeviceInput{Token: "fGh2:APA91", Platform: "ios", Vendor: new("fcm")}, "fcm:ios"},
	}
	var id int64
	for i, s := range steps {
		s.in.Installation = new("phone")
		d := put(t, db, s.in)
		if id = max(id, d.ID); d.ID != id || d.Scope != s.scope || (d.Environment != nil) != (d.Kind == "apns") {
			t.Errorf("step %d: %+v, want device %d at %s", i, d, id, s.scope)
		}
		if keys := ask[bool](t, db, "SELECT p256dh IS NOT NULL AND auth IS NOT NULL FROM device"); keys != (d.Kind == "webpush") {
			t.Errorf("step %d: keys %v", i, keys)
		}
	}
	by := bySomeone
	wantEvents(t, db, id, "token"+by, "vendor http"+by, "token"+by, "vendor fcm"+by, "platform ios"+by,
		"token"+by, "vendor webpush"+by, "platform web"+by, "vendor apns:sandbox"+by, "token"+by, "vendor apns:production"+by)
	noSecrets(t, db, endpoint, *web.P256dh, *web.Auth, hexToken, "first-token", "cAbC123", "APA91")
}

// noSecrets fails where a history or the log of acts holds one of the texts.
func noSecrets(t testing.TB, db *DB, secrets ...string) {
	t.Helper()
	kept := ask[string](t, db, `SELECT concat((SELECT string_agg(e::text, ' ') FROM device_event e), (SELECT string_agg(a::text, ' ') FROM audit a))`)
	if !strings.Contains(kept, "device.put") && !strings.Contains(kept, "import.accept") {
		t.Fatal("nothing is kept to look at")
	}
	for _, s := range secrets {
		if strings.Contains(kept, s) {
			t.Errorf("%q is in a history or in the log of acts", s)
		}
	}
}

func TestTokenComesWithAnotherVendor(t *testing.T) {
	db := newDB(t)
	d := put(t, db, DeviceInput{Token: endpoint, Platform: "web"})
	in := subscribed(t, endpoint)
	if got := put(t, db, in); got.ID != d.ID || got.Scope != "webpush:push.example.com" {
		t.Errorf("%+v", got)
	}
	other := subscribed(t, endpoint)
	put(t, db, other)
	if got := ask[string](t, db, "SELECT p256dh || ' ' || auth FROM device"); got != *other.P256dh+" "+*other.Auth {
		t.Error("the new keys are not stored")
	}
	if got := put(t, db, DeviceInput{Token: endpoint, Platform: "web", Vendor: new("http")}); got.ID != d.ID || got.Scope != "http" {
		t.Errorf("back: %+v", got)
	}
	wantEvents(t, db, d.ID, "vendor http"+bySomeone, "keys"+bySomeone, "vendor webpush"+bySomeone)
	noSecrets(t, db, endpoint, *in.P256dh, *in.Auth, *other.P256dh, *other.Auth)
}

// An endpoint that another device held moves with its keys.
func TestTakenEndpointBringsItsKeys(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	in := subscribed(t, endpoint)
	holder := put(t, db, in)
	tab := put(t, db, DeviceInput{Token: "fGh2:APA91", Platform: "web", Vendor: new("fcm"), Installation: new("tab")})
	got := put(t, db, DeviceInput{Token: endpoint, Platform: "web", Installation: new("tab")})
	if got.ID != tab.ID || got.Scope != "webpush:push.example.com" {
		t.Errorf("%+v, want device %d at Web Push", got, tab.ID)
	}
	if auth := ask[string](t, db, "SELECT auth FROM device WHERE id = $1", tab.ID); auth != *in.Auth {
		t.Error("the keys did not come along")
	}
	lost := must(db.Device(ctx, holder.ID))(t)
	if lost.TokenMasked != "" || lost.Kind != "webpush" || lost.Scope != "webpush:" || *lost.DisabledReason != "replaced" {
		t.Errorf("the one that lost it: %+v", lost)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM device WHERE auth IS NOT NULL"); n != 1 {
		t.Errorf("%d devices have keys", n)
	}
}

func TestErasingDropsEndpointAndKeys(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	in := subscribed(t, endpoint)
	put(t, db, DeviceInput{Token: endpoint, Platform: "web"})
	d := put(t, db, in)
	found := must(db.DeviceByToken(ctx, endpoint))(t)
	if found.ID != d.ID || strings.Contains(fmt.Sprintf("%+v", found), endpoint) {
		t.Errorf("by its endpoint: %+v", found)
	}
	ok(t, db.EraseDevice(ctx, d.ID, someone))
	if got := ask[string](t, db, "SELECT concat_ws(' ', kind, scope, token, p256dh, auth) FROM device"); got != "webpush webpush:" {
		t.Errorf("what is left: %q", got)
	}
	wantEvents(t, db, d.ID, "consent_withdrawn"+bySomeone, "erased"+bySomeone)
	apple := put(t, db, DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")})
	ok(t, db.EraseDevice(ctx, apple.ID, someone))
}

func TestSeededDevicesHaveTheirAddress(t *testing.T) {
	db := newDB(t)
	list := []DeviceInput{
		{Token: "plain", Platform: "ios"},
		{Token: "ab", Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")},
		subscribed(t, endpoint),
	}
	ok(t, db.SeedDevices(t.Context(), len(list), func(i int) DeviceInput { return list[i] }))
	got := ask[string](t, db, "SELECT string_agg(concat_ws(' ', scope, p256dh, auth), ', ' ORDER BY id) FROM device")
	if want := "http, apns:sandbox, webpush:push.example.com " + *list[2].P256dh + " " + *list[2].Auth; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := db.SeedDevices(t.Context(), 1, func(int) DeviceInput { return DeviceInput{Token: "x", Platform: "ios", Vendor: new("apns")} }); fieldsOf(err) != "devices[0].token" {
		t.Errorf("a wrong one: %v", err)
	}
}
