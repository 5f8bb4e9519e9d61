package web

import (
	"fmt"
	"testing"

	"bongsu/db"
)

// fillLedger puts a notice with one delivery in each status into the ledger, to
// devices 1 to 7, and gives its id.
func (x *rig) fillLedger() int64 {
	x.t.Helper()
	x.call(db.Operator, "PUT", "/devices", `[{"token":"t1","platform":"ios"},{"token":"t2","platform":"web"},{"token":"t3","platform":"ios"},
		{"token":"t4","platform":"ios"},{"token":"t5","platform":"ios"},{"token":"t6","platform":"ios"},{"token":"t7","platform":"android"}]`)
	n := read[noticeJSON](x.t, x.call(db.Operator, "POST", "/notices", hello))
	x.sql(`UPDATE notice SET state = 'sending', started_at = now(), cut_at = now() WHERE id = $1`, n.ID)
	x.sql(`INSERT INTO delivery (notice_id, device_id, status, charged, attempts, fence, reason, code, message, wake_at, lease_until, sent_at, failed_at, twice) VALUES
		($1, 1, 'pending', 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false),
		($1, 2, 'pending', 1, 1, 1, 'vendor_error', '503', 'busy <b>', now(), NULL, NULL, NULL, false),
		($1, 3, 'sending', 0, 1, 1, NULL, NULL, NULL, NULL, now(), NULL, NULL, false),
		($1, 4, 'sent', 0, 1, 1, NULL, NULL, NULL, NULL, NULL, now(), NULL, true),
		($1, 5, 'failed', 0, 1, 1, 'token_expired', '410', 'gone', NULL, NULL, NULL, now(), false),
		($1, 6, 'skipped', 0, 0, 0, 'no_consent', NULL, NULL, NULL, NULL, NULL, NULL, false),
		($1, 7, 'unknown', 0, 1, 1, 'timeout', NULL, NULL, NULL, NULL, NULL, NULL, true)`, n.ID)
	x.sql(`UPDATE notice_counter SET total = 7, pending = 1, retrying = 1, sending = 1, sent = 1, failed = 1, skipped = 1, unknown = 1,
		twice = 2, attempts = 5 WHERE notice_id = $1 AND shard = 0`, n.ID)
	x.sql(`INSERT INTO notice_reason (notice_id, shard, status, reason, n) VALUES
		($1, 0, 'failed', 'token_expired', 1), ($1, 0, 'skipped', 'no_consent', 1), ($1, 0, 'unknown', 'timeout', 1)`, n.ID)
	x.sql(`INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt, reason, code, message)
		VALUES ($1, 5, 1, 1, now(), 31, 410, 'dead', true, false, 'token_expired', '410', 'gone')`, n.ID)
	return n.ID
}

