package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// why asks for one pair.
func (s *scene) why(device int64) Why {
	s.Helper()
	return must(s.db.Why(s.Context(), s.id, []int64{device}))(s)[0]
}

func (s *scene) wantWhy(device int64, want WhyCase) Why {
	s.Helper()
	w := s.why(device)
	if w.Case != want || w.DeviceID != device || w.NoticeID != s.id {
		s.Errorf("device %d: %+v, want %s", device, w, want)
	}
	return w
}

// openScene makes devices 1 to n, has change alter them, accepts a notice and
// fans it out as far as ranges of two go.
func openScene(t *testing.T, n int, d Draft, change ...string) *scene {
	t.Helper()
	db := newDB(t)
	seed(t, db, n)
	for _, sql := range change {
		exec(t, db, sql)
	}
	d.Title, d.Body = "t", "b"
	return &scene{TB: t, db: db, id: accept(t, db, d).ID}
}

// cut starts the notice and cuts the next count ranges of two devices.
func (s *scene) cut(count int) []Ring {
	s.Helper()
	s.term = must(s.db.Lead(s.Context(), "feeder", time.Minute))(s)
	ok(s, s.db.StartNotice(s.Context(), s.term, s.id))
	ok(s, s.db.CutRanges(s.Context(), s.term, s.id, 2, count))
	rings := must(s.db.Unrung(s.Context(), 100, 1000))(s)
	ok(s, s.db.MarkRung(s.Context(), s.term, rings))
	return rings
}

// fan cuts all ranges and fills them.
func (s *scene) fan() {
	s.Helper()
	s.rings = s.cut(1000)
	for _, r := range s.rings {
		must(s.db.TakeRange(s.Context(), r, r.Seq))(s)
	}
}

// act has someone pause or cancel the notice.
func (s *scene) act(f func(context.Context, int64, Actor) (Notice, Counts, error)) {
	s.Helper()
	_, _, err := f(s.Context(), s.id, someone)
	ok(s, err)
}

func consent(t *testing.T, db *DB, token string, yes bool) {
	t.Helper()
	put(t, db, DeviceInput{Token: token, Consent: &yes})
}

func TestWhyWithADelivery(t *testing.T) {
	s := newScene(t, 6)
	s.wantWhy(1, WhyWaiting)
	claims := s.claim(5)
	s.wantWhy(1, WhySending)
	s.record(OutcomeSent, claims[0])
	s.record(OutcomeTransient, claims[1])
	s.record(OutcomePermanent, claims[2])
	doubt := resultOf(claims[3], OutcomeTransient)
	doubt.Move, doubt.Reason = Move{Status: "unknown"}, "timeout"
	s.write(doubt)
	if w := s.wantWhy(1, WhySent); w.At == nil {
		t.Errorf("sent %+v", w)
	}
	if w := s.wantWhy(2, WhyRetry); w.At == nil || !w.At.After(time.Now()) || *w.Reason != "vendor_error" {
		t.Errorf("retry %+v", w)
	}
	if w := s.wantWhy(3, WhyFailed); w.At == nil || *w.Reason != "rejected" || *w.Code != "bad_token" {
		t.Errorf("failed %+v", w)
	}
	if w := s.wantWhy(4, WhyUnknown); *w.Reason != "timeout" {
		t.Errorf("unknown %+v", w)
	}
	s.wantWhy(5, WhySending)
	consent(t, s.db, "ok-6", false)
	s.claim(1)
	if w := s.wantWhy(6, WhySkipped); *w.Reason != "no_consent" || w.Since == nil || w.Since.After(*w.At) {
		t.Errorf("skipped %+v", w)
	}
	exec(t, s.db, `UPDATE vendor SET state = 'paused', reason = 'refusals'`)
	s.wantWhy(2, WhyVendorPaused)
	s.act(s.db.PauseNotice)
	if w := s.wantWhy(2, WhyPaused); *w.By != someone.Name {
		t.Errorf("paused %+v", w)
	}
	s.act(s.db.CancelNotice)
	s.wantWhy(2, WhyCancelling)
	s.closeAll()
	if w := s.wantWhy(2, WhySkipped); *w.Reason != "cancelled" || *w.By != someone.Name {
		t.Errorf("cancelled %+v", w)
	}
}

func TestWhyAnExpiredOneWaits(t *testing.T) {
	s := newScene(t, 1)
	s.expire()
	s.wantWhy(1, WhyExpiring)
	s.closeAll()
	if w := s.wantWhy(1, WhyFailed); *w.Reason != "expired" {
		t.Errorf("%+v", w)
	}
}

