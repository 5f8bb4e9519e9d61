package jobs

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushsim"
)

// posing is the HTTP vendor under the name of another kind, with a credential.
type posing struct {
	push.Vendor
	kind push.Kind
	key  string
}

func (p posing) Kind() push.Kind { return p.kind }

func (p posing) Credential() push.Credential {
	return push.Credential{Scope: string(p.kind), Fingerprint: p.key}
}

// swapped are vendors of which one may be replaced while they are in use.
type swapped struct {
	Fixed
	fcm atomic.Pointer[posing]
}

func (s *swapped) For(kind push.Kind) (push.Vendor, bool) {
	if kind != push.KindFCM {
		return s.Fixed.For(kind)
	}
	v := s.fcm.Load()
	if v == nil {
		return nil, false
	}
	return *v, true
}

// stand starts a stand-in of its own and a vendor of the kind that calls it.
func (h *house) stand(kind push.Kind, key string, cfg pushsim.Config) (*pushsim.Server, *posing) {
	h.t.Helper()
	sim, err := pushsim.Start(cfg)
	h.no(err)
	h.t.Cleanup(sim.Close)
	v, err := pushhttp.New(pushhttp.Config{URL: sim.URL(), Token: cfg.Token, Timeout: h.cfg.CallTimeout, MaxInFlight: h.cfg.MaxInFlight})
	h.no(err)
	return sim, &posing{v, kind, key}
}

// mixed makes n devices, by turns at the HTTP vendor and at two scopes of FCM.
func (h *house) mixed(n int) {
	h.t.Helper()
	fcm := "fcm"
	h.no(h.db.SeedDevices(h.t.Context(), n, func(i int) db.DeviceInput {
		in := db.DeviceInput{Token: good(i), Platform: "android"}
		if i%3 > 0 {
			in.Vendor = &fcm
		}
		if i%3 == 2 {
			in.Platform = "ios"
		}
		return in
	}))
}

func (h *house) stateOf(scope string) string {
	h.t.Helper()
	return one[string](h, `SELECT state || coalesce(' ' || reason, '') FROM vendor WHERE scope = $1`, scope)
}

// One vendor's trouble is none of the others': those finish while it lasts, and when
// it has passed everybody is told, once.
func TestTroubleOfOneVendorIsItsOwn(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	fcm, v := h.stand(push.KindFCM, "k1", pushsim.Config{Switches: pushsim.Switches{Outage: true}})
	h.mixed(6000)
	h.process(func(c *Config) {
		c.Vendors = FixedTo(h.vendor(c.CallTimeout), v)
		c.Backlog = 500
		c.Schedules = map[push.Kind]push.Schedule{push.KindFCM: {time.Minute, time.Minute}}
	})
	n := h.accept("one is down")
	h.until(n.ID, 30*time.Second, "told by the vendor that works", func(_ db.Notice, c db.Counts) bool { return c.Sent == 2000 })
	if got := h.sim.Counts(); got.Unique != 2000 || got.Duplicates != 0 {
		t.Errorf("the vendor that works: %+v", got)
	}
	for _, scope := range []string{"fcm:android", "fcm:ios"} {
		h.eventually(10*time.Second, scope+" is probed", func() bool { return h.stateOf(scope) == "probing backlog" })
	}
	if got := h.stateOf("http"); got != "ok" {
		t.Errorf("the vendor that works is %s", got)
	}
	h.no(fcm.Update(func(s *pushsim.Switches) { s.Outage = false }))
	for _, scope := range []string{"fcm:android", "fcm:ios"} {
		h.eventually(10*time.Second, scope+" is called again", func() bool { return h.stateOf(scope) == "ok" })
	}
	h.sql(`UPDATE delivery SET wake_at = now() WHERE status = 'pending' AND wake_at > now()`)
	_, c := h.finished(n.ID, time.Minute)
	if got := fcm.Counts(); c.Sent != 6000 || got.Unique != 4000 || got.Duplicates != 0 {
		t.Errorf("%+v; the vendor that was down: %+v", c, got)
	}
	if got := one[int](h, `SELECT count(*) FROM (SELECT scope, sum(sent) AS sent FROM notice_counter GROUP BY scope) x WHERE sent = 2000`); got != 3 {
		t.Errorf("%d scopes count 2,000 as sent, want 3", got)
	}
}

