package web

import (
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"bongsu/db"
)

// measured reads one value out of the metrics.
func measured(t *testing.T, text, name string) float64 {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	t.Errorf("%s is not measured", name)
	return -1
}

func TestMetricsAddUp(t *testing.T) {
	x := newRig(t)
	x.fillLedger()
	x.sql(`INSERT INTO worker (id, slots, in_flight) VALUES ('w1', 256, 3)`)
	x.sql(`UPDATE feeder SET holder = 'w1', lease_until = now() + interval '1 hour', redis_down_at = now()`)
	x.sql(`UPDATE vendor SET state = 'paused', keep_devices = true, kept_since = now(), ok_at = '2026-12-01 05:11:00.5Z'`)
	x.sql(`UPDATE notice SET cut_at = NULL, accepted_at = t, started_at = t, state_at = t FROM (SELECT now() - interval '5 minutes' AS t) x`)
	x.sql(`UPDATE delivery SET wake_at = now() - interval '10 minutes' WHERE status = 'pending' AND wake_at IS NOT NULL`)
	a := x.send("GET", "/metrics", "")
	text := string(a.body)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	sum := 0.0
	for _, state := range []string{"pending", "retrying", "sending", "sent", "failed", "skipped", "unknown"} {
		n := measured(t, text, `bongsu_deliveries{state="`+state+`"}`)
		if n != 1 {
			t.Errorf("%s: %v", state, n)
		}
		sum += n
	}
	for name, want := range map[string]float64{
		"bongsu_deliveries_all": sum, "bongsu_deliveries_sent_total": 1, "bongsu_deliveries_possibly_twice_total": 2,
		"bongsu_attempts_total": 4, "bongsu_database_up": 1, "bongsu_open_notices": 1, "bongsu_stalled_notices": 1, "bongsu_backlog_deliveries": 3, "bongsu_workers_alive": 1, "bongsu_call_slots": 256,
		"bongsu_calls_in_flight": 3, "bongsu_queue_up": 0, `bongsu_vendor_state{kind="http",state="ok"}`: 0,
		`bongsu_vendor_state{kind="http",state="paused"}`: 1, `bongsu_vendor_state{kind="http",state="probing"}`: 0, `bongsu_vendor_devices_kept{kind="http"}`: 1,
		`bongsu_vendor_last_success_timestamp_seconds{kind="http"}`: 1796101860.5, `bongsu_build_info{version="test"}`: 1,
		`bongsu_http_requests_total{route="POST /api/v1/notices",status="202"}`: 1,
	} {
		if got := measured(t, text, name); got != want {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
	}
	if left := measured(t, text, "bongsu_feeder_lease_seconds"); left < 3000 || left > 3600 {
		t.Errorf("the feeder's lease: %v", left)
	}
	if age := measured(t, text, "bongsu_backlog_oldest_seconds"); age < 600 || age > 700 {
		t.Errorf("the oldest work: %v", age)
	}
	if strings.Contains(text, x.tokens[db.Operator]) {
		t.Error("a token is in the metrics")
	}
}

// What a counter said once it says for good, or rates over it jump.
func TestMetricOfAttemptsNeverFalls(t *testing.T) {
	x := newRig(t)
	id := x.fillLedger()
	x.sql(`UPDATE delivery SET wake_at = now() WHERE status = 'sending'`)
	attempts := func() float64 {
		return measured(t, string(x.send("GET", "/metrics", "").body), "bongsu_attempts_total")
	}
	before := attempts()
	if err := x.db.Release(t.Context(), []db.Claim{{NoticeID: id, DeviceID: 3, Fence: 1}}, 0); err != nil {
		t.Fatal(err)
	}
	if n := x.count(`SELECT sum(attempts) FROM notice_counter`); n != 4 {
		t.Fatalf("nothing was given back: %d attempts", n)
	}
	if after := attempts(); after != before || before != 4 {
		t.Errorf("%v, and before %v", after, before)
	}
}

// The names and texts follow the conventions of Prometheus, with the database and
// without it.
func TestMetricsFollowTheConventions(t *testing.T) {
	x := newRig(t)
	x.fillLedger()
	x.sql(`UPDATE vendor SET ok_at = now()`)
	for _, up := range []float64{1, 0} {
		if up == 0 {
			x.db.Close()
		}
		text := string(x.send("GET", "/metrics", "").body)
		if got := measured(t, text, "bongsu_database_up"); got != up {
			t.Errorf("bongsu_database_up is %v, not %v", got, up)
		}
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("database up %v: %s: %s", up, p.Metric, p.Text)
		}
		if known := strings.Contains(text, "bongsu_backlog_deliveries"); known != (up == 1) {
			t.Errorf("database up %v: the backlog is told: %v", up, known)
		}
	}
}

func TestPathsNobodyKnowsShareOneLabel(t *testing.T) {
	x := newRig(t)
	for _, path := range []string{"/a", "/b", "/api/v1/c"} {
		x.send("GET", path, "")
	}
	text := string(x.send("GET", "/metrics", "").body)
	if n := measured(t, text, `bongsu_http_requests_total{route="none",status="404"}`); n != 3 {
		t.Errorf("%v", n)
	}
}
