package db

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDevicePutKeepsWhatIsAbsent(t *testing.T) {
	db := newDB(t)
	first := put(t, db, DeviceInput{Token: "t", Platform: "ios", User: new("kim"), Tags: &[]string{"vip"}, Consent: new(false), Installation: new("phone")})
	same := put(t, db, DeviceInput{Token: "t", Platform: "ios"})
	if same.ID != first.ID || *same.Person != "kim" || fmt.Sprint(same.Tags) != "[vip]" || same.Consent || *same.Installation != "phone" {
		t.Errorf("absent fields changed: %+v", same)
	}
	if !same.RegisteredAt.After(first.RegisteredAt) || !same.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("registered %v then %v, created %v then %v", first.RegisteredAt, same.RegisteredAt, first.CreatedAt, same.CreatedAt)
	}
	moved := put(t, db, DeviceInput{Token: "t", Platform: "android", User: new("lee"), Tags: &[]string{}, Consent: new(true)})
	if moved.ID != first.ID || *moved.Person != "lee" || len(moved.Tags) != 0 || !moved.Consent || moved.Platform != "android" {
		t.Errorf("given fields stayed: %+v", moved)
	}
	if out := put(t, db, DeviceInput{Token: "t", User: new("")}); out.Person != nil {
		t.Errorf("an empty user stays %q", *out.Person)
	}
}

func TestDevicePutEnables(t *testing.T) {
	db := newDB(t)
	d := put(t, db, DeviceInput{Token: "t"})
	exec(t, db, "UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired', registered_at = now() - interval '1 day'")
	again := put(t, db, DeviceInput{Token: "t"})
	if again.ID != d.ID || again.DisabledAt != nil || again.DisabledReason != nil || time.Since(again.RegisteredAt) > time.Hour {
		t.Errorf("%+v", again)
	}
}

func TestDevicePutNewTokenOfAnInstallation(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	first := put(t, db, DeviceInput{Token: "old-token", User: new("kim"), Consent: new(false), Installation: new("phone")})
	second := put(t, db, DeviceInput{Token: "new-token", Installation: new("phone")})
	if second.ID != first.ID || *second.Person != "kim" || second.Consent {
		t.Errorf("%+v, want device %d as it was", second, first.ID)
	}
	if _, err := db.DeviceByToken(ctx, "old-token"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the old token: %v, want ErrNotFound", err)
	}
}

// A token that two rows claim goes to the installation's. Whoever said no on
// either has said no, unless the input says yes.
func TestDevicePutTokenTakenOver(t *testing.T) {
	for _, c := range []struct {
		name                         string
		installation, holder, result bool
		input                        *bool
	}{
		{"both consent", true, true, true, nil},
		{"the installation's opt-out", false, true, false, nil},
		{"the token's opt-out", true, false, false, nil},
		{"yes in the input", false, false, true, new(true)},
		{"no in the input", true, true, false, new(false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, ctx := newDB(t), t.Context()
			phone := put(t, db, DeviceInput{Token: "old-token", User: new("kim"), Consent: &c.installation, Installation: new("phone")})
			holder := put(t, db, DeviceInput{Token: "new-token", User: new("lee"), Consent: &c.holder})
			got := put(t, db, DeviceInput{Token: "new-token", Installation: new("phone"), Consent: c.input})
			if got.ID != phone.ID || *got.Person != "kim" || got.Consent != c.result || got.DisabledAt != nil {
				t.Errorf("%+v, want device %d with consent %v", got, phone.ID, c.result)
			}
			lost, err := db.Device(ctx, holder.ID)
			if err != nil || lost.TokenMasked != "" || lost.DisabledReason == nil || *lost.DisabledReason != "replaced" || lost.Consent != c.holder {
				t.Errorf("the one that lost its token: %+v, %v", lost, err)
			}
		})
	}
}

