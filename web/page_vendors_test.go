package web

import (
	"strings"
	"testing"

	"bongsu/db"
)

// A notice that goes to several vendors shows each, and only one that something waits
// for holds it up.
func TestNoticeByVendor(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	x.sql(`INSERT INTO worker (id, slots) VALUES ('w', 1)`)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	id := strings.TrimPrefix(at, "/notices/")
	x.sql(`UPDATE notice SET state = 'sending', started_at = now(), cut_at = now() WHERE id = $1::bigint`, id)
	if got := x.get(at).Find("#vendors").Length(); got != 0 {
		t.Error("a notice of the HTTP vendor alone lists vendors")
	}
	x.sql(`INSERT INTO vendor (scope, state, reason) VALUES ('fcm:ios', 'paused', 'credentials_refused'), ('webpush:push.example.com', 'paused', 'refusals')`)
	x.sql(`INSERT INTO notice_counter AS c (notice_id, scope, shard, total, sent, failed, pending) VALUES
		($1::bigint, 'http', 0, 5, 5, 0, 0), ($1::bigint, 'fcm:ios', 0, 1200, 0, 0, 1200), ($1::bigint, 'webpush:push.example.com', 0, 3, 2, 1, 0)
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = 5, sent = 5`, id)
	page := x.get(at)
	want := []string{"FCM (ios) 1,200 0 0 1,200 paused: our credentials are refused", "HTTP vendor 5 5 0 0 as usual",
		"Web Push (push.example.com) 3 2 1 0 paused: it refuses most"}
	rows := page.Find("#vendors tbody tr")
	for i, w := range want {
		if got := strings.Join(strings.Fields(rows.Eq(i).Text()), " "); !sameWords(got, w) {
			t.Errorf("row %d is %q, want %q", i, got, w)
		}
	}
	const paused = "Calls to the vendor are paused"
	if !strings.Contains(page.text("#progress"), paused) {
		t.Error("it does not say that it waits for a vendor")
	}
	x.sql(`UPDATE notice_counter SET sent = 1100, failed = 100, pending = 0 WHERE notice_id = $1::bigint AND scope = 'fcm:ios'`, id)
	if text := x.get(at).text("#progress"); strings.Contains(text, paused) {
		t.Error("it says that it waits for a vendor where nothing does")
	}
}

// sameWords compares texts without the blanks between cells and the signs of badges.
func sameWords(a, b string) bool {
	bare := strings.NewReplacer(" ", "", "▲", "", "✓", "").Replace
	return bare(a) == bare(b)
}

// What is asked before a notice is cancelled counts also those who have no delivery yet.
func TestCancelCountsThoseAhead(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	id := strings.TrimPrefix(at, "/notices/")
	x.sql(`UPDATE notice SET state = 'sending', started_at = now(), estimate = 1000 WHERE id = $1::bigint`, id)
	x.sql(`UPDATE notice_counter SET total = 100, sent = 60, pending = 40 WHERE notice_id = $1::bigint AND shard = 0`, id)
	if got := x.get(at + "/cancel").text("main"); !strings.Contains(got, "Of the 940 deliveries still open") {
		t.Errorf("it says %s", got)
	}
	x.sql(`UPDATE notice SET cut_at = now() WHERE id = $1::bigint`, id)
	if got := x.get(at + "/cancel").text("main"); !strings.Contains(got, "Of the 40 deliveries still open") {
		t.Errorf("gone through, it says %s", got)
	}
}