func TestWhyWithoutADelivery(t *testing.T) {
	for _, c := range []struct {
		name   string
		draft  Draft
		before string // the fan-out, in SQL
		put    []DeviceInput
		after  []DeviceInput
		erase  int // 1: before the fan-out, 2: after it
		want   WhyCase
		check  func(Why) bool
	}{
		{name: "on another platform", draft: Draft{Audience: Audience{Platforms: []string{"ios"}}}, want: WhyPlatform,
			check: func(w Why) bool { return w.Platform == "android" && w.Platforms[0] == "ios" }},
		{name: "on another platform then", draft: Draft{Audience: Audience{Platforms: []string{"ios"}}},
			after: []DeviceInput{{Token: "ok-1", Platform: "ios"}}, want: WhyPlatform, check: func(w Why) bool { return w.Platform == "android" }},
		{name: "without the tag", draft: Draft{Audience: Audience{Tags: []string{"vip"}}}, want: WhyTags,
			check: func(w Why) bool { return w.Tags[0] == "vip" }},
		{name: "without the tag then", draft: Draft{Audience: Audience{Tags: []string{"vip"}}},
			after: []DeviceInput{{Token: "ok-1", Tags: &[]string{"vip"}}}, want: WhyTagsChanged, check: func(w Why) bool { return w.At != nil }},
		{name: "no consent from the start", before: `UPDATE device SET consent = false`, want: WhyNoConsent,
			check: func(w Why) bool { return w.Since == nil && w.Until == nil }},
		{name: "consent withdrawn", put: []DeviceInput{{Token: "ok-1", Consent: new(false)}}, want: WhyNoConsent,
			check: func(w Why) bool { return w.Since != nil && w.Until == nil }},
		{name: "consent given again", put: []DeviceInput{{Token: "ok-1", Consent: new(false)}},
			after: []DeviceInput{{Token: "ok-1", Consent: new(true)}}, want: WhyNoConsent,
			check: func(w Why) bool { return w.Since != nil && w.Until != nil && w.Until.After(*w.Since) }},
		{name: "consent given for the first time since", before: `UPDATE device SET consent = false`,
			after: []DeviceInput{{Token: "ok-1", Consent: new(true)}}, want: WhyNoConsent,
			check: func(w Why) bool { return w.Since == nil && w.Until != nil }},
		{name: "disabled", before: `UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired'`, want: WhyDisabled,
			check: func(w Why) bool { return *w.Reason == "token_expired" && w.Since != nil && w.Until == nil }},
		{name: "disabled then", before: `UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired'`,
			after: []DeviceInput{{Token: "ok-1"}}, want: WhyDisabled, check: func(w Why) bool { return w.Until != nil }},
		{name: "erased", erase: 1, want: WhyErased, check: func(w Why) bool { return w.At != nil }},
		{name: "without the tag, and erased since", draft: Draft{Audience: Audience{Tags: []string{"vip"}}}, erase: 2, want: WhyErasedSince},
		{name: "no consent then, and erased since", put: []DeviceInput{{Token: "ok-1", Consent: new(false)}}, erase: 2, want: WhyNoConsent},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openScene(t, 2, c.draft)
			if c.before != "" {
				exec(t, s.db, c.before+` WHERE id = 1`)
			}
			for _, in := range c.put {
				put(t, s.db, in)
			}
			if c.erase == 1 {
				ok(t, s.db.EraseDevice(t.Context(), 1, someone))
			}
			s.fan()
			for _, in := range c.after {
				put(t, s.db, in)
			}
			if c.erase == 2 {
				ok(t, s.db.EraseDevice(t.Context(), 1, someone))
			}
			if w := s.wantWhy(1, c.want); c.check != nil && !c.check(w) {
				t.Errorf("%+v", w)
			}
		})
	}
}

func TestWhyNothingIsKnown(t *testing.T) {
	s := openScene(t, 2, Draft{}, `UPDATE device SET consent = false WHERE id = 1`)
	s.fan()
	exec(t, s.db, `UPDATE device SET consent = true`) // as by a hand that keeps no history
	s.wantWhy(1, WhyNotThen)
	s.wantWhy(77, WhyNoDevice)
	s.id = 99
	s.wantWhy(1, WhyNoNotice)
}

func TestWhyARegisteredLater(t *testing.T) {
	s := openScene(t, 1, Draft{})
	late := put(t, s.db, DeviceInput{Token: "late"})
	if w := s.wantWhy(late.ID, WhyLater); w.At == nil || !w.At.Equal(late.CreatedAt) || !w.AcceptedAt.Before(*w.At) {
		t.Errorf("%+v", w)
	}
}

