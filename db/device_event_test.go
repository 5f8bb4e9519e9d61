package db

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// eventsOf gives a device's history, oldest first, as "what detail by".
func eventsOf(t testing.TB, db *DB, device int64) (list []string) {
	t.Helper()
	p := must(db.DeviceEvents(t.Context(), device, "", 1000))(t)
	for _, e := range slices.Backward(p.Items) {
		list = append(list, strings.Join(strings.Fields(e.What+" "+textOr(e.Detail)+" "+e.By+" "+textOr(e.ByName)), " "))
	}
	return list
}

func wantEvents(t testing.TB, db *DB, device int64, want ...string) {
	t.Helper()
	if got := eventsOf(t, db, device); !slices.Equal(got, want) {
		t.Errorf("device %d: %q, want %q", device, got, want)
	}
}

const bySomeone = " user:1 kim@example.com"

func TestDevicePutKeepsItsHistory(t *testing.T) {
	db := newDB(t)
	d := put(t, db, DeviceInput{Token: "t", User: new("kim"), Tags: &[]string{"vip"}, Installation: new("phone")})
	put(t, db, DeviceInput{Token: "t"})
	put(t, db, DeviceInput{Token: "t", User: new("kim"), Tags: &[]string{"vip"}, Consent: new(true), Installation: new("phone")})
	wantEvents(t, db, d.ID) // registered is on the device, and nothing changed
	put(t, db, DeviceInput{Token: "t", Consent: new(false)})
	put(t, db, DeviceInput{Token: "t", Consent: new(true), Platform: "ios"})
	put(t, db, DeviceInput{Token: "u", Platform: "ios", Installation: new("phone")})
	wantEvents(t, db, d.ID, "consent_withdrawn"+bySomeone, "platform android"+bySomeone, "consent_given"+bySomeone, "token"+bySomeone)
	put(t, db, DeviceInput{Token: "u", Platform: "ios", User: new("lee"), Tags: &[]string{}})
	put(t, db, DeviceInput{Token: "u", Platform: "ios", User: new("")})
	if got := eventsOf(t, db, d.ID)[4:]; !slices.Equal(got, []string{"user" + bySomeone, "tags" + bySomeone, "user" + bySomeone}) {
		t.Errorf("%q", got)
	}
	if n := ask[int](t, db, `SELECT count(*) FROM device_event WHERE concat(detail, by_name) ~ 'lee|vip|phone'`); n != 0 {
		t.Errorf("%d events tell of the person", n)
	}
}

func TestTakenTokenIsInBothHistories(t *testing.T) {
	db := newDB(t)
	phone := put(t, db, DeviceInput{Token: "a", Installation: new("phone")})
	holder := put(t, db, DeviceInput{Token: "b", Consent: new(false)})
	put(t, db, DeviceInput{Token: "b", Installation: new("phone")})
	wantEvents(t, db, phone.ID, "token"+bySomeone, "consent_withdrawn"+bySomeone)
	wantEvents(t, db, holder.ID, "disabled replaced"+bySomeone)
}

func TestDisabledByTheVendorAndEnabledAgain(t *testing.T) {
	s := newScene(t, 3)
	claims := s.claim(3)
	s.record(OutcomeDead, claims[0])
	s.record(OutcomeSent, claims[1])
	s.record(OutcomePermanent, claims[2])
	gone := fmt.Sprintf("disabled token_expired notice:%d", s.id)
	wantEvents(t, s.db, 1, gone)
	wantEvents(t, s.db, 2)
	wantEvents(t, s.db, 3)
	put(t, s.db, DeviceInput{Token: "ok-1"})
	wantEvents(t, s.db, 1, gone, "enabled"+bySomeone)
}

// written brings an import's rows into the devices.
func written(t testing.TB, db *DB, o ImportOptions, rows ...DeviceInput) ImportWork {
	t.Helper()
	ctx := t.Context()
	i := take(t, db, fmt.Sprintf("token,platform\n%d,ios\n", time.Now().UnixNano()), o, someone)
	w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
	list := make([]ImportRow, len(rows))
	for n, in := range rows {
		list[n] = ImportRow{Number: int64(n + 1), Input: in}
	}
	ok(t, db.StageImport(ctx, &w, list, int64(len(rows)), 100))
	ok(t, db.EndReading(ctx, &w))
	ok(t, db.MatchImport(ctx, &w))
	for more := true; more; {
		more = must(db.WriteImport(ctx, &w, 2))(t)
	}
	return w
}

