package db

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rejectsOf gives the rejected rows of an import as "row column reason: message".
func rejectsOf(t testing.TB, db *DB, id int64) (list []string) {
	t.Helper()
	for _, r := range must(db.ImportRejects(t.Context(), id, 0, 100))(t) {
		list = append(list, strings.TrimSpace(string(rune('0'+r.Row))+" "+r.Column+" "+r.Reason+": "+r.Message))
	}
	return list
}

// sums checks what an import came to.
func sumsOf(t testing.TB, db *DB, id int64, created, updated, unchanged, rejected int64) {
	t.Helper()
	i := must(db.Import(t.Context(), id))(t)
	if i.Created != created || i.Updated != updated || i.Unchanged != unchanged || i.Rejected != rejected {
		t.Errorf("created %d updated %d unchanged %d rejected %d, want %d %d %d %d", i.Created, i.Updated, i.Unchanged, i.Rejected,
			created, updated, unchanged, rejected)
	}
}

func TestImportsBringAddresses(t *testing.T) {
	db := newDB(t)
	web := subscribed(t, endpoint)
	list := []DeviceInput{
		{Token: "plain", Platform: "ios"},
		{Token: "fid:cAbC123", Platform: "android", Vendor: new("fcm")},
		{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("production")},
		web,
	}
	const all = `SELECT string_agg(concat_ws(' ', scope, environment, p256dh, auth), E'\n' ORDER BY id) FROM device`
	w := written(t, db, ImportOptions{}, list...)
	sumsOf(t, db, w.ID, 4, 0, 0, 0)
	want := "http\nfcm:android\napns:production production\nwebpush:push.example.com " + *web.P256dh + " " + *web.Auth
	if diff := cmp.Diff(want, ask[string](t, db, all)); diff != "" {
		t.Error(diff)
	}
	w = written(t, db, ImportOptions{}, list...)
	sumsOf(t, db, w.ID, 0, 0, 4, 0)
	for i := range list { // a list without the columns
		list[i] = DeviceInput{Token: list[i].Token, Platform: list[i].Platform}
	}
	w = written(t, db, ImportOptions{}, list...)
	sumsOf(t, db, w.ID, 0, 0, 4, 0)
	if diff := cmp.Diff(want, ask[string](t, db, all)); diff != "" {
		t.Errorf("after a list without vendors: %s", diff)
	}
	other := subscribed(t, endpoint)
	w = written(t, db, ImportOptions{}, other, DeviceInput{Token: "plain", Platform: "ios", Vendor: new("fcm")},
		DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")})
	sumsOf(t, db, w.ID, 0, 3, 0, 0)
	want = "fcm:ios\nfcm:android\napns:sandbox sandbox\nwebpush:push.example.com " + *other.P256dh + " " + *other.Auth
	if diff := cmp.Diff(want, ask[string](t, db, all)); diff != "" {
		t.Errorf("after other addresses: %s", diff)
	}
	noSecrets(t, db, endpoint, hexToken, *web.Auth, *web.P256dh, *other.Auth, *other.P256dh)
}

// Rows that do not go with the device that they name are rejected among good ones,
// and come with their cells; a dry run says the same.
func TestImportRejectsWhatDoesNotGoWithItsDevice(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	in := subscribed(t, endpoint)
	in.Installation = new("tab")
	put(t, db, in)
	put(t, db, DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")})
	rows := []DeviceInput{
		{Token: endpoint + "-new", Platform: "web", Installation: new("tab"), User: new("kim"), Tags: &[]string{"a", "b"}, Consent: new(false)},
		{Token: "new", Platform: "web"},
		{Token: hexToken, Platform: "android"},
		{Token: endpoint, Platform: "web", User: new("lee")},
	}
	for _, dry := range []bool{true, false} {

		i := take(t, db, "token,platform\n", ImportOptions{DryRun: dry}, someone)
		w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
		ok(t, db.DescribeImport(ctx, w, []string{"Note", " TOKEN", "platform", "user", "tags", "consent", "installation"}, nil))
		var list []ImportRow
		for n, in := range rows {
			list = append(list, ImportRow{Number: int64(n + 1), Input: in})
		}
		ok(t, db.StageImport(ctx, &w, list, 4, 100))
		ok(t, db.EndReading(ctx, &w))
		ok(t, db.MatchImport(ctx, &w))
		must(db.WriteImport(ctx, &w, 100))(t)
		sumsOf(t, db, i.ID, 1, 1, 0, 2)
		want := []string{
			"1 vendor bad_vendor: vendor is missing: the device is at Web Push, and a new endpoint comes with vendor, p256dh and auth",
			"3 platform bad_platform: platform must be ios with apns; the device is there: give vendor if it has moved",
		}
		if diff := cmp.Diff(want, rejectsOf(t, db, i.ID)); diff != "" {
			t.Errorf("dry %v: %s", dry, diff)
		}
		first := must(db.ImportRejects(ctx, i.ID, 0, 1))(t)[0]
		if diff := cmp.Diff([]string{"", endpoint + "-new", "web", "kim", "a|b", "false", "tab"}, first.Cells); diff != "" || first.Value != "" {
			t.Errorf("%q: %s", first.Value, diff)
		}
		reasons := must(db.ImportReasons(ctx, i.ID))(t)
		if diff := cmp.Diff([]ImportReason{{"bad_platform", 1}, {"bad_vendor", 1}}, reasons); diff != "" {
			t.Error(diff)
		}
		if n := ask[int](t, db, "SELECT count(*) FROM import_row WHERE import_id = $1 AND bad AND over", i.ID); n != 2 {
			t.Errorf("%d rows are taken out", n)
		}
		left := map[bool]string{true: "web t, ios t", false: "web lee t, ios t, web t"}[dry]
		if got := ask[string](t, db, "SELECT string_agg(concat_ws(' ', platform, person, consent), ', ' ORDER BY id) FROM device"); got != left {
			t.Errorf("dry %v, the devices: %s", dry, got)
		}
	}
}

// A device whose row is rejected is named by a full list all the same.
func TestFullListNamesTheDeviceOfARejectedRow(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	in := subscribed(t, endpoint)
	in.Installation = new("tab")
	put(t, db, in)
	w := written(t, db, ImportOptions{FullList: true}, DeviceInput{Token: endpoint + "-new", Platform: "web", Installation: new("tab")})
	ok(t, db.EndWriting(ctx, &w))
	ok(t, db.CountMissing(ctx, &w))
	if i := must(db.Import(ctx, w.ID))(t); i.Missing != 0 || i.Rejected != 1 || i.State != ImportDone {
		t.Errorf("%+v", i)
	}
}

func TestImportRowsAreChecked(t *testing.T) {
	show := func(column, value string) string {
		if column == "token" || column == "auth" || column == "p256dh" {
			return "…"
		}
		return value
	}
	web := subscribed(t, endpoint)
	noAuth, inside := web, subscribed(t, "https://inside.example.com/x")
	noAuth.Auth = nil
	checks := NewEndpointChecks(func(_ context.Context, e string) error {
		if EndpointHost(e) == "inside.example.com" {
			return errors.New("its host is not on the list")
		}
		return context.DeadlineExceeded
	})
	for name, c := range map[string]struct {
		in                    DeviceInput
		column, value, reason string
	}{
		"vendor":      {DeviceInput{Token: "a", Platform: "ios", Vendor: new("gcm")}, "vendor", "gcm", ReasonBadVendor},
		"environment": {DeviceInput{Token: "ab", Platform: "ios", Vendor: new("apns"), Environment: new("dev")}, "environment", "dev", ReasonBadEnvironment},
		"p256dh":      {DeviceInput{Token: "a", Platform: "ios", P256dh: new("secret")}, "p256dh", "…", ReasonBadP256dh},
		"auth":        {noAuth, "auth", "…", ReasonBadAuth},
		"token":       {DeviceInput{Token: "xyz", Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")}, "token", "…", ReasonBadToken},
		"host":        {inside, "token", "…", ReasonBadToken},
		"unsure":      {web, "token", "…", ReasonUnsure},
	} {
		r := ImportRow{Number: 2, Input: c.in}
		r.Check(show)
		if r.Reject == nil {
			ok(t, r.CheckEndpoint(t.Context(), checks, show))
		}
		if r.Reject == nil || r.Reject.Column != c.column || r.Reject.Value != c.value || r.Reject.Reason != c.reason {
			t.Errorf("%s: %+v", name, r.Reject)
		} else if strings.Contains(r.Reject.Message, endpoint) || strings.Contains(r.Reject.Message, "secret is") {
			t.Errorf("%s: %s", name, r.Reject.Message)
		}
	}
}

// A row that the database refuses comes with its cells too.
func TestRefusedRowHasItsCells(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	i := take(t, db, "token,platform\n", ImportOptions{}, someone)
	w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
	ok(t, db.DescribeImport(ctx, w, []string{"token", "platform", "environment"}, nil))
	ok(t, db.StageImport(ctx, &w, []ImportRow{{Number: 1, Input: DeviceInput{Token: "a", Platform: "ios", Environment: new("sandbox")}}}, 1, 10))
	ok(t, db.EndReading(ctx, &w))
	ok(t, db.MatchImport(ctx, &w))
	_, err := db.WriteImport(ctx, &w, 1)
	if err == nil {
		t.Fatal("an environment without apns went in")
	}
	ok(t, db.RejectRow(ctx, &w, err))
	rejects := must(db.ImportRejects(ctx, i.ID, 0, 10))(t)
	if diff := cmp.Diff([]string{"a", "ios", "sandbox"}, rejects[0].Cells); diff != "" || rejects[0].Reason != ReasonRefused {
		t.Errorf("%+v %s", rejects[0], diff)
	}
	if err := db.RejectRow(ctx, &ImportWork{ID: i.ID, Fence: w.Fence}, err); err == nil {
		t.Error("a row that is out was rejected again")
	}
}

// Rows that were rejected while the list was written count once, also where a crash
// of the server takes the staged rows and all is read again.
func TestLateRejectsOutliveACrash(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	put(t, db, DeviceInput{Token: hexToken, Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")})
	i := take(t, db, "token,platform\n", ImportOptions{}, someone)
	rows := []ImportRow{
		{Number: 1, Input: DeviceInput{Token: hexToken, Platform: "android"}},
		{Number: 2, Input: DeviceInput{Token: "b"}, Reject: &ImportReject{Column: "platform", Reason: ReasonBadPlatform, Message: "no"}},
		{Number: 3, Input: DeviceInput{Token: "c", Platform: "web"}},
	}
	w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
	read := func() {
		ok(t, db.StageImport(ctx, &w, rows, 3, 100))
		ok(t, db.EndReading(ctx, &w))
		ok(t, db.MatchImport(ctx, &w))
	}
	read()
	must(db.WriteImport(ctx, &w, 1))(t)
	ok(t, db.YieldImport(ctx, w))
	exec(t, db, "DELETE FROM import_row")
	w = must(db.BeginImport(ctx, i.ID, 2, time.Minute))(t)
	if w.Phase != "reading" || w.WriteTo != 1 {
		t.Fatalf("after the crash: %+v", w)
	}
	read()
	must(db.WriteImport(ctx, &w, 100))(t)
	ok(t, db.FinishImport(ctx, w))
	got := must(db.Import(ctx, i.ID))(t)
	if got.Rejected != 2 || got.Created != 1 || got.Total != 3 || got.Processed() != 3 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]ImportReason{{ReasonBadPlatform, 2}}, must(db.ImportReasons(ctx, i.ID))(t)); diff != "" {
		t.Error(diff)
	}
}
