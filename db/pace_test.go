package db

import (
	"slices"
	"testing"
	"time"
)

func TestPaceWidth(t *testing.T) {
	const noon = 1_800_000_000 // a multiple of 6 h, less 8 h
	for _, c := range []struct{ from, took, want int64 }{
		{noon, 0, 1}, {noon, 59, 1}, {noon, 60, 5}, {noon, 299, 5}, {noon, 300, 15}, {noon, 900, 60}, {noon, 3600, 300},
		{noon, 5 * 3600, 900}, {noon, 15 * 3600, 3600}, {noon, 24 * 3600, 3600}, {noon, 60 * 3600, 21600},
		{noon, 14 * day, 21600}, {noon, 16 * day, day}, {noon, 400 * day, 7 * day}, {1, 1 << 40, 212098 * day},
		{noon + 4, 296, 15}, // 61 steps of 5 s begin in it
		{noon, -100, 1},
	} {
		got := paceWidth(c.from, c.from+c.took)
		if got != c.want {
			t.Errorf("%d s from %d: %d s wide, want %d", c.took, c.from, got, c.want)
		}
		if n := (c.from+c.took)/got - c.from/got + 1; n > paceSteps {
			t.Errorf("%d s: %d steps", c.took, n)
		}
	}
}

func TestPaceOf(t *testing.T) {
	at := func(s string) time.Time { return must(time.Parse(time.RFC3339, s))(t) }
	began, over := at("2026-12-31T23:59:58Z"), at("2027-01-01T00:00:03Z")
	done := Notice{State: Finished, StartedAt: &began, FirstCallAt: &began, FinishedAt: &over}
	rows := []paceRow{{began, 10, 0, 0}, {at("2027-01-01T00:00:00Z"), 30, 2, 0}, {over, 40, 3, 2}}
	p := paceOf(done, Counts{Sent: 40, Failed: 1}, rows, at("2027-03-01T00:00:00Z"))
	var got [][3]int64
	for _, s := range p.Steps {
		got = append(got, [3]int64{s.Sent, s.Failed, s.Back})
	}
	if want := [][3]int64{{10, 0, 0}, {}, {20, 2, 0}, {}, {}, {10, 1, 2}}; !slices.Equal(got, want) {
		t.Errorf("over midnight: %v, want %v", got, want)
	}
	if p.Width != time.Second || !p.From.Equal(began) || !p.To.Equal(over) || !p.Steps[2].At.Equal(at("2027-01-01T00:00:00Z")) {
		t.Errorf("%+v", p)
	}
	sending := Notice{State: Sending, StartedAt: &began, FirstCallAt: &began}
	for name, c := range map[string]struct {
		n     Notice
		c     Counts
		rows  []paceRow
		now   time.Time
		steps int
		pace  Pace
	}{
		"nothing yet":             {n: sending, now: over},
		"nothing kept":            {n: done, c: Counts{Sent: 5}, now: over, pace: Pace{Unkept: true}},
		"one step":                {n: sending, c: Counts{Sent: 5}, now: began, steps: 1},
		"not yet kept":            {n: sending, c: Counts{Sent: 5}, now: over, steps: 6},
		"more than was kept":      {n: done, c: Counts{Sent: 50, Failed: 1}, rows: rows, now: over, steps: 6},
		"a clock that jumped":     {n: sending, c: Counts{Sent: 40}, rows: []paceRow{{over, 40, 0, 0}}, now: began, steps: 6},
		"paused":                  {n: Notice{State: Paused, StateAt: over, StartedAt: &began, FirstCallAt: &began}, c: Counts{Sent: 10, Pending: 1}, rows: rows[:1], now: over.AddDate(1, 0, 0), steps: 6},
		"a year":                  {n: sending, c: Counts{Sent: 10}, rows: rows[:1], now: began.AddDate(1, 0, 0), steps: 53},
		"as many as there can be": {n: sending, c: Counts{Sent: 1<<63 - 1, Failed: 1<<63 - 1}, rows: []paceRow{{began, 1 << 62, 1 << 62, 0}}, now: over, steps: 6},
	} {
		p := paceOf(c.n, c.c, c.rows, c.now)
		if len(p.Steps) != c.steps || p.Unkept != c.pace.Unkept {
			t.Errorf("%s: %d steps, want %d; %+v", name, len(p.Steps), c.steps, p)
		}
		if c.steps > 0 {
			wantPace(t, name, p, c.c)
		}
	}
}

// wantPace fails unless the steps add up to the counts.
func wantPace(t testing.TB, name string, p Pace, c Counts) {
	t.Helper()
	var sent, failed int64
	for _, s := range p.Steps {
		sent, failed = sent+s.Sent, failed+s.Failed-s.Back
	}
	if sent != c.Sent || failed != c.Failed {
		t.Errorf("%s: %d sent and %d failed in the steps, %d and %d in the counts", name, sent, failed, c.Sent, c.Failed)
	}
}