func TestImportsKeepTheHistory(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	seed(t, db, 4)
	exec(t, db, `UPDATE device SET registered_at = now() - interval '1 day'`)
	exec(t, db, `UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired' WHERE id = 3`)
	w := written(t, db, ImportOptions{Enable: true, FullList: true},
		DeviceInput{Token: "ok-1", Platform: "android", Consent: new(false)},
		DeviceInput{Token: "new", Platform: "android"},
		DeviceInput{Token: "ok-2", Platform: "android"},
		DeviceInput{Token: "ok-3", Platform: "android"})
	by := fmt.Sprintf(" import:%d", w.ID)
	wantEvents(t, db, 1, "consent_withdrawn"+by)
	wantEvents(t, db, 2)
	wantEvents(t, db, 3, "enabled"+by)
	ok(t, db.EndWriting(ctx, &w))
	ok(t, db.CountMissing(ctx, &w))
	must(db.ConfirmImport(ctx, w.ID, 1, false, someone))(t)
	w = must(db.BeginImport(ctx, w.ID, ask[int64](t, db, "SELECT ring FROM import"), time.Minute))(t)
	for more := true; more; {
		more = must(db.DisableMissing(ctx, &w, 10))(t)
	}
	wantEvents(t, db, 4, "disabled not_in_list"+by)
	if n := ask[int](t, db, `SELECT count(*) FROM device_event`); n != 3 {
		t.Errorf("%d events: new devices and unchanged ones have none", n)
	}
}

func TestErasingRemovesWhatTellsOfThePerson(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	d := put(t, db, DeviceInput{Token: "t", User: new("kim"), Installation: new("phone")})
	put(t, db, DeviceInput{Token: "u", User: new("lee"), Tags: &[]string{"vip"}, Installation: new("phone"), Consent: new(false)})
	put(t, db, DeviceInput{Token: "u", Consent: new(true)})
	for range 2 {
		ok(t, db.EraseDevice(ctx, d.ID, someone))
	}
	wantEvents(t, db, d.ID, "consent_withdrawn"+bySomeone, "consent_given"+bySomeone, "consent_withdrawn"+bySomeone, "erased"+bySomeone)
	if n := ask[int](t, db, `SELECT count(*) FROM device_event e WHERE e::text ~ 'lee|vip|phone'`); n != 0 {
		t.Errorf("%d events still name the person", n)
	}
}

func TestEventsComeWithTheirChangeOrNotAtAll(t *testing.T) {
	db := newDB(t)
	d := put(t, db, DeviceInput{Token: "t"})
	refuseAudit(t, db)
	if _, err := db.PutDevices(t.Context(), []DeviceInput{{Token: "t", Platform: "android", Consent: new(false)}}, someone); err == nil {
		t.Fatal("put without its line in the log")
	}
	if err := db.EraseDevice(t.Context(), d.ID, someone); err == nil {
		t.Fatal("erased without its line in the log")
	}
	wantEvents(t, db, d.ID)
}

func TestHistoryComesInPages(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	d := put(t, db, DeviceInput{Token: "t"})
	for i := range 7 {
		put(t, db, DeviceInput{Token: "t", Consent: new(i%2 == 1)})
	}
	var all []int64
	after := ""
	for pages := 1; ; pages++ {
		p := must(db.DeviceEvents(ctx, d.ID, after, 3))(t)
		for _, e := range p.Items {
			all = append(all, e.ID)
		}
		if after = p.Next; after == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if len(all) != 7 || !slices.IsSortedFunc(all, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("events %v", all)
	}
}

// A statement that changes devices keeps what it changed. Whoever adds one adds
// its event, and its file here.
func TestEveryChangeOfADeviceIsKept(t *testing.T) {
	known := map[string]int{"device.go": 1, "device_put.go": 2, "import_missing.go": 1, "record.go": 1}
	for _, file := range must(filepath.Glob("*.go"))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := string(must(os.ReadFile(file))(t))
		if got := strings.Count(text, "UPDATE device "); got != known[file] {
			t.Errorf("%s changes devices in %d statements, %d of which are known to keep what they change", file, got, known[file])
		}
	}
}