func TestWhyItsTurnIsToCome(t *testing.T) {
	s := openScene(t, 6, Draft{}, `UPDATE device SET consent = false WHERE id = 6`)
	s.wantWhy(1, WhyToCome)
	rings := s.cut(2)
	s.wantWhy(1, WhyToCome) // its range is cut, and nobody was at it
	s.wantWhy(5, WhyToCome)
	s.wantWhy(6, WhyNoConsent) // as it is now
	must(s.db.TakeRange(s.Context(), rings[0], 1))(t)
	s.wantWhy(1, WhyWaiting)
	s.act(s.db.PauseNotice)
	s.wantWhy(5, WhyToComePaused)
	s.act(s.db.CancelNotice)
	s.wantWhy(5, WhyCancelling)
	s.closeAll()
	s.wantWhy(5, WhySkipped)
	s.wantWhy(6, WhyNoConsent)
}

func TestWhyItExpiredBeforeItsTurn(t *testing.T) {
	s := openScene(t, 3, Draft{}, `UPDATE device SET consent = false WHERE id = 3`)
	s.cut(1)
	s.expire()
	s.wantWhy(2, WhyExpiring)
	s.closeAll()
	s.wantWhy(2, WhyFailed)
	s.wantWhy(3, WhyNoConsent)
}

// Devices and notices of any kind: whoever has no delivery gets the reason that was
// true when the notice was fanned out.
func TestWhyAnyPairHasItsAnswer(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	const devices = 60
	change := func(i int) {
		in := DeviceInput{Token: fmt.Sprintf("token-%d", i), Platform: pick("ios", "android", "web")}
		if r.IntN(2) == 0 {
			in.Consent = new(r.IntN(2) == 0)
		}
		if r.IntN(2) == 0 {
			in.Tags = &[]string{pick("a", "b", "c")}
		}
		put(t, db, in)
		if r.IntN(20) == 0 {
			exec(t, db, `WITH off AS (UPDATE device SET disabled_at = clock_timestamp(), disabled_reason = 'admin'
				WHERE id = $1 AND disabled_at IS NULL RETURNING id)
				INSERT INTO device_event (device_id, what, detail, by) SELECT id, 'disabled', 'admin', 'user:1' FROM off`, i)
		}
	}
	for i := range devices {
		change(i + 1)
	}
	type fact struct {
		consent, disabled, erased, platform, tags bool
	}
	var notices []int64
	truth := map[Pair]fact{}
	for n := range 12 {
		var a Audience
		if r.IntN(2) == 0 {
			a.Platforms = []string{pick("ios", "android", "web")}
		}
		if r.IntN(2) == 0 {
			a.Tags = []string{pick("a", "b", "c")}
		}
		id := accept(t, db, Draft{Title: fmt.Sprint("n", n), Body: "b", Audience: a}).ID
		notices = append(notices, id)
		for i := 1; i <= devices; i++ {
			d := must(db.Device(ctx, int64(i)))(t)
			truth[Pair{id, d.ID}] = fact{d.Consent, d.DisabledAt != nil, d.ErasedAt != nil,
				len(a.Platforms) == 0 || slices.Contains(a.Platforms, d.Platform),
				len(a.Tags) == 0 || slices.ContainsFunc(d.Tags, func(x string) bool { return slices.Contains(a.Tags, x) })}
		}
		s := &scene{TB: t, db: db, id: id}
		s.fan()
		exec(t, db, `UPDATE notice SET cut_at = coalesce(cut_at, now())`)
		for range 40 {
			change(1 + r.IntN(devices))
		}
		if victim := int64(1 + r.IntN(devices)); n%4 == 0 {
			ok(t, db.EraseDevice(ctx, victim, someone))
		}
	}
	seen := map[WhyCase]int{}
	for _, id := range notices {
		var ids []int64
		for i := 1; i <= devices; i++ {
			ids = append(ids, int64(i))
		}
		for _, w := range must(db.Why(ctx, id, ids))(t) {
			f := truth[Pair{id, w.DeviceID}]
			fits := f.consent && !f.disabled && !f.erased && f.platform && f.tags
			right := map[WhyCase]bool{WhyWaiting: fits, WhyNoConsent: !f.consent, WhyDisabled: f.disabled, WhyErased: f.erased,
				WhyPlatform: !f.platform, WhyTags: !f.tags, WhyTagsChanged: !f.tags, WhyErasedSince: !f.tags}
			if !right[w.Case] {
				t.Errorf("notice %d, device %d, which was %+v: %+v", id, w.DeviceID, f, w)
			}
			seen[w.Case]++
		}
	}
	t.Log(seen)
	for _, c := range []WhyCase{WhyWaiting, WhyNoConsent, WhyDisabled, WhyPlatform, WhyTags, WhyTagsChanged} {
		if seen[c] == 0 {
			t.Errorf("the mix has no %s", c)
		}
	}
}
