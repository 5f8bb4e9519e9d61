package db

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// put stores one device and gives it.
func put(t testing.TB, db *DB, in DeviceInput) Device {
	t.Helper()
	if in.Platform == "" {
		in.Platform = "android"
	}
	list, err := db.PutDevices(t.Context(), []DeviceInput{in}, someone)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestDeviceMaskedToken(t *testing.T) {
	for token, want := range map[string]string{
		"a": "…", "abcde": "…", "abcdef": "a…f", "expired-00012": "ex…12",
		"abcdefghijklmnopqrstuvwxyz": "abcd…wxyz", "토큰이름열두글자입니다요": "토큰…다요",
	} {
		got := maskToken(token)
		if got != want {
			t.Errorf("maskToken(%q) = %q, want %q", token, got, want)
		}
		if shown := utf8.RuneCountInString(got) - 1; shown > 8 || shown*3 > utf8.RuneCountInString(token) {
			t.Errorf("maskToken(%q) shows %d characters", token, shown)
		}
	}
}

func TestDeviceLookUp(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	made := put(t, db, DeviceInput{Token: "token-number-one", User: new("kim"), Tags: &[]string{"b", "a"}, Installation: new("phone")})
	if made.ID == 0 || made.Kind != "http" || made.Platform != "android" || made.TokenMasked != "to…ne" || *made.Person != "kim" ||
		fmt.Sprint(made.Tags) != "[a b]" || !made.Consent || *made.Installation != "phone" || made.DisabledAt != nil || made.RegisteredAt.IsZero() {
		t.Errorf("made %+v", made)
	}
	byID, err := db.Device(ctx, made.ID)
	if err != nil || fmt.Sprintf("%+v", byID.Tags) != "[a b]" || byID.TokenMasked != made.TokenMasked {
		t.Errorf("by id: %+v, %v", byID, err)
	}
	if byToken, err := db.DeviceByToken(ctx, "token-number-one"); err != nil || byToken.ID != made.ID {
		t.Errorf("by token: %+v, %v", byToken, err)
	}
	if _, err := db.Device(ctx, made.ID+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown id: %v", err)
	}
	if _, err := db.DeviceByToken(ctx, "token-number-two\x00"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown token: %v", err)
	}
}

func TestDevicesByUser(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	// 김 in NFD at registration, in NFC at the look-up, is one person.
	nfd, nfc := "\u1100\u1175\u11b7", "\uae40"
	var want []int64
	for i := range 5 {
		want = append([]int64{put(t, db, DeviceInput{Token: fmt.Sprint("t", i), User: &nfd}).ID}, want...)
	}
	put(t, db, DeviceInput{Token: "other", User: new("lee")})
	var got []int64
	for next, first := "", true; first || next != ""; first = false {
		p, err := db.DevicesByUser(ctx, " "+nfc+" ", next, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range p.Items {
			got = append(got, d.ID)
		}
		next = p.Next
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("devices %v, want %v", got, want)
	}
	if p, err := db.DevicesByUser(ctx, "nobody", "", 10); err != nil || len(p.Items) != 0 {
		t.Errorf("nobody has %v, %v", p, err)
	}
	for _, bad := range []string{"\x00", "\xff"} {
		if _, err := db.DevicesByUser(ctx, bad, "", 10); fieldsOf(err) != "user" {
			t.Errorf("user %q: %v", bad, err)
		}
	}
}

func TestDeviceAudience(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	tags := func(s string) *[]string { list := strings.Fields(s); return &list }
	put(t, db, DeviceInput{Token: "1", Platform: "android", Tags: tags("vip seoul")})
	put(t, db, DeviceInput{Token: "2", Platform: "ios", Tags: tags("seoul")})
	put(t, db, DeviceInput{Token: "3", Platform: "web"})
	put(t, db, DeviceInput{Token: "4", Platform: "ios", Tags: tags("vip"), Consent: new(false)})
	gone := put(t, db, DeviceInput{Token: "5", Platform: "ios", Tags: tags("vip")})
	if err := db.EraseDevice(ctx, gone.ID, someone); err != nil {
		t.Fatal(err)
	}
	put(t, db, DeviceInput{Token: "6", Platform: "ios", Tags: tags("vip")})
	exec(t, db, "UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE token = '6'")
	put(t, db, DeviceInput{Token: "7", Platform: "web", Tags: tags("가")})

	for _, c := range []struct {
		platforms, tags string
		want            int64
	}{
		{"", "", 4}, {"android ios web", "", 4}, {"ios", "", 1}, {"", "vip", 1}, {"", "vip seoul", 2},
		{"ios web", "vip seoul", 1}, {"web", "vip", 0}, {"", "가", 1}, {"", "nothing", 0}, {"tv", "", 0},
	} {
		n, err := db.CountAudience(ctx, Audience{strings.Fields(c.platforms), strings.Fields(c.tags)})
		if err != nil || n != c.want {
			t.Errorf("platforms %q, tags %q: %d, %v; want %d", c.platforms, c.tags, n, err, c.want)
		}
	}
	if _, err := db.CountAudience(ctx, Audience{Tags: []string{"\x00"}}); fieldsOf(err) != "audience" {
		t.Errorf("hostile tag: %v", err)
	}
}

func TestDeviceErase(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	in := DeviceInput{Token: "secret-token", User: new("kim"), Tags: &[]string{"vip"}, Installation: new("phone")}
	d := put(t, db, in)
	for range 2 {
		if err := db.EraseDevice(ctx, d.ID, someone); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.Device(ctx, d.ID)
	if err != nil || got.TokenMasked != "" || got.Person != nil || got.Installation != nil || len(got.Tags) != 0 || got.Consent || got.ErasedAt == nil {
		t.Errorf("erased: %+v, %v", got, err)
	}
	left := ask[int](t, db, `SELECT count(*) FROM device d, LATERAL (SELECT row_to_json(d)::text AS all) j
		WHERE j.all LIKE '%secret-token%' OR j.all LIKE '%kim%' OR j.all LIKE '%vip%' OR j.all LIKE '%phone%'`)
	if left != 0 {
		t.Error("the row still knows the person")
	}
	if n := ask[int](t, db, "SELECT count(*) FROM audit WHERE act = 'device.erase' AND object = $1", deviceObject(d.ID)); n != 1 {
		t.Errorf("%d audit lines, want 1", n)
	}
	if err := db.EraseDevice(ctx, d.ID+1, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	if again := put(t, db, in); again.ID == d.ID {
		t.Error("an erased device came back")
	}
}

func TestDeviceEraseWithoutAuditIsUndone(t *testing.T) {
	db := newDB(t)
	d := put(t, db, DeviceInput{Token: "token"})
	refuseAudit(t, db)
	if err := db.EraseDevice(t.Context(), d.ID, someone); err == nil {
		t.Error("erased without an audit line")
	}
	if got, err := db.Device(t.Context(), d.ID); err != nil || got.ErasedAt != nil || got.TokenMasked == "" {
		t.Errorf("after the rollback: %+v, %v", got, err)
	}
}

func TestDeviceSeed(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	of := func(i int) DeviceInput {
		return DeviceInput{Token: fmt.Sprintf("seed-%d", i), Platform: "web", User: new(fmt.Sprint("u", i)), Tags: &[]string{"b", "a"}}
	}
	indexes := func() string {
		return ask[string](t, db, "SELECT string_agg(indexdef, ';' ORDER BY indexname) FROM pg_indexes WHERE tablename = 'device'")
	}
	before := indexes()
	const n = seedBatch + 10 // more than one batch, and the indexes are built at the end
	if err := db.SeedDevices(ctx, n, of); err != nil {
		t.Fatal(err)
	}
	if after := indexes(); after != before {
		t.Errorf("indexes are\n%s\nwere\n%s", after, before)
	}
	if got, err := db.CountAudience(ctx, Audience{Tags: []string{"a"}}); got != n || err != nil {
		t.Errorf("%d devices, %v; want %d", got, err, n)
	}
	d, err := db.DeviceByToken(ctx, fmt.Sprintf("seed-%d", n-1))
	if err != nil || d.ID != n || *d.Person != fmt.Sprint("u", n-1) || fmt.Sprint(d.Tags) != "[a b]" || !d.Consent {
		t.Errorf("the last: %+v, %v", d, err)
	}
	if again := put(t, db, of(0)); again.ID != 1 {
		t.Errorf("a seeded device put again is %d", again.ID)
	}
	if err := db.SeedDevices(ctx, 1, of); pgCode(err) != "23505" {
		t.Errorf("seeded twice: %v", err)
	}
	if err := db.SeedDevices(ctx, 1, func(int) DeviceInput { return DeviceInput{Token: "a b"} }); fieldsOf(err) != "devices[0].token" {
		t.Errorf("bad input: %v", err)
	}
	if got := ask[string](t, db, "SHOW statement_timeout"); got != "10s" {
		t.Errorf("the connection keeps statement_timeout %s", got)
	}
}
