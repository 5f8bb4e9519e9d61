package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// ReplayPlan is what somebody sees before a replay begins. The set is frozen by
// AskedAt: what fails later does not belong to it.
type ReplayPlan struct {
	ID          int64
	Filter      *ArchiveFilter // nil: those that were listed
	Notices     []int64        // the listed ones, beside Devices
	Devices     []int64
	Matched     int64
	Refused     map[string]int64 // of them, whom a replay would skip, by reason, as it was then
	AskedByName string
	AskedAt     time.Time
	ReplayID    *int64 // the run that it became
}

// planKept is how long a plan is kept that nobody began.
const planKept = 24 * time.Hour

// PlanReplayFilter counts what a replay of all that f selects would do. An empty
// or wrong filter is an *InvalidError.
func (db *DB) PlanReplayFilter(ctx context.Context, f ArchiveFilter, by Actor) (_ ReplayPlan, err error) {
	defer wrap(&err, "PlanReplayFilter")
	s, err := selectFilter(f)
	if err != nil {
		return ReplayPlan{}, err
	}
	return db.planReplay(ctx, s, by)
}

// PlanReplayItems counts what a replay of the listed ones would do. One that is
// not archived is not matched. An empty or too long list is an *InvalidError.
func (db *DB) PlanReplayItems(ctx context.Context, items []Pair, by Actor) (_ ReplayPlan, err error) {
	defer wrap(&err, "PlanReplayItems")
	s, err := selectPairs(items)
	if err != nil {
		return ReplayPlan{}, err
	}
	return db.planReplay(ctx, s, by)
}

func (db *DB) planReplay(ctx context.Context, s selected, by Actor) (p ReplayPlan, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		refused, err := countSelected(ctx, tx, s)
		if err != nil {
			return err
		}
		var matched int64
		for _, n := range refused {
			matched += n
		}
		delete(refused, "")
		if _, err := tx.Exec(ctx, `
			DELETE FROM replay_plan WHERE replay_id IS NULL AND asked_at < now() - $1::interval`, planKept); err != nil {
			return err
		}
		notices, devices := s.columns()
		var id int64
		if err := tx.QueryRow(ctx, `
			INSERT INTO replay_plan (filter, notices, devices, matched, refused, asked_by, asked_by_name)
			VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
			s.filter, notices, devices, matched, refused, by.ID, by.Name).Scan(&id); err != nil {
			return err
		}
		p, err = planByID(ctx, tx, id, "")
		return err
	})
	return p, err
}

// countSelected counts what is selected, by the reason why a replay would skip
// it; "" is that of those it would put back.
func countSelected(ctx context.Context, q querier, s selected) (map[string]int64, error) {
	var f ArchiveFilter
	if s.filter != nil {
		f = *s.filter
	}
	notices, devices := s.columns()
	rows, err := q.Query(ctx, `
		SELECT coalesce(refusal, ''), count(*) FROM (
			SELECT `+replayRefusal+` AS refusal
			FROM delivery d JOIN device v ON v.id = d.device_id JOIN notice n ON n.id = d.notice_id
			WHERE `+archiveMatches+` AND (@all OR (d.notice_id, d.device_id) IN (
				SELECT * FROM unnest(@notices::bigint[], @devices::bigint[])))
		) x GROUP BY 1`, f.args(pgx.StrictNamedArgs{"all": s.filter != nil, "notices": notices, "devices": devices}))
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	var reason string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&reason, &n}, func() error {
		counts[reason] = n
		return nil
	})
	return counts, err
}

// ReplayPlan gives plan id; ErrNotFound where it is none, or an old one that
// nobody began.
func (db *DB) ReplayPlan(ctx context.Context, id int64) (p ReplayPlan, err error) {
	defer wrap(&err, "ReplayPlan(%d)", id)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		p, err = planByID(ctx, q, id, "")
		return err
	})
	return p, err
}

func planByID(ctx context.Context, q querier, id int64, lock string) (ReplayPlan, error) {
	rows, err := q.Query(ctx, `
		SELECT id, filter, notices, devices, matched, refused, asked_by_name, asked_at, replay_id
		FROM replay_plan WHERE id = $1 AND (replay_id IS NOT NULL OR asked_at > now() - $2::interval) `+lock, id, planKept)
	if err != nil {
		return ReplayPlan{}, err
	}
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[ReplayPlan])
	return p, orNotFound(err)
}

// StartPlan begins the run of plan id, over the set as it was planned. A second
// press gives the run that there is. Where a run of the same selection that was
// asked for before has not ended, it gives that one and other is true: what failed
// in between belongs to no run. ErrNotFound; *ConflictError nothing_to_replay where
// nobody would be told.
func (db *DB) StartPlan(ctx context.Context, id int64, by Actor) (r Replay, other bool, err error) {
	defer wrap(&err, "StartPlan(%d)", id)
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		p, err := planByID(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		if p.ReplayID != nil {
			r, err = replayByID(ctx, tx, *p.ReplayID)
			return err
		}
		if r, err = addReplay(ctx, tx, p.selected(), p.Matched, p.AskedAt, by); err != nil {
			return err
		}
		if other = !r.AskedAt.Equal(p.AskedAt); !other && p.nobody() {
			return &ConflictError{Code: "nothing_to_replay",
				Message: "nothing of this would be put back: make a new plan if that has changed meanwhile"}
		}
		_, err = tx.Exec(ctx, `UPDATE replay_plan SET replay_id = $2 WHERE id = $1`, id, r.ID)
		return err
	})
	return r, other, err
}

// nobody tells whether a run would put nothing back.
func (p ReplayPlan) nobody() bool {
	n := p.Matched
	for _, refused := range p.Refused {
		n -= refused
	}
	return n == 0
}

func (p ReplayPlan) selected() selected {
	s := selected{filter: p.Filter}
	for i := range p.Notices {
		s.pairs = append(s.pairs, Pair{p.Notices[i], p.Devices[i]})
	}
	return s
}
