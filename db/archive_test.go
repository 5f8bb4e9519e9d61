package db

import (
	"errors"
	"testing"
	"time"
)

// archived makes three notices with 4,000 failed deliveries each: by reason
// "rejected", every tenth of them with the code "too_big".
func archived(t *testing.T) (*DB, []int64) {
	t.Helper()
	db := newDB(t)
	seed(t, db, 4000)
	var ids []int64
	for _, title := range []string{"a", "b", "c"} {
		s := startScene(t, db, title)
		ids = append(ids, s.id)
		for _, r := range s.rings {
			must(db.TakeRange(t.Context(), r, 0))(t)
		}
		for claims := s.claim(1000); len(claims) > 0; claims = s.claim(1000) {
			results := make([]Result, len(claims))
			for i, c := range claims {
				results[i] = resultOf(c, OutcomePermanent)
				if c.DeviceID%10 == 0 {
					results[i].Code = "too_big"
				}
			}
			s.write(results...)
		}
		s.want("failed", Counts{Failed: 4000})
	}
	return db, ids
}

// allArchived lists by cursor and fails where one comes twice or out of order.
func allArchived(t *testing.T, db *DB, f ArchiveFilter, limit int) []Pair {
	t.Helper()
	var list []Pair
	for next, first := "", true; first || next != ""; first = false {
		p := must(db.Archive(t.Context(), f, next, limit))(t)
		for _, d := range p.Items {
			at := Pair{d.NoticeID, d.DeviceID}
			if n := len(list); n > 0 && (at.NoticeID > list[n-1].NoticeID || at.NoticeID == list[n-1].NoticeID && at.DeviceID <= list[n-1].DeviceID) {
				t.Fatalf("%v after %v", at, list[n-1])
			}
			if d.Status != "failed" || d.FailedAt == nil || d.Platform == "" || d.NoticeTitle == "" {
				t.Fatalf("item %+v", d)
			}
			list = append(list, at)
		}
		if next = p.Next; next != "" && len(p.Items) != limit {
			t.Fatalf("a page of %d with one after it", len(p.Items))
		}
	}
	return list
}

func TestArchiveListsAllTwelveThousandEachOnce(t *testing.T) {
	db, ids := archived(t)
	none := int64(999)
	for _, x := range []struct {
		f     ArchiveFilter
		limit int
		want  int
	}{
		{ArchiveFilter{}, 1000, 12000},
		{ArchiveFilter{}, 777, 12000},
		{ArchiveFilter{Notice: &ids[1]}, 1000, 4000},
		{ArchiveFilter{Notice: &none}, 10, 0},
		{ArchiveFilter{Reason: "rejected"}, 999, 12000},
		{ArchiveFilter{Reason: "timeout"}, 10, 0},
		{ArchiveFilter{Code: "too_big"}, 100, 1200},
		{ArchiveFilter{Notice: &ids[2], Reason: "rejected", Code: "too_big"}, 400, 400},
		{ArchiveFilter{Notice: &ids[0], Code: "too_bi"}, 100, 0},
	} {
		if got := len(allArchived(t, db, x.f, x.limit)); got != x.want {
			t.Errorf("%+v by %d: %d, want %d", x.f, x.limit, got, x.want)
		}
		if n := must(db.ArchiveCount(t.Context(), x.f))(t); n != int64(x.want) {
			t.Errorf("%+v: counted %d, want %d", x.f, n, x.want)
		}
	}
	groups := must(db.ArchiveReasons(t.Context(), nil))(t)
	if len(groups) != 1 || groups[0].Status != "failed" || groups[0].Reason != "rejected" || groups[0].N != 12000 {
		t.Fatalf("groups: %+v", groups)
	}
	first, last := ask[time.Time](t, db, `SELECT min(failed_at) FROM delivery`), ask[time.Time](t, db, `SELECT max(failed_at) FROM delivery`)
	if g := groups[0]; g.FirstAt == nil || !g.FirstAt.Equal(first) || !g.LastAt.Equal(last) {
		t.Errorf("from %v to %v, want %v to %v", g.FirstAt, g.LastAt, first, last)
	}
}

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || invalid.Fields[0].Field != field {
		t.Errorf("got %v, want that %s is wrong", err, field)
	}
}

