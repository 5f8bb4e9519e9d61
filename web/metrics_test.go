package web

import (
	"strconv"
	"strings"
	"testing"

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
		"bongsu_deliveries_all": sum, "bongsu_deliveries_possibly_twice": 2, "bongsu_attempts": 5, "bongsu_database_up": 1,
		"bongsu_open_notices": 1, "bongsu_backlog_deliveries": 3, "bongsu_workers_alive": 1, "bongsu_call_slots": 256,
		"bongsu_calls_in_flight": 3, "bongsu_queue_up": 0, `bongsu_vendor_up{kind="http"}`: 1, `bongsu_build_info{version="test"}`: 1,
		`bongsu_http_requests_total{route="POST /api/v1/notices",status="202"}`: 1,
	} {
		if got := measured(t, text, name); got != want {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
	}
	if left := measured(t, text, "bongsu_feeder_lease_seconds"); left < 3000 || left > 3600 {
		t.Errorf("the feeder's lease: %v", left)
	}
	if strings.Contains(text, x.tokens[db.Operator]) {
		t.Error("a token is in the metrics")
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