// ago moves what was kept, and the notice's times, into the past.
func (s *scene) ago(d time.Duration) {
	s.Helper()
	exec(s, s.db, `UPDATE notice SET started_at = started_at - $2::interval, first_call_at = first_call_at - $2::interval WHERE id = $1`, s.id, d)
	// in two moves, so that no row meets another on its way
	exec(s, s.db, `UPDATE notice_pace SET at = at - interval '1000 years' - $2::interval WHERE notice_id = $1`, s.id, d)
	exec(s, s.db, `UPDATE notice_pace SET at = at + interval '1000 years' WHERE notice_id = $1`, s.id)
}

func (s *scene) rowsOfPace() []paceRow {
	s.Helper()
	return must(paceRows(s.Context(), s.db.pool, s.id))(s)
}

func TestPaceIsKeptAndAddsUp(t *testing.T) {
	s := newScene(t, 60)
	ctx := t.Context()
	keep := func() { t.Helper(); ok(t, s.db.KeepPace(ctx, s.term)) }
	keep()
	if rows := s.rowsOfPace(); len(rows) > 0 {
		t.Fatalf("kept before anything was sent: %v", rows)
	}
	step := func(outcome string, n int) {
		t.Helper()
		s.record(outcome, s.claim(n)...)
		keep()
		before := s.rowsOfPace()
		keep() // again adds nothing
		if after := s.rowsOfPace(); !slices.Equal(after, before) {
			t.Errorf("keeping again wrote %v over %v", after, before)
		}
		p := must(s.db.Progress(ctx, s.id))(t)
		wantPace(t, outcome, p.Pace, p.Counts)
	}
	step(OutcomeSent, 10)
	s.ago(90 * time.Second)
	step(OutcomeSent, 10)
	step(OutcomePermanent, 5)
	s.ago(20 * time.Minute)
	step(OutcomeSent, 10)
	s.ago(30 * time.Hour)
	step(OutcomeSent, 10)
	// The last of them are kept with the end.
	s.record(OutcomeSent, s.claim(10)...)
	s.record(OutcomePermanent, s.claim(10)...)
	s.finish()
	rows := s.rowsOfPace()
	if last := rows[len(rows)-1]; last.Sent != 50 || last.Failed != 10 || len(rows) > 5 {
		t.Errorf("kept at the end: %+v", rows)
	}
	if width := last(rows).At.Unix() % 3600; width != 0 {
		t.Errorf("the last row begins %d s after the hour, though steps are an hour wide", width)
	}
	// A replay goes on with the chart.
	replay := must(s.db.StartReplayFilter(ctx, ArchiveFilter{Notice: &s.id}, someone))(t)
	for !must(s.db.StepReplay(ctx, s.term, replay.ID, 100))(t) {
		keep()
	}
	p := must(s.db.Progress(ctx, s.id))(t)
	wantPace(t, "replayed", p.Pace, p.Counts)
	if back := last(p.Pace.Steps).Back; back != 10 || p.Counts.Failed != 0 {
		t.Errorf("%d were put back", back)
	}
	s.record(OutcomeSent, s.due(100)...)
	s.finish()
	p = must(s.db.Progress(ctx, s.id))(t)
	wantPace(t, "at the end", p.Pace, p.Counts)
	if last(s.rowsOfPace()).Sent != 60 {
		t.Errorf("kept at the end of a replay: %v", s.rowsOfPace())
	}
}

func last[T any](list []T) T { return list[len(list)-1] }

func TestPaceHasFewRows(t *testing.T) {
	s := newScene(t, 2)
	s.record(OutcomeSent, s.claim(1)...)
	exec(t, s.db, `UPDATE notice SET started_at = now() - interval '24 hours', first_call_at = now() - interval '24 hours' WHERE id = $1`, s.id)
	ok(t, s.db.KeepPace(t.Context(), s.term))
	if at := s.rowsOfPace()[0].At; at.Unix()%3600 != 0 {
		t.Errorf("after 24 hours a step begins at %v", at)
	}
	// What every second of 24 hours leaves: each row as wide as the time allows.
	n, last := 0, int64(0)
	for at := int64(0); at <= day; at++ {
		if key := max(at/paceWidth(0, at)*paceWidth(0, at), last); key > last || n == 0 {
			n, last = n+1, key
		}
	}
	if n > 350 {
		t.Errorf("%d rows for 24 hours", n)
	}
}

func TestPaceOfWhatAnOperatorMarksAsSent(t *testing.T) {
	s := newScene(t, 3)
	ctx := t.Context()
	s.record(OutcomeSent, s.claim(2)...)
	s.claim(1)
	s.leasesEnd()
	s.free(true)
	s.finish()
	must(s.db.ResolveUnknown(ctx, s.id, MarkSent, nil, someone))(t)
	if got := last(s.rowsOfPace()); got.Sent != 3 {
		t.Errorf("kept %+v", got)
	}
	p := must(s.db.Progress(ctx, s.id))(t)
	wantPace(t, "marked", p.Pace, p.Counts)
}