func TestDeliveriesByStatusGoWithTheCounts(t *testing.T) {
	x := newRig(t)
	id := x.fillLedger()
	n := read[noticeJSON](t, x.call(db.Support, "GET", fmt.Sprintf("/notices/%d", id), ""))
	c := n.Counts
	if c.Pending+c.Retrying+c.Sending+c.Sent+c.Failed+c.Skipped+c.Unknown != c.Total || c.Total != 7 || n.PossiblyTwice != 2 || !n.FannedOut {
		t.Errorf("%+v", n)
	}
	for i, status := range []string{"pending", "retrying", "sending", "sent", "failed", "skipped", "unknown"} {
		p := read[list[deliveryJSON]](t, x.call(db.Support, "GET", fmt.Sprintf("/notices/%d/deliveries?status=%s", id, status), ""))
		if len(p.Items) != 1 || p.Items[0].Status != status || p.Items[0].DeviceID != int64(i+1) {
			t.Errorf("%s: %+v", status, p)
		}
	}
	all := read[list[deliveryJSON]](t, x.call(db.Support, "GET", fmt.Sprintf("/notices/%d/deliveries?limit=4", id), ""))
	rest := read[list[deliveryJSON]](t, x.call(db.Support, "GET", fmt.Sprintf("/notices/%d/deliveries?limit=4&cursor=%s", id, *all.Next), ""))
	if len(all.Items) != 4 || len(rest.Items) != 3 || rest.Next != nil || *all.Items[1].Message != "busy <b>" {
		t.Errorf("%+v\n%+v", all, rest)
	}
	if a := x.send("GET", fmt.Sprintf("%s/notices/%d/deliveries?status=lost", apiRoot, id), "", withToken(x.tokens[db.Support])); a.status != 422 || !a.problem(t).names("status") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := x.call(db.Support, "GET", "/notices/99/deliveries", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}

func TestHistoryOfADevice(t *testing.T) {
	x := newRig(t)
	id := x.fillLedger()
	p := read[list[deviceDeliveryJSON]](t, x.call(db.Support, "GET", "/devices/5/deliveries", ""))
	if len(p.Items) != 1 || p.Items[0].NoticeID != id || p.Items[0].NoticeTitle != "Hello" || len(p.Items[0].History) != 1 {
		t.Fatalf("%+v", p)
	}
	if h := p.Items[0].History[0]; *h.HTTPStatus != 410 || h.TookMS != 31 || h.Outcome != "dead" || *h.Message != "gone" {
		t.Errorf("%+v", h)
	}
}

func TestArchiveAndReplay(t *testing.T) {
	x := newRig(t)
	id := x.fillLedger()
	for query, n := range map[string]int{"": 1, "?reason=token_expired": 1, "?reason=rejected": 0, "?code=410": 1,
		"?code=400": 0, fmt.Sprintf("?notice=%d&reason=token_expired&code=410", id): 1, "?notice=99": 0} {
		a := x.call(db.Admin, "GET", "/archive"+query, "")
		if p := read[list[archivedJSON]](t, a); len(p.Items) != n {
			t.Errorf("%q: %s", query, a.body)
		}
	}
	for _, body := range []string{
		fmt.Sprintf(`{"deliveries":[{"notice_id":%d,"device_id":5},{"notice_id":%d,"device_id":4}]}`, id, id),
		fmt.Sprintf(`{"filter":{"notice":%d,"reason":"token_expired","code":"410"}}`, id),
	} {
		a := x.call(db.Admin, "POST", "/archive/replays", body)
		started := read[replayJSON](t, a)
		if a.status != 202 || started.Matched != 1 || started.State != "pending" || a.header.Get("Location") != fmt.Sprintf("/api/v1/archive/replays/%d", started.ID) {
			t.Errorf("%d %s", a.status, a.body)
		}
		got := x.call(db.Admin, "GET", fmt.Sprintf("/archive/replays/%d", started.ID), "")
		if p := read[replayJSON](t, got); p.ID != started.ID || p.Skipped == nil || p.AskedBy != "test admin" {
			t.Errorf("%s", got.body)
		}
	}
	for body, fields := range map[string][]string{
		`{}`:                                {"deliveries"},
		`{"filter":null,"deliveries":null}`: {"deliveries"},
		`{"filter":{}}`:                     {"filter"},
		`{"filter":{"notice":null}}`:        {"filter"},
		`{"deliveries":[]}`:                 {"deliveries"},
		`{"deliveries":[{"notice_id":1,"device_id":1}],"filter":{"reason":"x"}}`: {"deliveries"},
		`{"deliveries":[{"notice_id":1}]}`:                                       {"deliveries[0].device_id"},
		`{"deliveries":[{"notice_id":"1","device_id":2,"x":1}]}`:                 {"deliveries[0].notice_id", "deliveries[0].x"},
		`{"deliveries":[7]}`:                   {"deliveries[0]", "deliveries[0].notice_id", "deliveries[0].device_id"},
		`{"filter":{"reason":5,"states":"x"}}`: {"filter.reason", "filter.states"},
	} {
		a := x.call(db.Admin, "POST", "/archive/replays", body)
		if p := a.problem(t); a.status != 422 || !p.names(fields...) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	for field, body := range map[string]string{
		"platform": `{"filter":{"platform":"fax"}}`, "filter.since": `{"filter":{"since":"soon"}}`,
		"until": `{"filter":{"since":"2027-01-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}}`,
	} {
		if a := x.call(db.Admin, "POST", "/archive/replays", body); a.status != 422 || !a.problem(t).names(field) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if n := x.count("SELECT count(*) FROM replay"); n != 2 {
		t.Errorf("%d replays", n)
	}
	for _, step := range []struct {
		act    string
		status int
		state  string
	}{{"pause", 200, "paused"}, {"pause", 409, ""}, {"resume", 200, "pending"}, {"resume", 409, ""}, {"cancel", 200, "cancelled"}, {"cancel", 409, ""}} {
		a := x.call(db.Admin, "POST", "/archive/replays/1/"+step.act, "")
		if a.status != step.status || step.status == 200 && read[replayJSON](t, a).State != step.state {
			t.Errorf("%s: %d %s", step.act, a.status, a.body)
		}
	}
	if a := x.call(db.Admin, "POST", "/archive/replays/99/pause", ""); a.status != 404 {
		t.Errorf("pausing what is not there: %d", a.status)
	}
	for query, n := range map[string]int{"?platform=web": 0, "?since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z": 0, "?since=2020-01-01T00:00:00Z": 1} {
		if p := read[list[archivedJSON]](t, x.call(db.Admin, "GET", "/archive"+query, "")); len(p.Items) != n {
			t.Errorf("%s: %d", query, len(p.Items))
		}
	}
	if a := x.call(db.Admin, "GET", "/archive/replays/99", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
}

func TestUnknownDeliveriesAreDecidedOnce(t *testing.T) {
	for action, becomes := range map[string]string{"resend": "pending", "mark_sent": "sent"} {
		x := newRig(t)
		id := x.fillLedger()
		path := fmt.Sprintf("/notices/%d/unknown", id)
		for _, c := range []struct {
			body string
			n    int64
		}{{`{"action":"` + action + `","devices":[1,2,3]}`, 0}, {`{"action":"` + action + `"}`, 1}, {`{"action":"` + action + `"}`, 0}} {
			a := x.call(db.Operator, "POST", path, c.body)
			if a.status != 200 || read[resolvedJSON](t, a).Resolved != c.n {
				t.Errorf("%s: %d %s", c.body, a.status, a.body)
			}
		}
		if n := x.count("SELECT count(*) FROM delivery WHERE device_id = 7 AND status = $1", becomes); n != 1 {
			t.Errorf("%s: the delivery is not %s", action, becomes)
		}
		if a := x.call(db.Operator, "POST", path, `{"action":"forget"}`); a.status != 422 || !a.problem(t).names("action") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}