// A key that the vendor refuses stops that vendor and charges nobody; with another
// key, and without anybody pressing anything, it goes on.
func TestAnotherKeyGoesOnByItself(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	fcm, right := h.stand(push.KindFCM, "right", pushsim.Config{Token: "secret"})
	bad, err := pushhttp.New(pushhttp.Config{URL: fcm.URL(), Token: "wrong", Timeout: h.cfg.CallTimeout})
	h.no(err)
	vendors := &swapped{Fixed: FixedTo(h.vendor(h.cfg.CallTimeout))}
	vendors.fcm.Store(&posing{bad, push.KindFCM, "wrong"})
	h.mixed(900)
	h.process(func(c *Config) { c.Vendors = vendors })
	n := h.accept("wrong key")
	h.until(n.ID, 30*time.Second, "told by the other vendor", func(_ db.Notice, c db.Counts) bool { return c.Sent == 300 })
	for _, scope := range []string{"fcm:android", "fcm:ios"} {
		h.eventually(10*time.Second, scope+" is paused", func() bool { return h.stateOf(scope) == "paused credentials_refused" })
	}
	h.still(time.Second, "paused with the same key", func() bool { return h.stateOf("fcm:ios") == "paused credentials_refused" })
	vendors.fcm.Store(right)
	_, c := h.finished(n.ID, time.Minute)
	if got := fcm.Counts(); c.Sent != 900 || got.Duplicates != 0 {
		t.Errorf("%+v; the vendor: %+v", c, got)
	}
	if got := one[int](h, `SELECT count(*) FROM delivery WHERE charged > 0`) + one[int](h, `SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`); got != 0 {
		t.Errorf("%d were charged or disabled", got)
	}
}

// Devices at a vendor that is not configured wait and say so, and are told once it is.
func TestVendorThatIsNotConfigured(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	vendors := &swapped{Fixed: FixedTo(h.vendor(h.cfg.CallTimeout))}
	h.mixed(300)
	h.process(func(c *Config) { c.Vendors = vendors })
	n := h.accept("not configured")
	h.until(n.ID, 30*time.Second, "told by the other vendor", func(_ db.Notice, c db.Counts) bool { return c.Sent == 100 })
	h.eventually(10*time.Second, "paused", func() bool { return h.stateOf("fcm:ios") == "paused not_configured" })
	_, v := h.stand(push.KindFCM, "k1", pushsim.Config{})
	vendors.fcm.Store(v)
	if _, c := h.finished(n.ID, time.Minute); c.Sent != 300 || c.Attempts < 300 {
		t.Errorf("%+v", c)
	}
}

// A device that goes to another vendor while a notice is under way is told there,
// once, whichever way it goes.
func TestDeviceThatMovesIsToldOnce(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	fcm, v := h.stand(push.KindFCM, "k1", pushsim.Config{})
	h.mixed(3000)
	for _, scope := range []string{"http", "fcm:android", "fcm:ios"} {
		h.sql(`INSERT INTO vendor (scope, state, reason) VALUES ($1, 'paused', 'refusals')
			ON CONFLICT (scope) DO UPDATE SET state = 'paused', reason = 'refusals'`, scope)
	}
	h.process(func(c *Config) { c.Vendors = FixedTo(h.vendor(c.CallTimeout), v) })
	n := h.accept("moves")
	h.eventually(10*time.Second, "cut", func() bool { return one[bool](h, `SELECT cut_at IS NOT NULL FROM notice WHERE id = $1`, n.ID) })
	moved := func(where string) {
		h.sql(`UPDATE device SET kind = CASE kind WHEN 'http' THEN 'fcm' ELSE 'http' END, platform = 'android' WHERE ` + where)
	}
	moved("id % 10 = 0") // before there is a delivery
	h.no(h.db.ResumeVendor(t.Context(), "http", by))
	h.until(n.ID, 30*time.Second, "told at one of them", func(_ db.Notice, c db.Counts) bool { return c.Sent > 900 })
	moved("id % 10 = 5 AND kind = 'fcm'") // while its range waits
	h.no(h.db.ResumeVendor(t.Context(), "fcm:android", by))
	h.no(h.db.ResumeVendor(t.Context(), "fcm:ios", by))
	_, c := h.finished(n.ID, time.Minute)
	http := h.sim.Counts()
	at := fcm.Counts()
	if c.Total != 3000 || c.Sent != 3000 || http.Unique+at.Unique != 3000 || http.Duplicates+at.Duplicates != 0 {
		t.Errorf("%+v; told %d and %d", c, http.Unique, at.Unique)
	}
}

// Answers that a wrong setting brings too disable nobody before they are known to be
// few, and pause the vendor when they are many.
func TestGuardedAnswers(t *testing.T) {
	now := time.Now()
	var paused []string
	g := &refusals{share: 0.5, now: func() time.Time { return now }, keep: func(string) bool { return true },
		pause: func(detail string) bool { paused = append(paused, detail); return true }}
	saw := func(guarded bool) (kept bool) {
		r := push.Result{Outcome: push.Sent, Status: 200}
		if guarded {
			r = push.Result{Outcome: push.Dead, Guarded: true, Status: 400, Message: "BadDeviceToken"}
		}
		return g.saw(verdict{claim: db.Claim{NoticeID: 1}, result: r})
	}
	for range guardedLeast - 1 {
		if !saw(true) {
			t.Fatal("a device was given up before anything was known")
		}
	}
	if len(paused) != 0 {
		t.Fatal("paused too early")
	}
	if !saw(true) || len(paused) != 1 || !strings.Contains(paused[0], "50 of the last 50") {
		t.Fatalf("with all of 50: paused %q", paused)
	}
	g = &refusals{share: 0.5, now: g.now, keep: g.keep, pause: g.pause}
	for range 900 {
		saw(false)
	}
	if saw(true) || len(paused) != 1 {
		t.Error("one of many is the device's own")
	}
}
