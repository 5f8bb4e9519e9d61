package db

import (
	"context"
	"testing"

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
		p, err := db.Audit(ctx, "thing:1", next, 2)
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
	if all, err := db.Audit(ctx, "", "", 100); err != nil || len(all.Items) != 6 || all.Next != "" {
		t.Errorf("all: %d, next %q, %v; want 6", len(all.Items), all.Next, err)
	}
	if _, err := db.Audit(ctx, "", "x", 10); fieldsOf(err) != "cursor" {
		t.Errorf("bad cursor: %v", err)
	}
	if _, err := db.Audit(ctx, "", "", 0); fieldsOf(err) != "limit" {
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
