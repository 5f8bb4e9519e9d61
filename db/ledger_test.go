package db

import (
	"testing"
	"time"
)

const testLease = 10 * time.Second

// seed makes n devices with tokens ok-1 … ok-n and gives their highest id.
func seed(t testing.TB, db *DB, n int) {
	t.Helper()
	exec(t, db, `INSERT INTO device (token, token_hash, platform)
		SELECT 'ok-' || i, sha256(('ok-' || i)::bytea), 'android' FROM generate_series(1, $1::int) i`, n)
}

func accept(t testing.TB, db *DB, d Draft) Notice {
	t.Helper()
	a, err := db.AcceptNotice(t.Context(), d, someone, nil, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a.Notice
}

// must gives v, where there is no error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// feed starts a notice, cuts it, and gives the rings of its ranges.
func feed(t testing.TB, db *DB, notice int64, size int) (Term, []Ring) {
	t.Helper()
	term := must(db.Lead(t.Context(), "feeder", time.Minute))(t)
	ok(t, db.StartNotice(t.Context(), term, notice))
	ok(t, db.CutRanges(t.Context(), term, notice, size, 100))
	rings := must(db.Unrung(t.Context(), 100, 1000))(t)
	ok(t, db.MarkRung(t.Context(), term, rings))
	return term, rings
}

// sums checks that the parts add up and agree with the rows, and gives them.
func sums(t testing.TB, db *DB, notice int64) Counts {
	t.Helper()
	_, c, err := db.Notice(t.Context(), notice)
	ok(t, err)
	if c.Pending+c.Retrying+c.Sending+c.Sent+c.Failed+c.Skipped+c.Unknown != c.Total {
		t.Fatalf("the parts do not add up: %+v", c)
	}
	var rows Counts
	err = db.pool.QueryRow(t.Context(), `
		SELECT count(*), count(*) FILTER (WHERE status = 'pending' AND charged = 0),
			count(*) FILTER (WHERE status = 'pending' AND charged > 0), count(*) FILTER (WHERE status = 'sending'),
			count(*) FILTER (WHERE status = 'sent'), count(*) FILTER (WHERE status = 'failed'),
			count(*) FILTER (WHERE status = 'skipped'), count(*) FILTER (WHERE status = 'unknown'),
			count(*) FILTER (WHERE twice), coalesce(sum(attempts), 0)
		FROM delivery WHERE notice_id = $1`, notice).Scan(&rows.Total, &rows.Pending, &rows.Retrying, &rows.Sending,
		&rows.Sent, &rows.Failed, &rows.Skipped, &rows.Unknown, &rows.Twice, &rows.Attempts)
	ok(t, err)
	if rows != c {
		t.Fatalf("counters %+v, rows %+v", c, rows)
	}
	reasons := ask[int64](t, db, `SELECT coalesce(sum(n), 0)::bigint FROM notice_reason WHERE notice_id = $1`, notice)
	if want := c.Failed + c.Skipped + c.Unknown; reasons != want {
		t.Fatalf("the tallies of reasons add up to %d, want %d", reasons, want)
	}
	return c
}

func resultOf(c Claim, outcome string) Result {
	r := Result{Claim: c, StartedAt: time.Now(), Took: 30 * time.Millisecond, Outcome: outcome, HTTP: 200}
	r.Move = Next(outcome, false, false, false)
	switch outcome {
	case OutcomeTransient:
		r.HTTP, r.Reason, r.Delay = 503, "vendor_error", 2*time.Second
	case OutcomeDead:
		r.HTTP, r.Reason, r.Disable = 410, "token_expired", true
	case OutcomePermanent:
		r.HTTP, r.Reason, r.Code = 400, "rejected", "bad_token"
	}
	return r
}

func TestLedgerFromAcceptanceToTheEnd(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	seed(t, db, 1200)
	n := accept(t, db, Draft{Title: "t", Body: "b"})
	seedLate := ask[int64](t, db, `INSERT INTO device (token, token_hash, platform) VALUES ('late', '\x01', 'web') RETURNING id`)
	term, rings := feed(t, db, n.ID, 500)
	if len(rings) != 3 {
		t.Fatalf("%d ranges, want 3", len(rings))
	}
	for _, ring := range rings {
		w := must(db.TakeRange(ctx, ring, 3))(t)
		if again := must(db.TakeRange(ctx, ring, 4))(t); again.LastID != w.LastID {
			t.Fatalf("taken again: %+v", again)
		}
		after := w.FirstID - 1
		for {
			batch := must(db.ClaimRange(ctx, n.ID, after, w.LastID, 64, testLease, 5))(t)
			if batch.Seen == 0 {
				break
			}
			after = batch.Last
			var results []Result
			for i, c := range batch.Claims {
				outcome := OutcomeSent
				if c.DeviceID == 7 {
					outcome = OutcomeDead
				} else if i == 0 {
					outcome = OutcomeTransient
				}
				results = append(results, resultOf(c, outcome))
			}
			stale, err := db.Record(ctx, results, 6)
			ok(t, err)
			if stale != nil {
				t.Fatalf("stale: %v", stale)
			}
			sums(t, db, n.ID)
		}
		if done := must(db.EndRange(ctx, ring))(t); !done {
			t.Fatal("the range is not done")
		}
	}
	c := sums(t, db, n.ID)
	if c.Total != 1200 || c.Failed != 1 || c.Retrying == 0 || c.Sending != 0 {
		t.Fatalf("counts: %+v", c)
	}
	if got := ask[int](t, db, `SELECT count(*) FROM delivery WHERE device_id = $1`, seedLate); got != 0 {
		t.Fatal("a device that came later is in it")
	}
	if !ask[bool](t, db, `SELECT disabled_at IS NOT NULL FROM device WHERE id = 7`) {
		t.Fatal("410 did not disable the device")
	}
	if early := must(db.ClaimDue(ctx, n.ID, 100, testLease, 0))(t); early.Seen != 0 {
		t.Fatalf("claimed early: %+v", early)
	}
	exec(t, db, `UPDATE delivery SET wake_at = now() WHERE wake_at IS NOT NULL`)
	claims := must(db.ClaimDue(ctx, n.ID, 100, testLease, 0))(t).Claims
	var results []Result
	for _, c := range claims {
		if c.Charged != 1 || c.Fence != 2 || c.Attempts != 2 {
			t.Fatalf("claim of a retry: %+v", c)
		}
		results = append(results, resultOf(c, OutcomeSent))
	}
	must(db.Record(ctx, results, 1))(t)
	feeds := must(db.Feeds(ctx))(t)
	if len(feeds) != 1 || feeds[0].Open != 0 || feeds[0].Ranges != 0 || !feeds[0].Cut {
		t.Fatalf("feeds: %+v", feeds)
	}
	if !must(db.FinishNotice(ctx, term, n.ID, feeds[0].Version))(t) {
		t.Fatal("not finished")
	}
	p := must(db.Progress(ctx, n.ID))(t)
	if p.Notice.State != Finished || p.Counts.Sent != 1199 || len(p.Reasons) != 1 || p.Notice.FirstCallAt == nil {
		t.Fatalf("progress: %+v", p)
	}
}

func TestReplayPutsBackOnce(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	seed(t, db, 10)
	n := accept(t, db, Draft{Title: "t", Body: "b"})
	term, rings := feed(t, db, n.ID, 500)
	w := must(db.TakeRange(ctx, rings[0], 0))(t)
	claims := must(db.ClaimRange(ctx, n.ID, 0, w.LastID, 100, testLease, 0))(t).Claims
	var results []Result
	for i, c := range claims {
		r := resultOf(c, OutcomeTransient)
		r.Move.Status = "failed"
		if i < 3 {
			r = resultOf(c, OutcomeDead)
		}
		results = append(results, r)
	}
	must(db.Record(ctx, results, 0))(t)
	must(db.EndRange(ctx, rings[0]))(t)
	feeds := must(db.Feeds(ctx))(t)
	if !must(db.FinishNotice(ctx, term, n.ID, feeds[0].Version))(t) {
		t.Fatal("not finished")
	}

	page := must(db.Archive(ctx, ArchiveFilter{}, "", 4))(t)
	if len(page.Items) != 4 || page.Next == "" {
		t.Fatalf("archive page: %+v", page)
	}
	rest := must(db.Archive(ctx, ArchiveFilter{Notice: &n.ID}, page.Next, 100))(t)
	if len(rest.Items) != 6 || rest.Next != "" {
		t.Fatalf("rest of the archive: %d", len(rest.Items))
	}
	one := must(db.StartReplayFilter(ctx, ArchiveFilter{Notice: &n.ID}, someone))(t)
	two := must(db.StartReplayItems(ctx, []Pair{{n.ID, claims[9].DeviceID}, {n.ID, 999}}, someone))(t)
	if one.Matched != 10 || two.Matched != 1 {
		t.Fatalf("matched %d and %d", one.Matched, two.Matched)
	}
	for _, id := range must(db.OpenReplays(ctx))(t) {
		for !must(db.StepReplay(ctx, term, id, 4))(t) {
			sums(t, db, n.ID)
		}
	}
	one, two = must(db.Replay(ctx, one.ID))(t), must(db.Replay(ctx, two.ID))(t)
	if one.Replayed != 7 || one.Skipped["device_disabled"] != 3 || one.State != "done" || two.Replayed != 0 {
		t.Fatalf("replays: %+v %+v", one, two)
	}
	c := sums(t, db, n.ID)
	if c.Pending != 7 || c.Failed != 3 {
		t.Fatalf("counts: %+v", c)
	}
	if got, _, _ := db.Notice(ctx, n.ID); got.State != Sending {
		t.Fatalf("the notice is %s", got.State)
	}
	claims = must(db.ClaimDue(ctx, n.ID, 100, testLease, 0))(t).Claims
	if len(claims) != 7 || claims[0].KeyNo != 2 || claims[0].Generation != 2 || claims[0].Charged != 0 {
		t.Fatalf("claims: %+v", claims)
	}
}
