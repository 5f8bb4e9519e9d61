package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

// callsDuring counts the calls that reach the stand-in within d.
func (s *site) callsDuring(d time.Duration) int64 {
	before := s.sim.Counts().Calls
	time.Sleep(d)
	return s.sim.Counts().Calls - before
}

// TestFaultVendorDown has the vendor out of order in the middle of 10,000, by
// answering 503 or by refusing connections. Nothing fails, hardly a call is made,
// and it goes on at full rate by itself.
func TestFaultVendorDown(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end func(*site) }{
		"503": {
			func(s *site) { s.no(s.sim.Update(func(x *pushsim.Switches) { x.Outage = true })) },
			func(s *site) { s.no(s.sim.Update(func(x *pushsim.Switches) { x.Outage = false })) }},
		"refused": {func(s *site) { s.lines.vendor.cut() }, func(s *site) { s.lines.vendor.mend() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFaultSite(t, plainVendor())
			s.devices(10_000, goodToken)
			s.start(roleWeb)
			s.start(roleWorker, "BONGSU_RATE=2000")
			n := s.submits("vendor down", http.StatusAccepted)
			s.told(4_000)
			fault.begin(s)
			s.until("the breaker is open", func() bool {
				return s.count("SELECT count(*) FROM vendor WHERE state = 'probing' AND reason = 'backlog'") == 1
			})
			early := s.callsDuring(2 * time.Second)
			down := lasts(6*time.Second, 58*time.Second)
			late := s.callsDuring(down)
			if page := s.statusPage(); !strings.Contains(page, "vendor out of order") || !strings.Contains(page, "/runbook/vendor-outage") {
				t.Errorf("Status does not say that the vendor is out of order:\n%s", page)
			}
			fault.end(s)
			back := time.Now()
			full := time.Duration(0)
			s.until("it sends at full rate", func() bool {
				if s.callsDuring(250*time.Millisecond) < 250 { // half of the rate that is set, at least
					return false
				}
				full = time.Since(back)
				return true
			})
			n = s.finished(n.ID)
			t.Logf("%d calls in the first 2 s, %d in the next %v, full rate %v after the return", early, late, down, full)
			if late >= 100 || full > 8*time.Second { // 3 s is the aim; a busy machine needs longer
				t.Errorf("%d calls while it was down, full rate %v after its return", late, full)
			}
			if n.Counts != (apiCounts{Total: 10_000, Sent: 10_000}) {
				t.Errorf("counts: %+v", n.Counts)
			}
			s.sound()
			s.row("vendor "+name+" in mid-run", 10_000, maxInFlight, full)
		})
	}
}

