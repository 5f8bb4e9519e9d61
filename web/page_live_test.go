package web

import (
	"net/http"
	"strings"
	"testing"

	"bongsu/db"
)

// look follows the fragment's own address, as htmx does.
func (x *site) look(v seen) seen {
	x.t.Helper()
	href, ok := v.Find("#progress").Attr("hx-get")
	if !ok {
		x.t.Fatalf("it does not ask again: %s", v.text("#progress"))
	}
	return x.htmx("GET", href)
}

func TestLiveFragment(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	x.sql(`INSERT INTO worker (id, slots) VALUES ('w', 1)`)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	id := strings.TrimPrefix(at, "/notices/")
	page := x.get(at)
	if v := x.look(page); v.status != http.StatusNoContent {
		t.Errorf("nothing changed, and the answer is %d: %s", v.status, v.text("body"))
	}
	x.sql(`UPDATE notice SET state = 'sending', started_at = now(), cut_at = now() WHERE id = $1::bigint`, id)
	x.sql(`INSERT INTO notice_counter AS c (notice_id, shard, total, sent, pending) VALUES ($1::bigint, 0, 3, 2, 1)
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = 3, sent = 2, pending = 1`, id)
	v := x.look(page)
	if got := v.text(".lead"); v.status != 200 || got != "2 of 3 done: 2 accepted by the vendor; 1 waiting." {
		t.Errorf("%d %q", v.status, got)
	}
	if got := v.text(".under strong"); got != "66 %" {
		t.Errorf("percentage %q", got)
	}
	x.sql(`UPDATE notice_counter SET sent = 3, pending = 0 WHERE notice_id = $1::bigint AND shard = 0`, id)
	x.sql(`UPDATE notice SET state = 'finished', finished_at = now(), settled_at = now() WHERE id = $1::bigint`, id)
	v = x.look(v)
	if v.Find("[hx-trigger], [hx-get]").Length() != 0 || v.text(".under strong") != "100 %" {
		t.Errorf("the last fragment: %s", v.text("body"))
	}
	if acts := v.Find("#acts[hx-swap-oob=true]"); acts.Length() != 1 || acts.Find("form").Length() != 0 {
		t.Errorf("the buttons did not change with the state: %s", v.text("#acts"))
	}
}

func TestSessionThatEndedEndsThePoll(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	page := x.get(x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at)
	x.post("/signout")
	if v := x.look(page); v.status != http.StatusUnauthorized || strings.Contains(v.text("body"), "Hello") {
		t.Errorf("%d %s", v.status, v.text("body"))
	}
	v := x.htmx("POST", "/notices", "title", "Typed", "body", "Text")
	link := v.Find("[role=alert] a[target=_blank]")
	if href, _ := link.Attr("href"); v.status != http.StatusUnauthorized || href != "/signin?next=%2Fnotices" || v.header.Get("HX-Redirect") != "" {
		t.Errorf("a submit: %d, HX-Redirect %q: %s", v.status, v.header.Get("HX-Redirect"), v.text("body"))
	}
	if v := x.get("/notices"); v.text("h1") != "Sign in" {
		t.Error("the poll brought the session back")
	}
}

