package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// TestFCMWholePath sends one notice to devices at FCM and at the HTTP vendor, takes
// FCM's key away in the middle, and brings another one by its file: the other vendor
// goes on meanwhile, nobody is charged or disabled, and sending goes on by itself.
// Neither key is in a log, on a page or in the ledger.
func TestFCMWholePath(t *testing.T) {
	t.Parallel()
	s := newSite(t, pushsim.Config{})
	fcm, err := pushsim.Start(plainVendor())
	s.no(err)
	t.Cleanup(fcm.Close)
	file := filepath.Join(t.TempDir(), "fcm.json")
	newKey(t, fcm, file)
	first, err := os.ReadFile(file)
	s.no(err)
	settings := []string{"BONGSU_FCM_KEY_FILE=" + file, "BONGSU_FCM_URL=" + fcm.FCMURL(), "BONGSU_RATE=400"}
	page := s.start(roleWeb, settings...)
	worker := s.start(roleWorker, settings...)
	kind := "fcm"
	s.no(s.store.SeedDevices(t.Context(), 2000, func(i int) db.DeviceInput {
		in := db.DeviceInput{Token: goodToken(i), Platform: "android"}
		if i%2 == 0 {
			in.Vendor = &kind
		}
		return in
	}))

	n := s.submits("two vendors", http.StatusAccepted)
	s.until("FCM is under way", func() bool { return fcm.Counts().Unique > 100 })
	fcm.RevokeFCMKeys()
	s.until("FCM is paused", func() bool {
		return s.count(`SELECT count(*) FROM vendor WHERE scope = 'fcm:android' AND state = 'paused'`) == 1
	})
	s.until("the other vendor has told all of its own", func() bool { return s.sim.Counts().Unique == 1000 })
	admin := s.signsIn(page.base, "admin@example.com", db.Admin)
	status := admin.get("/status").body
	if !strings.Contains(status, "FCM (android): ") || !strings.Contains(status, "BONGSU_FCM_KEY_FILE") {
		t.Errorf("the banner does not say what to do:\n%s", status)
	}
	newKey(t, fcm, file)
	second, err := os.ReadFile(file)
	s.no(err)
	s.finished(n.ID)
	if got := fcm.Counts(); got.Unique != 1000 || got.Duplicates != 0 {
		t.Errorf("FCM told %+v", got)
	}
	if charged := s.count(`SELECT count(*) FROM delivery WHERE charged > 0`); charged != 0 {
		t.Errorf("%d deliveries were charged", charged)
	}
	if gone := s.count(`SELECT count(*) FROM device WHERE disabled_at IS NOT NULL`); gone != 0 {
		t.Errorf("%d devices were disabled", gone)
	}
	s.hides(append(secretLines(first), secretLines(second)...), page, worker, admin)
}

// secretLines are the lines of a service account's private key.
func secretLines(key []byte) (list []string) {
	for line := range bytes.SplitSeq(bytes.ReplaceAll(key, []byte(`\n`), []byte("\n")), []byte("\n")) {
		if len(line) == 64 && !bytes.ContainsAny(line, `" `) {
			list = append(list, string(line))
		}
	}
	return list
}

// hides fails where one of the secrets is in a log, on a page, in a row that says
// something in words, or in what other processes can see of ours.
func (s *site) hides(secrets []string, page, worker *proc, admin *person) {
	s.t.Helper()
	if len(secrets) < 20 {
		s.t.Fatalf("%d secrets to look for are too few", len(secrets))
	}
	places := map[string]string{}
	for name, p := range map[string]*proc{"page": page, "worker": worker} {
		for what, file := range map[string]string{"log": p.log, "command": fmt.Sprintf("/proc/%d/cmdline", p.Pid()), "environment": fmt.Sprintf("/proc/%d/environ", p.Pid())} {
			raw, err := os.ReadFile(file)
			s.no(err)
			places[name+"'s "+what] = string(raw)
		}
	}
	for _, path := range []string{"/status", "/settings", "/audit", "/queues", "/notices", "/archive"} {
		places[path] = admin.get(path).body
	}
	for _, table := range []string{"audit", "vendor", "attempt", "delivery"} {
		var text string
		s.no(s.pool.QueryRow(s.t.Context(), `SELECT coalesce(string_agg(x::text, ' '), '') FROM `+table+` x`).Scan(&text))
		places["table "+table] = text
	}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				s.t.Errorf("a line of a key is in the %s", place)
				break
			}
		}
	}
}
