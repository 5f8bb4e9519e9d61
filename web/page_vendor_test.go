package web

import (
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

// An admin is asked what only he can know, can answer it, and can press twice.
func TestAdminIsAskedAboutTheVendor(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	const banner = "main > section .note-bad"
	for _, c := range []struct {
		name, sql    string
		says         []string
		resume       bool
		agree        bool
		press, after string
		state        string
	}{
		{"out of order", `UPDATE vendor SET state = 'probing', reason = 'backlog', detail = '503 down', since = now(), next_probe_at = now() + interval '1 h'`,
			[]string{"out of order since", "503 down", "The next try is at"}, true, false,
			"/vendor/resume", "The vendor is being tried now", "probing"},
		{"refusals", `UPDATE vendor SET state = 'paused', reason = 'refusals', detail = '501 of the last 620', since = now(), next_probe_at = NULL`,
			[]string{"paused since", "501 of the last 620", "The refusals are right"}, true, true,
			"/vendor/agree", "count as right", "ok"},
		{"devices kept", `UPDATE vendor SET keep_devices = true, kept_since = now()`,
			[]string{"kept since", "answered by 410"}, false, true,
			"/vendor/agree", "count as right", "ok"},
		{"refusals, tried", `UPDATE vendor SET state = 'paused', reason = 'refusals', detail = '501', since = now(), keep_devices = true, kept_since = now()`,
			[]string{"paused since", "answered by 410"}, true, true,
			"/vendor/resume", "The vendor is called again", "ok"},
	} {
		x.sql(c.sql)
		x.server.watch.forget()
		v := x.get("/status")
		for _, want := range c.says {
			if !strings.Contains(v.text(banner), want) {
				t.Errorf("%s: %q is not in %q", c.name, want, v.text(banner))
			}
		}
		resume := v.Find(banner+" form[action='/vendor/resume']").Length() == 1
		agree := v.Find(banner+" form[action='/vendor/agree']").Length() == 1
		if resume != c.resume || agree != c.agree {
			t.Errorf("%s: Try now %v, agree %v", c.name, resume, agree)
		}
		if v = x.post(c.press); !strings.Contains(v.text("main"), c.after) {
			t.Errorf("%s: after the press: %s", c.name, v.text("main"))
		}
		if v = x.post(c.press); v.status != http.StatusOK { // the first press has done it
			t.Errorf("%s: the second press: %d %s", c.name, v.status, v.text("main"))
		}
		list, err := x.db.Vendors(t.Context())
		if err != nil || list[0].State != c.state {
			t.Errorf("%s: the vendor is %+v, want %s: %v", c.name, list, c.state, err)
		}
	}
}