func TestWhatHindersIsSaid(t *testing.T) {
	x := newSite(t, db.Admin, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	x.sql(`UPDATE feeder SET redis_down_at = now(), redis_error = 'connection refused'`)
	x.sql(`UPDATE vendor SET state = 'paused', reason = 'credentials_refused', detail = '401 bad <token>', since = now()`)
	v := x.get(at)
	for _, want := range []string{"has not answered since", "Nothing is lost", "No worker is running", "Calls to the vendor are paused"} {
		if !strings.Contains(v.text("#progress"), want) {
			t.Errorf("%q is not in %q", want, v.text("#progress"))
		}
	}
	if got := v.text("main > section .note-bad"); !strings.Contains(got, "401 bad <token>") || !strings.Contains(got, "BONGSU_VENDOR_TOKEN") {
		t.Errorf("the banner says %q", got)
	}
	if v = x.post("/vendor/resume"); v.Find("main > section .note-bad").Length() != 0 || !strings.Contains(v.text("main"), "The vendor is called again") {
		t.Errorf("after Try now: %s", v.text("main"))
	}
	v = x.get("/status")
	for _, want := range []string{"Queue (Redis) ✕ down", "connection refused", "Workers ✕ down", "Vendor ✓ ok", "Database ✓ ok"} {
		if !strings.Contains(v.text("#status"), want) {
			t.Errorf("%q is not in %q", want, v.text("#status"))
		}
	}
	if v = x.htmx("GET", "/status/live"); v.Find("#status[hx-get='/status/live']").Length() != 1 {
		t.Error("the live part does not ask again")
	}
}

func TestUnknownDeliveriesAreDecided(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3)
	id := x.failedNotice(3)
	x.sql(`UPDATE delivery SET status = 'unknown', reason = 'timeout', failed_at = NULL WHERE notice_id = $1::bigint`, id)
	x.sql(`UPDATE notice_counter SET unknown = 3, failed = 0 WHERE notice_id = $1::bigint AND shard = 0`, id)
	x.sql(`UPDATE notice_reason SET status = 'unknown', reason = 'timeout' WHERE notice_id = $1::bigint`, id)
	path := "/notices/" + id + "/deliveries?status=unknown"
	v := x.get(path)
	if n := v.Find("form[data-choose=device] input[name=device]").Length(); n != 3 {
		t.Fatalf("%d to choose from: %s", n, v.text("main"))
	}
	if v = x.post("/notices/"+id+"/unknown", "act", "resend"); !strings.Contains(v.text("main"), "Choose at least one") {
		t.Errorf("choosing none: %s", v.text("main"))
	}
	if v = x.post("/notices/"+id+"/unknown", "act", "mark_sent", "device", "1"); !strings.Contains(v.text("main"), "1 delivery is marked as sent") {
		t.Errorf("marking: %s", v.text("main"))
	}
	if v = x.post("/notices/"+id+"/unknown", "act", "resend", "device", "2", "device", "3"); !strings.Contains(v.text("main"), "2 deliveries wait to be sent again") {
		t.Errorf("resending: %s", v.text("main"))
	}
	if got := x.get("/notices/" + id).text(".lead"); got != "1 of 3 done: 1 accepted by the vendor; 2 waiting." {
		t.Errorf("the notice says %q", got)
	}
}

// Without script, what was typed comes back with the page that says it failed.
func TestDatabaseAwayAtSubmit(t *testing.T) {
	for name, begin := range map[string]func(x *site){
		"away": func(x *site) { x.db.Close() },
		// Then who asks is known, and the form has been read, before anything fails.
		"takes no notice": func(x *site) {
			x.sql(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$`)
			x.sql(`CREATE TRIGGER full_disk BEFORE INSERT ON notice EXECUTE FUNCTION full_disk()`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t, db.Operator, nil)
			x.devices(1)
			begin(x)
			x.failsToSubmit()
		})
	}
}

func (x *site) failsToSubmit() {
	t := x.t
	t.Helper()
	v := x.post("/notices", "title", "Typed", "body", "Line one\r\nLine two", "category", "info")
	if v.status != http.StatusServiceUnavailable || v.header.Get("Retry-After") == "" {
		t.Errorf("status %d, Retry-After %q", v.status, v.header.Get("Retry-After"))
	}
	form := v.Find("main form[method=post][action='/notices']")
	body, _ := form.Find("input[name=body]").Attr("value")
	if form.Find("button").Length() != 1 || !strings.HasPrefix(body, "Line one") || !strings.Contains(v.text("main"), "again is safe") {
		t.Errorf("body %q: %s", body, v.text("main"))
	}
	v = x.htmx("POST", "/notices", "title", "Typed", "body", "Text")
	if v.status != http.StatusServiceUnavailable || v.Find("[role=alert]").Length() != 1 || v.Find("main").Length() != 0 {
		t.Errorf("by htmx: %d %s", v.status, v.text("body"))
	}
}