func TestDevicePutSwapsTokens(t *testing.T) {
	db := newDB(t)
	a := put(t, db, DeviceInput{Token: "one", Installation: new("a")})
	b := put(t, db, DeviceInput{Token: "two", Installation: new("b")})
	list, err := db.PutDevices(t.Context(), []DeviceInput{
		{Token: "two", Platform: "ios", Installation: new("a")},
		{Token: "one", Platform: "ios", Installation: new("b")},
	}, someone)
	if err != nil || list[0].ID != a.ID || list[1].ID != b.ID || list[0].DisabledAt != nil || list[1].DisabledAt != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestDevicePutDuplicatesInOneList(t *testing.T) {
	db := newDB(t)
	list, err := db.PutDevices(t.Context(), []DeviceInput{
		{Token: "one", Platform: "ios", User: new("kim"), Installation: new("phone")},
		{Token: "two", Platform: "web"},
		{Token: "one", Platform: "android", User: new("lee")},
		{Token: "three", Platform: "ios", Installation: new("phone")},
	}, someone)
	if err != nil {
		t.Fatal(err)
	}
	if list[0].ID != list[2].ID || list[0].ID != list[3].ID || list[1].ID == list[0].ID {
		t.Errorf("ids %d %d %d %d", list[0].ID, list[1].ID, list[2].ID, list[3].ID)
	}
	if *list[0].Person != "lee" || list[0].Platform != "ios" {
		t.Errorf("the last does not win: %+v", list[0])
	}
	if n := ask[int](t, db, "SELECT count(*) FROM device"); n != 2 {
		t.Errorf("%d devices, want 2", n)
	}
}

func TestDevicePutIsAllOrNothing(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	d := put(t, db, DeviceInput{Token: "there", User: new("kim")})
	if _, err := db.PutDevices(ctx, []DeviceInput{{Token: "new", Platform: "ios"}, {Token: "", Platform: "tv"}}, someone); fieldsOf(err) != "devices[1].token devices[1].platform" {
		t.Errorf("bad list: %v", err)
	}
	refuseAudit(t, db)
	_, err := db.PutDevices(ctx, []DeviceInput{{Token: "new", Platform: "ios"}, {Token: "there", Platform: "ios", User: new("lee")}}, someone)
	if err == nil {
		t.Error("stored without an audit line")
	}
	if got, err := db.Device(ctx, d.ID); err != nil || *got.Person != "kim" {
		t.Errorf("after the rollback: %+v, %v", got, err)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM device"); n != 1 {
		t.Errorf("%d devices, want 1", n)
	}
	if list, err := db.PutDevices(ctx, nil, someone); err != nil || len(list) != 0 {
		t.Errorf("an empty list: %v, %v", list, err)
	}
}

// A list leaves what its inputs leave one by one, whatever they are.
func TestDevicePutListIsItsInputsInTurn(t *testing.T) {
	whole, single := newDB(t), newDB(t)
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 60 {
		if round%3 == 0 {
			exec(t, whole, "TRUNCATE device CASCADE")
			exec(t, single, "TRUNCATE device CASCADE")
		}
		list := make([]DeviceInput, 1+r.IntN(7))
		for i := range list {
			list[i] = randomInput(r)
		}
		got, err := whole.PutDevices(t.Context(), list, someone)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]Device, len(list))
		for i, in := range list {
			want[i] = put(t, single, in)
		}
		for i := range list {
			for j := range i {
				if (got[i].ID == got[j].ID) != (want[i].ID == want[j].ID) {
					t.Errorf("round %d: inputs %d and %d are one device: %v, want %v", round, i, j, got[i].ID == got[j].ID, want[i].ID == want[j].ID)
				}
			}
		}
		const all = `SELECT coalesce(string_agg(concat_ws(' ', coalesce(token, '-'), scope, platform, coalesce(person, '-'), tags, consent,
			coalesce(installation, '-'), coalesce(disabled_reason, '-')), E'\n' ORDER BY token, installation, person, tags, consent, platform), '') FROM device`
		if a, b := ask[string](t, whole, all), ask[string](t, single, all); a != b {
			t.Fatalf("round %d, %+v: the list left\n%s\none by one\n%s", round, list, a, b)
		}
	}
}

