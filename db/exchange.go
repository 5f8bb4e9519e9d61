package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Exchange writes results and takes claims in one transaction and one round
// trip, so that the call slots which the results free can carry the claims at
// once. Either part may be empty.
//
// A result is written in all its parts (ledger, attempt, counters, tallies,
// device) or not at all: a delivery that has another status or fence by now is
// left alone, and its claim is in stale. There is one batch for each want, and
// each claim holds for the time of lease; its attempt is counted already. After
// an error nothing has happened, unless the answer of the commit was lost; to
// give the same results again is right in both cases.
func (db *DB) Exchange(ctx context.Context, results []Result, wants []Want, lease time.Duration, shard int) (
	stale []Claim, batches []Batch, err error) {
	defer wrap(&err, "Exchange(%d results, %d wants)", len(results), len(wants))
	ctx, cancel := db.bound(ctx)
	defer cancel()
	results = byDevice(results)
	wants, place := byNotice(wants)
	var sorted []Batch
	for try := 1; ; try++ {
		stale, sorted, err = db.exchange(ctx, results, wants, lease, shard)
		if pgCode(err) != "40P01" || try == exchangeTries {
			break
		}
	}
	if err != nil {
		return nil, nil, db.noticed(err)
	}
	db.begun.add(results)
	batches = make([]Batch, len(sorted))
	for i, b := range sorted {
		batches[place[i]] = b
	}
	return stale, batches, nil
}

// exchange tries once.
func (db *DB) exchange(ctx context.Context, results []Result, wants []Want, lease time.Duration, shard int) (
	stale []Claim, batches []Batch, err error) {
	var b pgx.Batch
	notices := noticesOf(results, wants)
	if len(notices) > 1 {
		b.Queue(lockCountersSQL, shard%shards, notices)
	}
	if len(results) > 0 {
		b.Queue(db.recordStatement(results), recordArgs(results, shard))
	}
	for _, w := range wants {
		sql, args := w.query(lease, shard)
		b.Queue(sql, args)
	}
	answers := db.pool.SendBatch(ctx, &b)
	if len(notices) > 1 {
		_, err = answers.Exec()
	}
	if err == nil {
		stale, batches, err = readAnswers(answers, results, wants)
	}
	return stale, batches, errors.Join(err, answers.Close())
}

func readAnswers(answers pgx.BatchResults, results []Result, wants []Want) (stale []Claim, batches []Batch, err error) {
	if len(results) > 0 {
		rows, err := answers.Query()
		if err != nil {
			return nil, nil, err
		}
		if stale, err = readStale(rows, results); err != nil {
			return nil, nil, err
		}
	}
	batches = make([]Batch, len(wants))
	for i := range wants {
		rows, err := answers.Query()
		if err != nil {
			return nil, nil, err
		}
		if batches[i], err = readBatch(rows); err != nil {
			return nil, nil, err
		}
	}
	return stale, batches, nil
}
