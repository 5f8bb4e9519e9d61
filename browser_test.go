package main

import (
	"fmt"
	"strings"
	"testing"

	"bongsu/db"
	"bongsu/web"
)

const (
	browserDevices = 1_000
	browserRate    = 400 // calls a second, so that there is something to watch
)

// TestBrowser does with a real browser what an admin does: signs in, submits a
// notice by a double click, watches it to its end without reloading, reads a
// failed device's history, and replays one failed delivery.
func TestBrowser(t *testing.T) {
	s := newSite(t, incidentVendor(true))
	s.devices(browserDevices, incidentToken)
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Admin, web.HashPassword("correct horse battery"), commandActor())
	s.no(err)
	base := s.boot(fmt.Sprintf("BONGSU_RATE=%d", browserRate), "BONGSU_RETRY_DELAYS=300ms,600ms,900ms")
	b := newBrowser(t)

	b.open(base + "/")
	b.at("/signin")
	b.write("#email", "kim@example.com")
	b.write("#password", "correct horse battery")
	b.click("#signin button[type=submit]")
	b.at("/notices")

	id := s.submitsByDoubleClick(b, base)
	s.watches(b, id)
	s.readsHistory(b)
	s.replaysOne(b, base, id)
}

// submitsByDoubleClick writes a notice, presses twice, and wants one notice.
func (s *site) submitsByDoubleClick(b *browser, base string) (id string) {
	s.t.Helper()
	b.open(base + "/notices/new")
	b.write("#title", "Service interruption tonight")
	b.write("#body", "From 23:00 to 01:00 payments cannot be made. Everything else works as always.")
	b.doubleClick("#compose .acts > button[type=submit]")
	s.until("the notice's page is shown", func() bool {
		id = strings.TrimPrefix(b.eval("() => location.pathname"), "/notices/")
		return id != "" && id != "new" && !strings.Contains(id, "/")
	})
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		s.t.Errorf("a double click made %d notices", n)
	}
	return id
}

// watches sees the live part change and come to its end in the page as it was
// loaded.
func (s *site) watches(b *browser, id string) {
	s.t.Helper()
	b.until("the tab is marked", func() bool { return b.eval(`() => { window.marked = "still"; return window.marked }`) == "still" })
	b.says("#progress", "sending")
	b.until("the part asks no more", func() bool {
		return b.eval(`() => { const e = document.getElementById("progress"); return e && !e.hasAttribute("hx-get") ? "ended" : "" }`) == "ended"
	})
	b.says("#progress", "finished")
	b.says("#count-sent", "980")
	b.says("#count-failed", "20")
	if b.eval("() => window.marked") != "still" || b.at("/notices/") != "/notices/"+id {
		s.t.Error("the page was loaded anew on the way")
	}
}

// readsHistory goes from the notice to a device that failed, and reads its calls.
func (s *site) readsHistory(b *browser) {
	s.t.Helper()
	b.click("#archive-vendor_error")
	b.at("/archive")
	b.click(`#archive-rows th a[href^="/devices/"]`)
	b.at("/devices/")
	b.says("main", "Service interruption tonight")
	b.says("main", "503")
	device := strings.TrimPrefix(b.at("/devices/"), "/devices/")
	attempts := s.count("SELECT attempts FROM delivery WHERE device_id = $1", device)
	rows := b.eval(`() => String(document.querySelectorAll("main table tbody tr, main ol.attempts > li").length)`)
	if attempts != 4 || rows != "4" {
		s.t.Errorf("device %s had %d calls, the page shows %s", device, attempts, rows)
	}
}

// replaysOne mends the devices that were down, presses the button of one of
// them, and watches it arrive.
func (s *site) replaysOne(b *browser, base, id string) {
	s.t.Helper()
	s.no(s.sim.Mend(kindDown))
	b.open(base + "/archive?reason=vendor_error")
	value := b.see(`#archive-rows button[name=one]`)
	pair, err := value.Attribute("value")
	s.no(err)
	device, ok := strings.CutPrefix(*pair, id+"-")
	if !ok {
		s.t.Fatalf("the button replays %s, which is not of notice %s", *pair, id)
	}
	b.click(`#archive-rows button[name=one]`)
	b.at("/archive/replays/")
	b.says("#replay", "done")
	s.until("the device is told", func() bool {
		return s.count("SELECT count(*) FROM delivery WHERE device_id = $1 AND status = 'sent' AND generation = 2", device) == 1
	})
	var token string
	s.no(s.pool.QueryRow(s.t.Context(), "SELECT token FROM device WHERE id = $1::bigint", device).Scan(&token))
	var notice int64
	_, err = fmt.Sscan(id, &notice)
	s.no(err)
	if n := s.sim.Delivered(token, notice); n != 1 {
		s.t.Errorf("the device was told %d times", n)
	}
	if left := s.count("SELECT count(*) FROM delivery WHERE failed_at IS NOT NULL"); left != 19 {
		s.t.Errorf("%d are left in the archive, want 19", left)
	}
}
