package db

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestAuditPages(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	add := func(object string, detail map[string]any) {
		t.Helper()
		err := db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			return addAudit(ctx, tx, someone, "thing.do", object, detail)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		add("thing:1", map[string]any{"n": 7})
		add("thing:2", nil)
	}
	var seen []int64
	for next, first := "", true; first || next != ""; first = false {
		p, err := db.Audit(ctx, AuditFilter{Object: "thing:1"}, next, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			seen = append(seen, e.ID)
			if e.Object != "thing:1" || e.Actor != someone.ID || e.ActorName != someone.Name || e.Role != Admin ||
				e.Act != "thing.do" || e.Detail["n"] != 7.0 || e.RequestID == nil || *e.RequestID != "r-1" || e.At.IsZero() {
				t.Errorf("entry %+v", e)
			}
		}
		next = p.Next
	}
	if len(seen) != 3 || seen[0] <= seen[1] || seen[1] <= seen[2] {
		t.Errorf("entries %v, want three, newest first", seen)
	}
	if all, err := db.Audit(ctx, AuditFilter{}, "", 100); err != nil || len(all.Items) != 6 || all.Next != "" {
		t.Errorf("all: %d, next %q, %v; want 6", len(all.Items), all.Next, err)
	}
	if _, err := db.Audit(ctx, AuditFilter{}, "x", 10); fieldsOf(err) != "cursor" {
		t.Errorf("bad cursor: %v", err)
	}
	if _, err := db.Audit(ctx, AuditFilter{}, "", 0); fieldsOf(err) != "limit" {
		t.Errorf("bad limit: %v", err)
	}
}

func TestAuditIsAppendOnly(t *testing.T) {
	db := newDB(t)
	for _, sql := range []string{"UPDATE audit SET act = ''", "DELETE FROM audit", "TRUNCATE audit"} {
		if _, err := db.pool.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s was allowed", sql)
		}
	}
}

func TestAuditFilter(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	kim, lee := UserActor(1, "Kim@example.com", Operator, ""), TokenActor(2, "shop", Admin, "")
	if err := db.NoteAct(ctx, kim, "device.read", "device:7", nil); err != nil {
		t.Fatal(err)
	}
	if err := db.NoteRefusal(ctx, kim, "archive.replay", "replays", map[string]any{"needs": "admin"}); err != nil {
		t.Fatal(err)
	}
	if err := db.NoteAct(ctx, lee, "device.put", "device:7", nil); err != nil {
		t.Fatal(err)
	}
	before, after := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		f    AuditFilter
		want int
	}{
		"all":                {AuditFilter{}, 3},
		"part of a name":     {AuditFilter{Who: "kim@"}, 2},
		"an actor":           {AuditFilter{Who: "token:2"}, 1},
		"part of an actor":   {AuditFilter{Who: "token"}, 0},
		"an act":             {AuditFilter{Act: "device.read"}, 1},
		"acts on a kind":     {AuditFilter{Act: "device"}, 2},
		"not a word's start": {AuditFilter{Act: "dev"}, 0},
		"refused":            {AuditFilter{Result: "refused"}, 1},
		"object":             {AuditFilter{Object: "device:7"}, 2},
		"from later":         {AuditFilter{From: &after}, 0},
		"until earlier":      {AuditFilter{To: &before}, 0},
		"between":            {AuditFilter{From: &before, To: &after, Act: "archive"}, 1},
	} {
		p, err := db.Audit(ctx, c.f, "", 10)
		if err != nil || len(p.Items) != c.want {
			t.Errorf("%s: %d entries, %v; want %d", name, len(p.Items), err, c.want)
		}
	}
}

// A role that owns the table but is no superuser has no right to change a line,
// even where the trigger were gone.
func TestAuditRights(t *testing.T) {
	db := newDB(t)
	granted := ask[int](t, db, `
		SELECT count(*) FROM information_schema.role_table_grants
		WHERE table_name = 'audit' AND privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE')`)
	if granted != 0 {
		t.Errorf("%d grants of changing the audit log are left", granted)
	}
}
