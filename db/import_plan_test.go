package db

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bongsu/db/dbtest"
)

// A part of a list asks the devices by their indexes alone.
func TestImportsReadByIndexesAlone(t *testing.T) {
	url, _ := big(t, 20_000)
	db, tp := taped(t, url, true)
	ctx := t.Context()
	i := take(t, db, shortList, ImportOptions{}, someone)
	w := must(db.BeginImport(ctx, i.ID, 1, time.Minute))(t)
	var rows []ImportRow
	for n := range 5_000 {
		installation := fmt.Sprintf("installation-%d", n)
		rows = append(rows, ImportRow{Number: int64(n + 2), Input: DeviceInput{Token: fmt.Sprintf("token-%d", n), Platform: "web", Installation: &installation}})
	}
	ok(t, db.StageImport(ctx, &w, rows, 5_001, 100))
	ok(t, db.EndReading(ctx, &w))
	ok(t, db.MatchImport(ctx, &w))
	wantIndexes(t, db, "WriteImport", tp.of(t, func() error { _, err := db.WriteImport(ctx, &w, 5_000); return err }))
}

// A worker plans once, perhaps over an empty table: also then rows are removed by
// their place.
func TestCleaningIsPlannedForAnyNumberOfRows(t *testing.T) {
	db, tp := taped(t, dbtest.URL(t), true)
	ctx := t.Context()
	term := must(db.Lead(ctx, "feeder", time.Minute))(t)
	i := take(t, db, shortList, ImportOptions{}, someone)
	must(db.CancelImport(ctx, i.ID, someone))(t)
	plans := 0
	for _, st := range tp.of(t, func() error { return db.CleanImports(ctx, term) }) {
		if !strings.Contains(st.sql, "DELETE FROM import_row") {
			continue
		}
		plans++
		if plan := genericPlan(t, db, st); !strings.Contains(plan, "Tid Scan on import_row") {
			t.Errorf("rows are not removed by their place:\n%s", plan)
		}
	}
	if plans != 1 {
		t.Errorf("%d statements remove rows", plans)
	}
}
