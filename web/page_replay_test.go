package web

import (
	"encoding/csv"
	"io"
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

// A run can be paused, resumed and cancelled from its page; each press that comes
// too late says so, and each act is in the log.
func TestReplayActs(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(4)
	id := x.failedNotice(4)
	run := x.post(x.post("/archive/replays", "act", "all", "notice", id).at + "/start").at
	if v := x.post(run + "/pause"); v.at != run || !strings.Contains(v.text("main"), "paused") || v.Find("form[action='"+run+"/resume']").Length() != 1 {
		t.Fatalf("paused: %s", v.text("main"))
	}
	x.stepReplays()
	if v := x.get(run); v.text(".lead") != "4 deliveries matched: 0 put back, 0 skipped, 4 left." {
		t.Errorf("a paused run goes on: %s", v.text(".lead"))
	}
	if v := x.post("/archive/replays", "delivery", id+"-1", "delivery", id+"-2"); !strings.HasPrefix(v.at, "/archive/plans/") {
		t.Errorf("another selection led to %s", v.at)
	}
	if v := x.post(x.post("/archive/replays", "act", "all", "notice", id).at + "/start"); v.at != run {
		t.Errorf("the same selection led to %s, and %s is paused", v.at, run)
	}
	if v := x.post(run + "/pause"); v.status != http.StatusConflict || !strings.Contains(v.text("main"), "is paused and cannot be paused") {
		t.Errorf("paused twice: %d %s", v.status, v.text("main"))
	}
	if v := x.post(run + "/resume"); !strings.Contains(v.text("main"), "goes on") {
		t.Errorf("resumed: %s", v.text("main"))
	}
	if v := x.get(run + "/cancel"); v.Find("form[action='"+run+"/cancel']").Length() != 1 || !strings.Contains(v.text("main"), "4 deliveries are still to be put back") {
		t.Errorf("asking: %s", v.text("main"))
	}
	if v := x.post(run + "/cancel"); v.at != run || !strings.Contains(v.text(".lead"), "4 left in the archive") || v.Find("form[action^='"+run+"']").Length() != 0 {
		t.Errorf("cancelled: %s", v.text("main"))
	}
	x.stepReplays()
	if n := x.get("/archive").Find("#archive-rows tbody tr").Length(); n != 4 {
		t.Errorf("%d are left in the archive", n)
	}
	if got := x.get("/archive").text("table:last-of-type"); !strings.Contains(got, "cancelled") {
		t.Errorf("the runs: %s", got)
	}
	log := x.get("/audit?object=replay:" + strings.TrimPrefix(run, "/archive/replays/")).text("main")
	for _, act := range []string{"archive.replay", "replay.pause", "replay.resume", "replay.cancel"} {
		if strings.Count(log, act) != 1 {
			t.Errorf("%s is in the log %d times", act, strings.Count(log, act))
		}
	}
	for _, path := range []string{"/archive/plans/99", "/archive/replays/99", "/archive/replays/99/cancel"} {
		if v := x.get(path); v.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, v.status)
		}
	}
}

// The archive as a file: what the filter selects, all of it, safe for a
// spreadsheet, and noted in the log.
func TestArchiveCSV(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(1200)
	id := x.failedNotice(1200)
	x.sql(`UPDATE delivery SET message = '=HYPERLINK("x")' WHERE device_id = 7`)
	x.sql(`UPDATE device SET platform = 'web' WHERE id > 1100`)
	v := x.get("/archive.csv?platform=ios&notice=" + id)
	if v.status != 200 || !strings.HasPrefix(v.header.Get("Content-Type"), "text/csv") {
		t.Fatalf("%d %v", v.status, v.header)
	}
	raw, _ := x.raw("/archive.csv?platform=ios&notice=" + id)
	rows, err := csv.NewReader(strings.NewReader(raw)).ReadAll()
	if err != nil || len(rows) != 1101 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	if got := strings.Join(rows[7], "|"); !strings.HasPrefix(got, id+"|") || !strings.Contains(got, `|'=HYPERLINK("x")|`) || !strings.Contains(got, "|7|ios|no|token_expired|410|") {
		t.Errorf("a row: %s", got)
	}
	if v := x.get("/archive.csv?since=soon"); v.status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong filter: %d", v.status)
	}
	if log := x.get("/audit?act=archive.export").text("main"); !strings.Contains(log, "archive.export") {
		t.Errorf("the log: %s", log)
	}
}

// raw gives an answer's body as it is.
func (x *site) raw(path string) (body string, status int) {
	x.t.Helper()
	res, err := x.browser.Get(x.base + path)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text), res.StatusCode
}

// A plan in which nobody would be told cannot be started, by its page or past it; it says
// why, and where the way out is.
func TestPlanOfNobody(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(2)
	id := x.failedNotice(2)
	x.sql(`UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired'`)
	plan := x.post("/archive/replays", "act", "all", "notice", id).at
	v := x.get(plan)
	if v.Find("form[action='"+plan+"/start']").Length() != 0 || v.Find("#plan-imports[href='/imports']").Length() != 1 ||
		!strings.Contains(v.text("main"), "All of them would be skipped") {
		t.Errorf("the plan: %s", v.text("main"))
	}
	if v := x.post(plan + "/start"); v.status != http.StatusConflict || !strings.Contains(v.text("main"), "make a new plan") {
		t.Errorf("started past its page: %d %s", v.status, v.text("main"))
	}
	if n := x.get("/archive").Find("a[href^='/archive/replays/']").Length(); n != 0 {
		t.Errorf("%d runs", n)
	}
}