func TestBadCursorsAndLimitsAreRefused(t *testing.T) {
	db := newDB(t)
	seed(t, db, 1)
	n, ctx := accept(t, db, Draft{Title: "t", Body: "b"}).ID, t.Context()
	lists := map[string]func(cursor string, limit int) error{
		"Archive":          func(c string, l int) error { _, err := db.Archive(ctx, ArchiveFilter{}, c, l); return err },
		"Deliveries":       func(c string, l int) error { _, err := db.Deliveries(ctx, n, "", c, l); return err },
		"DeviceDeliveries": func(c string, l int) error { _, err := db.DeviceDeliveries(ctx, 1, c, l); return err },
		"Notices":          func(c string, l int) error { _, err := db.Notices(ctx, c, l); return err },
	}
	for name, list := range lists {
		for _, limit := range []int{0, -1, MaxPage + 1} {
			wantInvalid(t, list("", limit), "limit")
		}
		for _, c := range []string{"?", "abc", cursor{1, 2, 3}.String(), "MS4x.MS4x"} {
			wantInvalid(t, list(c, 10), "cursor")
		}
		if err := list("", MaxPage); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := db.Deliveries(ctx, n, "lost", "", 10)
	wantInvalid(t, err, "status")
	if _, err := db.Deliveries(ctx, 999, "", "", 10); !errors.Is(err, ErrNotFound) {
		t.Errorf("deliveries of no notice: %v", err)
	}
}

func TestDeliveriesByEachStatus(t *testing.T) {
	s := newScene(t, 80)
	c := s.claim(60)
	s.record(OutcomeSent, c[:10]...)
	s.record(OutcomeTransient, c[10:20]...)
	s.record(OutcomeDead, c[20:30]...)
	exec(t, s.db, `UPDATE delivery SET lease_until = now() WHERE device_id BETWEEN 31 AND 40`)
	s.free(true)
	exec(t, s.db, `UPDATE device SET consent = false WHERE id BETWEEN 61 AND 70`)
	if b := must(s.db.ClaimRange(t.Context(), s.id, 60, 70, 10, testLease, 0))(t); b.Seen != 10 || b.Claims != nil {
		t.Fatalf("claimed: %+v", b)
	}
	s.want("scene", Counts{Sent: 10, Retrying: 10, Failed: 10, Unknown: 10, Sending: 20, Skipped: 10, Pending: 10})
	for status, from := range map[string]int64{"sent": 1, "retrying": 11, "failed": 21, "unknown": 31, "skipped": 61, "pending": 71} {
		if got := s.listed(status, 3); len(got) != 10 || got[0].DeviceID != from || got[9].DeviceID != from+9 {
			t.Errorf("%s: %d from %+v", status, len(got), got)
		}
	}
	if got := s.listed("sending", 7); len(got) != 20 {
		t.Errorf("%d sending", len(got))
	}
	if got := s.listed("", 9); len(got) != 80 {
		t.Errorf("%d of any status", len(got))
	}
	for _, d := range s.listed("retrying", 100) {
		if d.DueAt == nil || d.Charged != 1 || *d.Reason != "vendor_error" {
			t.Fatalf("retrying: %+v", d)
		}
	}
}

// listed gives all deliveries of a status, by pages of limit, in order and each once.
func (s *scene) listed(status string, limit int) (list []Delivery) {
	s.Helper()
	for next, first := "", true; first || next != ""; first = false {
		p := must(s.db.Deliveries(s.Context(), s.id, status, next, limit))(s)
		for _, d := range p.Items {
			if n := len(list); n > 0 && d.DeviceID <= list[n-1].DeviceID {
				s.Fatalf("device %d after %d", d.DeviceID, list[n-1].DeviceID)
			}
			list = append(list, d)
		}
		next = p.Next
	}
	return list
}
