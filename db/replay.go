package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxReplayItems is how many deliveries one replay can list by name.
const MaxReplayItems = 10_000

// Replay is one run of putting archived deliveries back.
type Replay struct {
	ID          int64
	State       string // pending, running, paused, cancelled or done
	Matched     int64  // when it was asked for, or planned
	Replayed    int64
	Skipped     map[string]int64 // by reason
	FailedAgain int64            // of those replayed, by now; one above MaxFailedAgain: more than that
	Filter      *ArchiveFilter   // nil: the listed ones
	AskedByName string
	AskedAt     time.Time // those that failed later do not belong to it
	FinishedAt  *time.Time
}

const replayColumns = `id, state, matched, replayed, skipped, filter, asked_by_name, asked_at, finished_at,
	(SELECT count(*) FROM (SELECT FROM delivery d WHERE d.replay_id = replay.id AND d.failed_at IS NOT NULL LIMIT 10001) x) AS failed_again`

// MaxFailedAgain is up to where those that failed again are counted: a page that
// asks each second shall not count a million.
const MaxFailedAgain = 10_000

// selected are the deliveries that somebody wants to have back: those that a
// filter selects, or those that are listed.
type selected struct {
	filter *ArchiveFilter
	pairs  []Pair
}

// selectFilter takes a filter. An empty or wrong one is an *InvalidError.
func selectFilter(f ArchiveFilter) (selected, error) {
	if f.Empty() {
		return selected{}, Invalid("filter", "is empty: name a notice, a reason, a code, a platform or a time")
	}
	return selected{filter: &f}, f.Check()
}

// selectPairs takes a list. An empty or too long one is an *InvalidError.
func selectPairs(items []Pair) (selected, error) {
	if len(items) == 0 {
		return selected{}, Invalid("deliveries", "is empty: name at least one delivery")
	}
	if len(items) > MaxReplayItems {
		return selected{}, Invalid("deliveries", "holds %d, at most %d go at once: use a filter", len(items), MaxReplayItems)
	}
	pairs := slices.Clone(items)
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmpPair(a, b)
	})
	return selected{pairs: slices.Compact(pairs)}, nil
}

func cmpPair(a, b Pair) int {
	switch {
	case a == b:
		return 0
	case a.NoticeID < b.NoticeID || a.NoticeID == b.NoticeID && a.DeviceID < b.DeviceID:
		return -1
	default:
		return 1
	}
}

// digest names what is selected: the same for the same selection.
func (s selected) digest() string {
	if s.filter != nil {
		return "filter:" + s.filter.canonical()
	}
	h := sha256.New()
	for _, p := range s.pairs {
		_ = binary.Write(h, binary.BigEndian, p) // a hash takes everything
	}
	return "list:" + hex.EncodeToString(h.Sum(nil))
}

// firstNotice is the first notice that it can be about; 0: any. A run begins there.
func (s selected) firstNotice() int64 {
	switch {
	case s.filter != nil && s.filter.Notice != nil:
		return *s.filter.Notice
	case len(s.pairs) > 0:
		return s.pairs[0].NoticeID
	default:
		return 0
	}
}

// columns are the listed pairs as two columns.
func (s selected) columns() (notices, devices []int64) {
	notices, devices = make([]int64, len(s.pairs)), make([]int64, len(s.pairs))
	for i, p := range s.pairs {
		notices[i], devices[i] = p.NoticeID, p.DeviceID
	}
	return notices, devices
}

// detail is what the audit log says of the selection.
func (s selected) detail() map[string]any {
	if s.filter != nil {
		return map[string]any{"filter": s.filter}
	}
	return map[string]any{"listed": len(s.pairs)}
}

// StartReplayFilter has all archived deliveries that f selects at this moment
// put back by the feeder. While a run of the same filter has not ended, it gives
// that run. An empty or wrong filter is an *InvalidError.
func (db *DB) StartReplayFilter(ctx context.Context, f ArchiveFilter, by Actor) (_ Replay, err error) {
	defer wrap(&err, "StartReplayFilter")
	s, err := selectFilter(f)
	if err != nil {
		return Replay{}, err
	}
	return db.startReplay(ctx, s, by)
}

