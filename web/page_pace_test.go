package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"bongsu/db"
)

func TestChartOfANotice(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	id := at[len("/notices/"):]
	x.sql(`UPDATE notice SET state = 'finished', started_at = '2026-12-31T23:59:58Z', first_call_at = '2026-12-31T23:59:58.5Z', cut_at = now(),
		finished_at = '2027-01-01T00:00:01.2Z', settled_at = now() WHERE id = $1::bigint`, id)
	x.sql(`INSERT INTO notice_counter AS c (notice_id, shard, total, sent, failed) VALUES ($1::bigint, 0, 13, 10, 3)
		ON CONFLICT (notice_id, scope, shard) DO UPDATE SET total = 13, sent = 10, failed = 3`, id)
	if v := x.get(at); v.text(".pace-none") != "It was sent before this was kept." {
		t.Errorf("without rows: %q", v.text(".pace"))
	}
	x.sql(`INSERT INTO notice_pace VALUES ($1::bigint, '2026-12-31T23:59:59Z', 8, 3, 0), ($1::bigint, '2027-01-01T00:00:01Z', 10, 3, 0)`, id)
	v := x.get(at)
	want := "2026-12-31 23:59:59 UTC 8 3 0|2027-01-01 00:00:01 UTC 2 0 0"
	var got []string
	v.Find("#progress #pace-table tbody tr").Each(func(_ int, s *goquery.Selection) {
		cells := s.Find("th, td").Map(func(_ int, c *goquery.Selection) string { return strings.TrimSpace(c.Text()) })
		got = append(got, strings.Join(cells, " "))
	})
	if got := strings.Join(got, "|"); got != want {
		t.Errorf("the table says %q, want %q", got, want)
	}
	if n := v.Find("#progress .pace svg[role=img] > rect").Length(); n != 3 {
		t.Errorf("%d bars", n)
	}
	if got := v.text(".pace-ends"); got != "2026-12-31 23:59:58 UTC 2027-01-01 00:00:01 UTC" {
		t.Errorf("from and to: %q", got)
	}
}

// Time that passes alone draws nothing anew while a notice is paused.
func TestChartOfAPausedNoticeRests(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(1)
	at := x.post("/notices", "title", "Hello", "body", "Text", "category", "info").at
	id := at[len("/notices/"):]
	x.sql(`UPDATE notice SET state = 'paused', state_at = now() - interval '5 s', started_at = now() - interval '20 s', first_call_at = now() - interval '20 s' WHERE id = $1::bigint`, id)
	x.sql(`UPDATE notice_counter SET total = 2, sent = 1, pending = 1 WHERE notice_id = $1::bigint AND shard = 0`, id)
	x.sql(`INSERT INTO notice_pace VALUES ($1::bigint, date_trunc('second', now() - interval '18 s'), 1, 0, 0)`, id)
	page := x.get(at)
	x.sql(`SELECT pg_sleep(1.1)`)
	if v := x.look(page); v.status != http.StatusNoContent {
		t.Errorf("%d %s", v.status, v.text("body"))
	}
}