func randomInput(r *rand.Rand) DeviceInput {
	in := DeviceInput{Token: "token-" + string(rune('a'+r.IntN(6))), Platform: []string{"ios", "web"}[r.IntN(2)]}
	if r.IntN(3) == 0 { // no token is an address of apns or webpush: nothing is refused
		in.Vendor = new([]string{KindHTTP, KindFCM}[r.IntN(2)])
	}
	if r.IntN(2) == 0 {
		in.Installation = new("phone-" + string(rune('a'+r.IntN(4))))
	}
	if r.IntN(3) == 0 {
		in.User = new([]string{"", "kim", "lee"}[r.IntN(3)])
	}
	if r.IntN(3) == 0 {
		in.Consent = new(r.IntN(2) == 0)
	}
	if r.IntN(3) == 0 {
		in.Tags = &[]string{string(rune('a' + r.IntN(3)))}
	}
	return in
}

// Two processes put the same new token at the same moment: one device.
func TestDevicePutRaceForOneToken(t *testing.T) {
	db := newDB(t)
	for round := range 20 {
		ids := make([]int64, 6)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range ids {
			wg.Go(func() {
				<-start
				list, err := db.PutDevices(t.Context(), []DeviceInput{{Token: fmt.Sprint("token-", round), Platform: "ios"}}, someone)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = list[0].ID
			})
		}
		close(start)
		wg.Wait()
		if len(slices.Compact(ids)) != 1 {
			t.Errorf("round %d: devices %v, want one", round, ids)
		}
	}
	if n := ask[int](t, db, "SELECT count(*) FROM device"); n != 20 {
		t.Errorf("%d devices, want 20", n)
	}
}

// Two callers say different things of one device at the same moment: both count.
func TestDevicePutLosesNoField(t *testing.T) {
	db := newDB(t)
	for round := range 20 {
		token := fmt.Sprint("token-", round)
		put(t, db, DeviceInput{Token: token})
		inputs := []DeviceInput{{User: new("kim")}, {Tags: &[]string{"vip"}}, {Consent: new(false)}, {Installation: new(token)}}
		var wg sync.WaitGroup
		for _, in := range inputs {
			in.Token, in.Platform = token, "ios"
			wg.Go(func() {
				if _, err := db.PutDevices(t.Context(), []DeviceInput{in}, someone); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		d, err := db.DeviceByToken(t.Context(), token)
		if err != nil || d.Person == nil || len(d.Tags) != 1 || d.Consent || d.Installation == nil {
			t.Errorf("round %d: %+v, %v", round, d, err)
		}
	}
}

// Lists that overlap in any order, with tokens that move between installations,
// all come to an end without an error.
func TestDevicePutOverlappingLists(t *testing.T) {
	db := newDB(t)
	var wg sync.WaitGroup
	for w := range 6 {
		r := rand.New(rand.NewPCG(uint64(w), 3))
		wg.Go(func() {
			for range 10 {
				list := make([]DeviceInput, 60)
				for i := range list {
					list[i] = DeviceInput{Token: fmt.Sprint("token-", r.IntN(80)), Platform: "ios"}
					if r.IntN(2) == 0 {
						list[i].Installation = new(fmt.Sprint("phone-", r.IntN(80)))
					}
				}
				if _, err := db.PutDevices(t.Context(), list, someone); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := ask[int](t, db, "SELECT count(*) FROM device WHERE token IS NOT NULL AND disabled_at IS NOT NULL"); n != 0 {
		t.Errorf("%d devices have a token and are disabled", n)
	}
	if n := ask[int](t, db, "SELECT count(token) - count(DISTINCT token) FROM device"); n != 0 {
		t.Errorf("%d tokens are held twice", n)
	}
}

// The largest list is stored by a few statements, not by one for each device.
func TestDevicePutLargestList(t *testing.T) {
	db := newDB(t)
	list := make([]DeviceInput, MaxDevices)
	for i := range list {
		list[i] = DeviceInput{Token: fmt.Sprintf("%05d-%s", i, strings.Repeat("x", 120)), Platform: "ios", User: new(fmt.Sprint("u", i)), Installation: new(fmt.Sprint("i", i))}
	}
	for _, what := range []string{"new", "the same again"} {
		start := time.Now()
		got, err := db.PutDevices(t.Context(), list, someone)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v", what, time.Since(start))
		for i, d := range got {
			if *d.Person != *list[i].User {
				t.Fatalf("result %d is %s's", i, *d.Person)
			}
		}
	}
	if n := ask[int](t, db, "SELECT count(*) FROM device"); n != MaxDevices {
		t.Errorf("%d devices", n)
	}
}
