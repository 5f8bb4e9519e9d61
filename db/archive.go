package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ArchivedDelivery is a failed delivery with what a person wants to know of it.
type ArchivedDelivery struct {
	Delivery
	NoticeTitle    string
	Platform       string
	DeviceDisabled bool
}

// Archive lists failed deliveries, the newest notice first, then by device id.
func (db *DB) Archive(ctx context.Context, f ArchiveFilter, after string, limit int) (_ Page[ArchivedDelivery], err error) {
	defer wrap(&err, "Archive")
	var none Page[ArchivedDelivery]
	if err := f.Check(); err != nil {
		return none, err
	}
	if err := checkLimit(limit); err != nil {
		return none, err
	}
	cur, err := parseCursor(after, 2)
	if err != nil {
		return none, err
	}
	if cur == nil {
		cur = cursor{1<<63 - 1, 0}
	}
	ctx, cancel := db.bound(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, `
		SELECT `+deliveryColumns+`, n.title AS notice_title, v.platform, v.disabled_at IS NOT NULL AS device_disabled
		FROM (
			(SELECT * FROM delivery d WHERE `+archiveMatches+` AND d.notice_id = @at_notice AND d.device_id > @at_device
				ORDER BY d.device_id LIMIT @limit)
			UNION ALL
			(SELECT x.* FROM (SELECT id FROM notice WHERE id < @at_notice AND (@by_notice::bigint IS NULL OR id = @by_notice) ORDER BY id DESC) o
				CROSS JOIN LATERAL (SELECT * FROM delivery d WHERE `+archiveMatches+` AND d.notice_id = o.id
					ORDER BY d.device_id LIMIT @limit) x LIMIT @limit)
			LIMIT @limit
		) d JOIN notice n ON n.id = d.notice_id JOIN device v ON v.id = d.device_id
		ORDER BY d.notice_id DESC, d.device_id`, f.args(pgx.StrictNamedArgs{"at_notice": cur[0], "at_device": cur[1], "limit": limit + 1}))
	if err != nil {
		return none, db.noticed(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[ArchivedDelivery])
	if err != nil {
		return none, db.noticed(err)
	}
	return page(list, limit, func(d ArchivedDelivery) cursor { return cursor{d.NoticeID, d.DeviceID} }), nil
}

// ArchiveCount tells how many failed deliveries f selects. By notice and reason
// it reads tallies, otherwise it counts.
func (db *DB) ArchiveCount(ctx context.Context, f ArchiveFilter) (n int64, err error) {
	defer wrap(&err, "ArchiveCount")
	if err := f.Check(); err != nil {
		return 0, err
	}
	ctx, cancel := db.bound(ctx)
	defer cancel()
	if f.Tallied() {
		err = db.pool.QueryRow(ctx, `
			SELECT coalesce(sum(n), 0)::bigint FROM notice_reason
			WHERE status = 'failed' AND ($1::bigint IS NULL OR notice_id = $1) AND ($2 = '' OR reason = $2)`,
			f.Notice, f.Reason).Scan(&n)
	} else {
		err = db.pool.QueryRow(ctx, `SELECT count(*) FROM delivery d WHERE `+archiveMatches, f.args(nil)).Scan(&n)
	}
	return n, db.noticed(err)
}

// ArchiveReasons tells how many failed for each reason, of one notice or of all.
func (db *DB) ArchiveReasons(ctx context.Context, notice *int64) (_ []ReasonCount, err error) {
	defer wrap(&err, "ArchiveReasons")
	ctx, cancel := db.bound(ctx)
	defer cancel()
	list, err := reasonCounts(ctx, db.pool, notice, "failed")
	return list, db.noticed(err)
}

// BeginArchiveExport notes in the audit log that by takes out what f selects.
func (db *DB) BeginArchiveExport(ctx context.Context, f ArchiveFilter, by Actor) (err error) {
	defer wrap(&err, "BeginArchiveExport")
	if err := f.Check(); err != nil {
		return err
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return addAudit(ctx, tx, by, "archive.export", "archive", map[string]any{"filter": f})
	})
}
