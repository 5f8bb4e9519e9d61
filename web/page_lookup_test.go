package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

func TestFindingADevice(t *testing.T) {
	x := newSite(t, db.Support, nil)
	x.devices(60)
	if v := x.get("/devices?id=7"); v.at != "/devices/7" {
		t.Errorf("by number: at %s", v.at)
	}
	if v := x.get("/devices?id=9999"); v.status != 200 || !strings.Contains(v.text("main"), "No device was found") {
		t.Errorf("by a number that is not there: %d %s", v.status, v.text("main"))
	}
	v := x.get("/devices?user=kim")
	if n := v.Find("tbody tr").Length(); n != pageSize {
		t.Errorf("by user: %d rows", n)
	}
	next, _ := v.Find("a[rel=next]").Attr("href")
	if n := x.get(next).Find("tbody tr").Length(); n != 10 {
		t.Errorf("the next page has %d rows", n)
	}
	if v = x.post("/devices/find", "token", "token-9"); v.at != "/devices/9" {
		t.Errorf("by token: at %s", v.at)
	}
	if strings.Contains(v.text("html"), "token-9") {
		t.Error("the page shows the token")
	}
	if v = x.post("/devices/find", "token", "nobody"); v.at != "/devices" || !strings.Contains(v.text("main"), "No device has this token") {
		t.Errorf("by a token that is not there: %s", v.text("main"))
	}
}

