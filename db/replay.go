package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxReplayItems is how many deliveries one replay can list by name.
const MaxReplayItems = 10_000

// Replay is one act of putting archived deliveries back.
type Replay struct {
	ID          int64
	State       string // pending, running or done
	Matched     int64  // when it was asked for
	Replayed    int64
	Skipped     map[string]int64 // by reason
	Filter      *ArchiveFilter   // nil: the listed ones
	AskedByName string
	AskedAt     time.Time
	FinishedAt  *time.Time
}

const replayColumns = `id, state, matched, replayed, skipped, filter, asked_by_name, asked_at, finished_at`

// StartReplayFilter has all archived deliveries that f selects at this moment
// put back by the feeder. An empty filter is an *InvalidError.
func (db *DB) StartReplayFilter(ctx context.Context, f ArchiveFilter, by Actor) (_ Replay, err error) {
	defer wrap(&err, "StartReplayFilter")
	if f.Empty() {
		return Replay{}, Invalid("filter", "is empty: name a notice, a reason or a code")
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return Replay{}, err
	}
	return db.startReplay(ctx, by, map[string]any{"filter": f}, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		var id int64
		err := tx.QueryRow(ctx, `
			INSERT INTO replay (filter, matched, asked_by, asked_by_name)
			SELECT $4, (SELECT count(*) FROM delivery d WHERE `+archiveMatches+`), $5, $6
			RETURNING id`, f.Notice, f.Reason, f.Code, raw, by.ID, by.Name).Scan(&id)
		return id, err
	})
}

// StartReplayItems has the listed deliveries put back. One that is not archived
// is not matched. An empty or too long list is an *InvalidError.
func (db *DB) StartReplayItems(ctx context.Context, items []Pair, by Actor) (_ Replay, err error) {
	defer wrap(&err, "StartReplayItems")
	if len(items) == 0 {
		return Replay{}, Invalid("deliveries", "is empty: name at least one delivery")
	}
	if len(items) > MaxReplayItems {
		return Replay{}, Invalid("deliveries", "holds %d, at most %d go at once: use a filter", len(items), MaxReplayItems)
	}
	notice, device := make([]int64, len(items)), make([]int64, len(items))
	for i, p := range items {
		notice[i], device[i] = p.NoticeID, p.DeviceID
	}
	return db.startReplay(ctx, by, map[string]any{"listed": len(items)}, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		var id int64
		err := tx.QueryRow(ctx, `
			INSERT INTO replay (matched, asked_by, asked_by_name) VALUES (0, $1, $2) RETURNING id`, by.ID, by.Name).Scan(&id)
		if err != nil {
			return 0, err
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO replay_item (replay_id, notice_id, device_id)
			SELECT DISTINCT $1::bigint, d.notice_id, d.device_id
			FROM unnest($2::bigint[], $3::bigint[]) AS x (notice_id, device_id)
			JOIN delivery d USING (notice_id, device_id) WHERE d.failed_at IS NOT NULL`, id, notice, device)
		if err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, `UPDATE replay SET matched = $2 WHERE id = $1`, id, tag.RowsAffected())
		return id, err
	})
}

func (db *DB) startReplay(ctx context.Context, by Actor, detail map[string]any,
	insert func(context.Context, pgx.Tx) (int64, error)) (r Replay, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		id, err := insert(ctx, tx)
		if err != nil {
			return err
		}
		if r, err = replayByID(ctx, tx, id); err != nil {
			return err
		}
		detail["matched"] = r.Matched
		return addAudit(ctx, tx, by, "archive.replay", fmt.Sprintf("replay:%d", id), detail)
	})
	return r, err
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

// OpenReplays lists the replays that are not done, oldest first.
func (db *DB) OpenReplays(ctx context.Context) (ids []int64, err error) {
	defer wrap(&err, "OpenReplays")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `SELECT id FROM replay WHERE state <> 'done' ORDER BY id`)
	if err != nil {
		return nil, db.noticed(err)
	}
	ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	return ids, db.noticed(err)
}