// StartReplayItems has the listed deliveries put back. One that is not archived
// is not matched. While a run of the same list has not ended, it gives that run.
// An empty or too long list is an *InvalidError.
func (db *DB) StartReplayItems(ctx context.Context, items []Pair, by Actor) (_ Replay, err error) {
	defer wrap(&err, "StartReplayItems")
	s, err := selectPairs(items)
	if err != nil {
		return Replay{}, err
	}
	return db.startReplay(ctx, s, by)
}

func (db *DB) startReplay(ctx context.Context, s selected, by Actor) (r Replay, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var matched int64
		var at time.Time
		if err := tx.QueryRow(ctx, `SELECT now()`).Scan(&at); err != nil {
			return err
		}
		counts, err := countSelected(ctx, tx, s)
		if err != nil {
			return err
		}
		for _, n := range counts {
			matched += n
		}
		r, err = addReplay(ctx, tx, s, matched, at, by)
		return err
	})
	return r, err
}

// addReplay adds a run, with its row in the audit log, or gives the one of the
// same selection that has not ended.
func addReplay(ctx context.Context, tx pgx.Tx, s selected, matched int64, at time.Time, by Actor) (Replay, error) {
	var id int64
	for range 3 { // the other one may end between the two statements
		err := tx.QueryRow(ctx, `
			INSERT INTO replay (filter, selection, matched, asked_by, asked_by_name, asked_at, at_notice) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (selection) WHERE state IN ('pending', 'running', 'paused') DO NOTHING
			RETURNING id`, s.filter, s.digest(), matched, by.ID, by.Name, at, s.firstNotice()).Scan(&id)
		if err == nil {
			return fillReplay(ctx, tx, id, s, matched, by)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return Replay{}, err
		}
		err = tx.QueryRow(ctx, `
			SELECT id FROM replay WHERE selection = $1 AND state IN ('pending', 'running', 'paused')`, s.digest()).Scan(&id)
		if err == nil {
			return replayByID(ctx, tx, id)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return Replay{}, err
		}
	}
	return Replay{}, ErrStale
}

func fillReplay(ctx context.Context, tx pgx.Tx, id int64, s selected, matched int64, by Actor) (Replay, error) {
	notices, devices := s.columns()
	if _, err := tx.Exec(ctx, `
		INSERT INTO replay_item (replay_id, notice_id, device_id)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[])`, id, notices, devices); err != nil {
		return Replay{}, err
	}
	detail := s.detail()
	detail["matched"] = matched
	if err := addAudit(ctx, tx, by, "archive.replay", fmt.Sprintf("replay:%d", id), detail); err != nil {
		return Replay{}, err
	}
	return replayByID(ctx, tx, id)
}

// Replay tells how far replay id is; ErrNotFound.
func (db *DB) Replay(ctx context.Context, id int64) (_ Replay, err error) {
	defer wrap(&err, "Replay(%d)", id)
	ctx, cancel := db.bound(ctx)
	defer cancel()
	r, err := replayByID(ctx, db.pool, id)
	return r, db.noticed(err)
}

func replayByID(ctx context.Context, q querier, id int64) (Replay, error) {
	rows, err := q.Query(ctx, `SELECT `+replayColumns+` FROM replay WHERE id = $1`, id)
	if err != nil {
		return Replay{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Replay])
	return r, orNotFound(err)
}

// Replays lists the newest runs, at most limit, and before them any that have not
// ended.
func (db *DB) Replays(ctx context.Context, limit int) (list []Replay, err error) {
	defer wrap(&err, "Replays")
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[Replay](q.Query(ctx, `
			SELECT `+replayColumns+` FROM replay WHERE id IN (
				SELECT id FROM replay WHERE state IN ('pending', 'running', 'paused')
				UNION (SELECT id FROM replay ORDER BY id DESC LIMIT $1))
			ORDER BY finished_at IS NOT NULL, id DESC LIMIT $1`, limit))
		return err
	})
	return list, err
}

// OpenReplays lists the replays that have work for the feeder, oldest first.
func (db *DB) OpenReplays(ctx context.Context) (ids []int64, err error) {
	defer wrap(&err, "OpenReplays")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `SELECT id FROM replay WHERE state IN ('pending', 'running') ORDER BY id`)
	if err != nil {
		return nil, db.noticed(err)
	}
	ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, db.noticed(err)
}