func TestDeviceHistoryAndErasing(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(3)
	id := x.failedNotice(3)
	v := x.get("/devices/2")
	for _, want := range []string{"Failed one", "the vendor says the address is gone", "410", "31 ms", "gone <b>for good</b>", "An admin can replay it"} {
		if !strings.Contains(v.text("main"), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if v.Find("article q b").Length() != 0 {
		t.Error("the vendor's words became HTML")
	}
	if v = x.get("/devices/2/erase"); v.Find("form[method=post][action='/devices/2/erase']").Length() != 1 {
		t.Error("no question before erasing")
	}
	if v = x.post("/devices/2/erase"); !strings.Contains(v.text("dl.facts"), "erased") || strings.Contains(v.text("dl.facts"), "kim") {
		t.Errorf("erased: %s", v.text("dl.facts"))
	}
	if got := x.get("/notices/" + id).text(".lead"); !strings.Contains(got, "3 failed") {
		t.Errorf("the counts moved: %q", got)
	}
	if v = x.get("/devices/77"); v.status != http.StatusNotFound {
		t.Errorf("a device that is not there: %d", v.status)
	}
}

func TestDeliveriesByStatus(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(60)
	path := "/notices/" + x.failedNotice(60) + "/deliveries"
	v := x.get(path + "?status=failed")
	next, _ := v.Find("a[rel=next]").Attr("href")
	if v.Find("tbody tr").Length() != pageSize || x.get(next).Find("tbody tr").Length() != 10 {
		t.Errorf("%d rows, then %s", v.Find("tbody tr").Length(), next)
	}
	if v.Find("tbody th a").Length() != 0 {
		t.Error("an operator is offered the device's page, which is for support")
	}
	if v = x.get(path + "?status=sent"); !strings.Contains(v.text("main"), "There is none") {
		t.Errorf("sent: %s", v.text("main"))
	}
	if v = x.get(path + "?status=nonsense"); v.status != http.StatusUnprocessableEntity {
		t.Errorf("a status that is none: %d", v.status)
	}
}

// fakeQueues is the edge to the queues, which main fills.
type fakeQueues struct {
	down  error
	tasks []Task
	ran   []string
}

func (f *fakeQueues) Queues(context.Context) ([]Queue, error) {
	return []Queue{{Name: "push", Archived: len(f.tasks)}}, f.down
}

func (f *fakeQueues) Tasks(_ context.Context, _, state string, page, size int) ([]Task, error) {
	if state != "archived" || page > 1 {
		return nil, f.down
	}
	return f.tasks[:min(size, len(f.tasks))], f.down
}

func (f *fakeQueues) RunTask(_ context.Context, _, id string) error { return f.act("run", id) }

func (f *fakeQueues) DeleteTask(_ context.Context, _, id string) error { return f.act("delete", id) }

func (f *fakeQueues) act(what, id string) error {
	if !slices.ContainsFunc(f.tasks, func(t Task) bool { return t.ID == id }) {
		return ErrTaskGone
	}
	f.ran = append(f.ran, what+" "+id)
	return f.down
}

func TestQueues(t *testing.T) {
	q := &fakeQueues{tasks: []Task{{ID: "range:1:2:3", Queue: "push", Type: "push:range", Payload: `{"notice":1}`, LastError: "panic: <oops>", MaxRetry: 3}}}
	x := newSite(t, db.Admin, q)
	v := x.get("/queues")
	href, _ := v.Find("tbody a[href*=archived]").Attr("href")
	v = x.get(href)
	if got := v.text("tbody tr"); !strings.Contains(got, "range:1:2:3") || !strings.Contains(got, "panic: <oops>") {
		t.Errorf("the tasks: %q", got)
	}
	if v = x.post("/queues/push/tasks", "task", "range:1:2:3", "act", "run", "state", "archived"); v.at != "/queues/push?state=archived" {
		t.Errorf("running led to %s", v.at)
	}
	x.post("/queues/push/tasks", "task", "range:1:2:3", "act", "delete", "state", "archived")
	if got := strings.Join(q.ran, ", "); got != "run range:1:2:3, delete range:1:2:3" {
		t.Errorf("done: %s", got)
	}
	if v = x.post("/queues/push/tasks", "task", "gone", "act", "run", "state", "archived"); v.status != http.StatusConflict {
		t.Errorf("a task that is gone: %d", v.status)
	}
	if v = x.get("/queues/nothing"); v.status != http.StatusNotFound {
		t.Errorf("a queue that is not there: %d", v.status)
	}
	q.down = errors.New("connection refused")
	if v = x.get("/queues"); v.status != 200 || !strings.Contains(v.text("main"), "Nothing is lost") {
		t.Errorf("with the queue down: %d %s", v.status, v.text("main"))
	}
}

func TestArchivePage(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	if v := x.get("/archive"); !strings.Contains(v.text("main"), "The archive is empty") {
		t.Errorf("empty: %s", v.text("main"))
	}
	x.devices(60)
	id := x.failedNotice(60)
	v := x.get("/archive")
	if v.Find("button[value=all]").Length() != 0 {
		t.Error("everything can be replayed without a filter")
	}
	href, _ := v.Find("table").First().Find("tbody a").Attr("href")
	if href != "/archive?reason=token_expired" {
		t.Fatalf("the group leads to %s", href)
	}
	v = x.get(href + "&notice=" + id + "&code=410")
	if got := v.text("button[value=all]"); got != "Replay all 60 that match" {
		t.Errorf("the button says %q", got)
	}
	next, _ := v.Find("a[rel=next]").Attr("href")
	for _, part := range []string{"reason=token_expired", "notice=" + id, "code=410"} {
		if !strings.Contains(next, part) {
			t.Errorf("the next page forgets %s: %s", part, next)
		}
	}
	if n := x.get(next).Find("#archive-rows tbody tr").Length(); n != 10 {
		t.Errorf("the next page has %d rows", n)
	}
	if v = x.get("/archive?reason=timeout"); !strings.Contains(v.text("main"), "Nothing matches") {
		t.Errorf("no match: %s", v.text("main"))
	}
	for query, field := range map[string]string{"notice=x": "notice", "since=soon": "since", "platform=fax": "platform", "since=2027-01-01T00:00&until=2026-01-01T00:00": "until"} {
		v = x.get("/archive?" + query)
		if v.status != http.StatusUnprocessableEntity || field != "platform" && v.Find("#"+field+"[aria-invalid=true]").Length() != 1 {
			t.Errorf("%s: %d %s", query, v.status, v.text("main"))
		}
		if v = x.post("/archive/replays", append([]string{"act", "all"}, strings.FieldsFunc(query, func(c rune) bool { return c == '=' || c == '&' })...)...); v.status != http.StatusUnprocessableEntity {
			t.Errorf("a replay of %s: %d", query, v.status)
		}
	}
	v = x.get("/archive?platform=ios&notice=%23" + id + "&since=2020-01-01T00:00&until=2999-01-01T00:00")
	if got := v.text("button[value=all]"); got != "Replay all 60 that match" || v.Find("details.filter[open]").Length() != 1 {
		t.Errorf("filtered: %q in %s", got, v.text("main"))
	}
	if href, _ := v.Find("a[href^='/archive.csv']").Attr("href"); !strings.Contains(href, "platform=ios") {
		t.Errorf("the file is of %s", href)
	}
	if v = x.get("/archive?platform=web"); !strings.Contains(v.text("main"), "Nothing matches") {
		t.Errorf("no match: %s", v.text("main"))
	}
}

// stepReplays does what the feeder does.
func (x *site) stepReplays() {
	x.t.Helper()
	term, err := x.db.Lead(x.t.Context(), "test", 5*time.Second)
	if err != nil {
		x.t.Fatal(err)
	}
	ids, err := x.db.OpenReplays(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	for _, id := range ids {
		for done := false; !done; {
			if done, err = x.db.StepReplay(x.t.Context(), term, id, 100); err != nil {
				x.t.Fatal(err)
			}
		}
	}
}

func TestReplay(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(60)
	id := x.failedNotice(60)
	x.sql(`UPDATE device SET disabled_at = now(), disabled_reason = 'token_expired' WHERE id <= 20`)
	v := x.post("/archive/replays", "act", "all", "notice", id, "reason", "token_expired", "code", "")
	if got := v.text(".lead"); !strings.HasPrefix(v.at, "/archive/plans/") || got != "60 deliveries match: 40 will be put back and sent again, 20 will be skipped." {
		t.Fatalf("the plan at %s: %s", v.at, v.text("main"))
	}
	if !strings.Contains(v.text("table"), "the device is disabled") || !strings.Contains(v.text("main"), "no limit of calls") {
		t.Errorf("the plan says %s", v.text("main"))
	}
	plan := v.at
	v = x.post(plan + "/start")
	if !strings.HasPrefix(v.at, "/archive/replays/") || v.text(".lead") != "60 deliveries matched: 0 put back, 0 skipped, 60 left." {
		t.Fatalf("at %s: %s", v.at, v.text("main"))
	}
	href, _ := v.Find("#replay").Attr("hx-get")
	if got := x.htmx("GET", href).status; got != http.StatusNoContent {
		t.Errorf("nothing changed, and the answer is %d", got)
	}
	if again := x.post(plan + "/start"); again.at != v.at {
		t.Errorf("a second press leads to %s, not to %s", again.at, v.at)
	}
	if look := x.get(plan); look.at != v.at {
		t.Errorf("the plan leads to %s, not to %s", look.at, v.at)
	}
	x.stepReplays()
	v = x.htmx("GET", href)
	if got := v.text(".lead"); got != "60 deliveries matched: 40 put back, 20 skipped." {
		t.Errorf("done: %q", got)
	}
	if v.Find("[hx-get]").Length() != 1 || !strings.Contains(v.text("table"), "the device is disabled") {
		t.Errorf("after its end it looks on for a while, since some may fail again: %s", v.text("body"))
	}
	x.sql(`UPDATE replay SET finished_at = now() - interval '2 minutes'`)
	if v = x.htmx("GET", href); v.Find("[hx-get]").Length() != 0 {
		t.Errorf("the last fragment: %s", v.text("body"))
	}
	if got := x.get("/notices/" + id).text(".lead"); got != "20 of 60 done: 20 failed; 40 waiting." {
		t.Errorf("the notice: %q", got)
	}
}

func TestReplayOneAndTheChosen(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(4)
	id := x.failedNotice(4)
	v := x.post("/archive/replays", "delivery", id+"-1", "delivery", id+"-2", "one", id+"-3")
	if got := v.text(".lead"); !strings.HasPrefix(got, "1 delivery matched") {
		t.Errorf("the button of a row: %q", got)
	}
	v = x.post("/archive/replays", "act", "chosen", "delivery", id+"-1", "delivery", id+"-2")
	if got := v.text(".lead"); !strings.HasPrefix(got, "2 deliveries match: 2 will be put back") {
		t.Errorf("the chosen: %q", got)
	}
	x.post(v.at + "/start")
	x.stepReplays()
	if n := x.get("/archive").Find("#archive-rows tbody tr").Length(); n != 1 {
		t.Errorf("%d are left in the archive", n)
	}
	if v = x.post("/archive/replays", "act", "chosen"); v.at != "/archive" || !strings.Contains(v.text("main"), "Choose at least one") {
		t.Errorf("choosing none: %s", v.text("main"))
	}
	if v = x.post("/archive/replays", "act", "all"); v.status != http.StatusUnprocessableEntity {
		t.Errorf("all without a filter: %d", v.status)
	}
}