// TestFaultVendorMisbehaves has a vendor that hangs, trickles, cuts connections or
// answers with somebody else's page, for a while. The call's limit ends each, slots
// are free again, all are told; what is told twice is what nobody could know.
func TestFaultVendorMisbehaves(t *testing.T) {
	for name, toxics := range map[string][2]string{ // direction, toxic
		"hangs":        {"downstream", `"type":"timeout","attributes":{"timeout":0}`},
		"trickles":     {"downstream", `"type":"slicer","attributes":{"average_size":1,"size_variation":0,"delay":200000}`},
		"resets":       {"downstream", `"type":"reset_peer","attributes":{"timeout":5}`},
		"cuts answers": {"downstream", `"type":"limit_data","attributes":{"bytes":40}`},
		"cuts calls":   {"upstream", `"type":"limit_data","attributes":{"bytes":60}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFaultSite(t, pushsim.Config{Switches: pushsim.Switches{
				Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, HonourKeys: true}})
			s.devices(3_000, goodToken)
			s.start(roleWeb)
			s.start(roleWorker, "BONGSU_VENDOR_TIMEOUT=1s", "BONGSU_LEASE=7s", "BONGSU_RATE=1000")
			n := s.submits("misbehaves", http.StatusAccepted)
			s.told(500)
			s.lines.vendor.toxic(toxics[0], toxics[1])
			time.Sleep(lasts(3*time.Second, 20*time.Second))
			s.lines.vendor.mend()
			recovered := s.goesOn()
			n = s.finished(n.ID)
			if n.Counts != (apiCounts{Total: 3_000, Sent: 3_000}) {
				t.Errorf("counts: %+v", n.Counts)
			}
			s.sound()
			s.row("vendor "+name+" in mid-run", 3_000, 0, recovered)
		})
	}
}

// TestFaultVendorIsAProxysPage answers with 200 and a page of HTML for a while:
// that is no answer.
func TestFaultVendorIsAProxysPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	front := newFront(t, s.sim.URL())
	s.ways.vendor = front.url
	s.devices(3_000, goodToken)
	s.start(roleWeb)
	s.start(roleWorker, "BONGSU_RATE=1000")
	n := s.submits("page", http.StatusAccepted)
	s.told(500)
	front.page.Store(http.StatusOK)
	time.Sleep(lasts(3*time.Second, 20*time.Second))
	front.page.Store(0)
	recovered := s.goesOn()
	n = s.finished(n.ID)
	if n.Counts != (apiCounts{Total: 3_000, Sent: 3_000}) || n.PossiblyTwice == 0 {
		t.Errorf("counts: %+v, possibly twice %d", n.Counts, n.PossiblyTwice)
	}
	s.sound()
	s.row("vendor answers with a proxy's page", 3_000, 0, recovered)
}

// TestFaultVendorRefusesUs takes our credentials away in mid-run. Calls pause, one
// banner says why, nobody is charged, and after Try now it goes on.
func TestFaultVendorRefusesUs(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(6_000, goodToken)
	s.start(roleWeb)
	s.start(roleWorker, "BONGSU_RATE=2000")
	n := s.submits("refused", http.StatusAccepted)
	s.told(1_000)
	s.no(s.sim.Update(func(x *pushsim.Switches) { x.Refuse = true }))
	s.until("the vendor is paused", func() bool {
		return s.count("SELECT count(*) FROM vendor WHERE state = 'paused' AND reason = 'credentials_refused'") == 1
	})
	s.until("it is quiet", func() bool { return s.count("SELECT count(*) FROM delivery WHERE status = 'sending'") == 0 })
	if calls := s.callsDuring(lasts(2*time.Second, 20*time.Second)); calls != 0 {
		t.Errorf("%d calls while it is paused", calls)
	}
	if page := s.statusPage(); strings.Count(page, "Calls to the vendor have been paused since") != 2 { // the note, and its name
		t.Errorf("the banner is not there once:\n%s", page)
	}
	s.no(s.sim.Update(func(x *pushsim.Switches) { x.Refuse = false }))
	s.no(s.store.ResumeVendor(t.Context(), "http", commandActor()))
	recovered := s.goesOn()
	s.finished(n.ID)
	if charged := s.count("SELECT count(*) FROM delivery WHERE charged > 0"); charged != 0 {
		t.Errorf("%d were charged", charged)
	}
	s.sound()
	s.row("vendor refuses our credentials", 6_000, 0, recovered)
}

// TestFaultVendorAsksToWait answers 429 with Retry-After to all for a while. It is
// waited for, Status says until when, and nobody is charged.
func TestFaultVendorAsksToWait(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(2_000, goodToken)
	s.start(roleWeb)
	s.start(roleWorker, "BONGSU_RATE=1000")
	n := s.submits("429", http.StatusAccepted)
	s.told(300)
	s.no(s.sim.Update(func(x *pushsim.Switches) { x.RateLimit = 8 * time.Second }))
	s.until("the vendor's wish is known", func() bool {
		return s.count("SELECT count(*) FROM vendor WHERE wait_until > now()") == 1
	})
	if page := s.statusPage(); !strings.Contains(page, "/runbook/vendor-waits") {
		t.Errorf("Status does not say that the vendor asks us to wait:\n%s", page)
	}
	s.no(s.sim.Update(func(x *pushsim.Switches) { x.RateLimit = 0 }))
	s.finished(n.ID)
	if charged := s.count("SELECT count(*) FROM delivery WHERE charged > 0"); charged != 0 {
		t.Errorf("%d were charged", charged)
	}
	early := s.count(`SELECT count(*) FROM attempt a JOIN attempt b USING (notice_id, device_id)
		WHERE a.outcome = 'wait' AND b.fence = a.fence + 1 AND b.started_at < a.started_at + interval '8 s'`)
	if early != 0 {
		t.Errorf("%d were called again before the vendor's time", early)
	}
	s.sound()
	s.row("vendor asks us to wait", 2_000, 0, 0)
}

// TestFaultMassRefusals refuses everybody for good. Calls pause and an admin is
// asked; after the setting is mended, the rest is sent and what was refused is
// replayed.
func TestFaultMassRefusals(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(4_000, func(i int) string { return fmt.Sprintf("bad-%05d", i) })
	base := s.start(roleWeb).base
	s.start(roleWorker)
	n := s.submits("refusals", http.StatusAccepted)
	s.until("the vendor is paused", func() bool {
		return s.count("SELECT count(*) FROM vendor WHERE state = 'paused' AND reason = 'refusals'") == 1
	})
	s.until("it is quiet", func() bool { return s.count("SELECT count(*) FROM delivery WHERE status = 'sending'") == 0 })
	burnt := s.count("SELECT count(*) FROM delivery WHERE status = 'failed'")
	t.Logf("%d of 4,000 were refused", burnt)
	if burnt > 500+2*maxInFlight {
		t.Errorf("%d of the notice are burnt", burnt)
	}
	admin := s.signsIn(base, "admin@example.com", "admin")
	if page := admin.get("/notices").body; !strings.Contains(page, "refused for good") || !strings.Contains(page, "/vendor/agree") {
		t.Errorf("the admin is not asked:\n%s", page)
	}
	s.no(s.sim.Mend("bad-"))
	if a := admin.post("/vendor/resume"); a.status != http.StatusOK || !strings.Contains(a.body, "The vendor is called again") {
		t.Errorf("Try now: %d %s", a.status, a.body)
	}
	recovered := s.goesOn()
	s.finished(n.ID)
	plan := admin.post("/archive/replays", "act", "all", "notice", fmt.Sprint(n.ID))
	if a := admin.post(plan.at + "/start"); a.status != http.StatusOK || !strings.HasPrefix(a.at, "/archive/replays/") {
		t.Errorf("the replay: %d %s", a.status, a.body)
	}
	s.until("all are told", func() bool { return s.sim.Counts().Unique == 4_000 })
	s.finished(n.ID)
	s.sound()
	s.row("mass refusals, mended and replayed", 4_000, 0, recovered)
}
