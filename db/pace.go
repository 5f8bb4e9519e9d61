package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pace is how a notice went over time: steps of one width from its first call until
// now, or until its end. Over all of them Sent adds up to the notice's count, and
// Failed less Back to its count of failed ones.
type Pace struct {
	From, To time.Time // the first call, and now or the end
	Width    time.Duration
	Steps    []PaceStep // none: nothing was sent yet, or nothing was kept
	Unkept   bool       // it came to its end before there were steps
}

// PaceStep is what came in within one step.
type PaceStep struct {
	At     time.Time // its beginning
	Sent   int64
	Failed int64
	Back   int64 // failed ones that a replay put back
}

// paceWidths are the widths of a step, in seconds. Each is a multiple of the one
// before, and steps begin at multiples since 1970: so what was kept in small ones
// adds up in larger ones.
var paceWidths = []int64{1, 5, 15, 60, 300, 900, 3600, 21600}

// paceSteps is the most steps that there are.
const paceSteps = 60

const day = 86400

// paceWidth gives the smallest width whose steps are few enough from one moment to
// another, both in seconds since 1970. Beyond the list it is a number of days.
func paceWidth(from, to int64) int64 {
	for _, w := range paceWidths {
		if to/w-from/w < paceSteps {
			return w
		}
	}
	w := max(to/day-from/day, 0) / paceSteps * day
	for w += day; to/w-from/w >= paceSteps; {
		w += day
	}
	return w
}

// paceRow is a row of notice_pace: all that had come in by the end of a step.
type paceRow struct {
	At     time.Time
	Sent   int64
	Failed int64
	Back   int64
}

// paceRows gives what was kept of a notice, the oldest first.
func paceRows(ctx context.Context, q querier, notice int64) ([]paceRow, error) {
	return allRows[paceRow](q.Query(ctx, `SELECT at, sent, failed, back FROM notice_pace WHERE notice_id = $1 ORDER BY at`, notice))
}

// paceOf makes the steps of a notice. What the counts hold beyond the rows came in
// after the last of them.
func paceOf(n Notice, c Counts, rows []paceRow, now time.Time) Pace {
	settled := (n.State == Finished || n.State == Cancelled) && c.Open() == 0
	if len(rows) == 0 && c.Sent+c.Failed == 0 || len(rows) == 0 && settled {
		return Pace{Unkept: c.Sent+c.Failed > 0}
	}
	to := paceEnd(n, rows, now)
	var last paceRow
	if len(rows) > 0 {
		last = rows[len(rows)-1]
	}
	more := c.Failed - (last.Failed - last.Back)
	rows = append(rows, paceRow{to, c.Sent, last.Failed + max(more, 0), last.Back + max(-more, 0)})
	from := paceStart(n, rows[0].At)
	if to.Before(from) {
		to = from
	}
	w := paceWidth(from.Unix(), to.Unix())
	first := from.Unix() / w
	p := Pace{From: from, To: to, Width: time.Duration(w) * time.Second, Steps: make([]PaceStep, to.Unix()/w-first+1)}
	for i := range p.Steps {
		p.Steps[i].At = time.Unix((first+int64(i))*w, 0).UTC()
	}
	var was paceRow
	for _, r := range rows {
		s := &p.Steps[min(max(r.At.Unix()/w-first, 0), int64(len(p.Steps)-1))]
		s.Sent += r.Sent - was.Sent
		s.Failed += r.Failed - was.Failed
		s.Back += r.Back - was.Back
		was = r
	}
	return p
}

// paceStart is the first call, by the clock of the worker that made it, or the first
// row where that is earlier; not before the notice was begun.
func paceStart(n Notice, first time.Time) time.Time {
	if n.FirstCallAt != nil && n.FirstCallAt.Before(first) {
		first = *n.FirstCallAt
	}
	if n.StartedAt != nil && n.StartedAt.After(first) {
		first = *n.StartedAt
	}
	return first
}

// paceEnd is now while the notice is being sent, else when that ended or was paused.
func paceEnd(n Notice, rows []paceRow, now time.Time) time.Time {
	end := now
	switch {
	case n.State == Paused:
		end = n.StateAt
	case n.FinishedAt != nil:
		end = *n.FinishedAt
	}
	if i := len(rows) - 1; i >= 0 && rows[i].At.After(end) {
		end = rows[i].At
	}
	return end
}

// keepPace is the INSERT that keeps what has come in of the notices n that from names.
// A count of failed ones that went down is what was put back.
// A row is never before the notice's last one: where steps have grown wider, the
// last small one takes the rest of the first wide one.
func keepPace(from string) string {
	return `
	INSERT INTO notice_pace AS p (notice_id, at, sent, failed, back)
	SELECT n.id, greatest(to_timestamp(floor(extract(epoch FROM now()) / w.width)::bigint * w.width), l.at), c.sent,
		l.failed + greatest(c.failed - (l.failed - l.back), 0), l.back + greatest(l.failed - l.back - c.failed, 0)
	FROM ` + from + `
	CROSS JOIN LATERAL (SELECT coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(failed), 0)::bigint AS failed
		FROM notice_counter WHERE notice_id = n.id) c
	LEFT JOIN LATERAL (SELECT at FROM notice_pace WHERE notice_id = n.id ORDER BY at LIMIT 1) f ON true
	LEFT JOIN LATERAL (SELECT at, sent, failed, back FROM notice_pace WHERE notice_id = n.id ORDER BY at DESC LIMIT 1) k ON true
	CROSS JOIN LATERAL (SELECT k.at, coalesce(k.sent, 0) AS sent, coalesce(k.failed, 0) AS failed, coalesce(k.back, 0) AS back) l
	CROSS JOIN LATERAL (SELECT CASE WHEN n.first_call_at IS NULL AND f.at IS NULL THEN now()
		ELSE greatest(n.started_at, least(n.first_call_at, f.at)) END AS first) s
	CROSS JOIN LATERAL (SELECT coalesce(min(x), max(y)) AS width FROM unnest(@widths::bigint[]) y LEFT JOIN LATERAL (SELECT y AS x
		WHERE floor(extract(epoch FROM now()) / y) - floor(extract(epoch FROM s.first) / y) < @steps) fits ON true) w
	WHERE (c.sent, c.failed) <> (l.sent, l.failed - l.back)
	ON CONFLICT (notice_id, at) DO UPDATE SET sent = excluded.sent, failed = excluded.failed, back = excluded.back`
}

func paceArgs(more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	more["widths"], more["steps"] = paceWidths, paceSteps
	return more
}

// KeepPace keeps the counts of every notice that is not settled and has moved. Doing
// it again adds nothing.
func (db *DB) KeepPace(ctx context.Context, t Term) (err error) {
	defer wrap(&err, "KeepPace")
	return db.exec(ctx, keepPace(`(SELECT * FROM notice WHERE settled_at IS NULL AND `+leads+` ORDER BY id) n`),
		paceArgs(pgx.StrictNamedArgs{"term": t}))
}
