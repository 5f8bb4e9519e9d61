package db

import (
	"context"
	"time"
)

// The parts of an exchange, each alone, for tests of one of them.

func (db *DB) ClaimRange(ctx context.Context, notice, after, last int64, limit int, lease time.Duration, shard int) (Batch, error) {
	return db.claimOne(ctx, Want{Scope: "http", Notice: notice, After: after, Last: last, Limit: limit}, lease, shard)
}

func (db *DB) ClaimDue(ctx context.Context, notice int64, limit int, lease time.Duration, shard int) (Batch, error) {
	return db.claimOne(ctx, Want{Scope: "http", Notice: notice, Due: true, Limit: limit}, lease, shard)
}

func (db *DB) claimOne(ctx context.Context, w Want, lease time.Duration, shard int) (Batch, error) {
	_, batches, err := db.Exchange(ctx, nil, []Want{w}, lease, shard)
	if err != nil {
		return Batch{}, err
	}
	return batches[0], nil
}

func (db *DB) Record(ctx context.Context, results []Result, shard int) ([]Claim, error) {
	stale, _, err := db.Exchange(ctx, results, nil, 0, shard)
	return stale, err
}
