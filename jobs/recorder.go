package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"bongsu/db"
)

// recordMax is the most results that one statement writes.
const recordMax = 256

// recorder writes results in batches: while one batch is being committed the
// next one gathers. It keeps trying while Postgres is away. It writes on a
// context of its own, so that no end of a task or of the process's work loses a
// result that is known.
type recorder struct {
	db  *db.DB
	log *slog.Logger
	in  chan entry
	wg  sync.WaitGroup
}

// entry is a result on its way, and what to do once it is written.
type entry struct {
	result   db.Result
	recorded func()
}

// writers is how many batches are under way at once: one gathers and one commits.
const writers = 2

func newRecorder(store *db.DB, log *slog.Logger, size int) *recorder {
	return &recorder{db: store, log: log, in: make(chan entry, size)}
}

func (r *recorder) start() {
	for shard := range writers {
		r.wg.Go(func() { r.run(shard) })
	}
}

// stop writes what was handed in and ends. Nobody may hand in any more.
func (r *recorder) stop() {
	close(r.in)
	r.wg.Wait()
}

func (r *recorder) run(shard int) {
	batch := make([]entry, 0, recordMax)
	for e := range r.in {
		batch = r.gather(append(batch[:0], e))
		r.write(batch, shard)
	}
}

// gather adds what is there and what comes within a moment.
func (r *recorder) gather(batch []entry) []entry {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	for len(batch) < recordMax {
		select {
		case e, open := <-r.in:
			if !open {
				return batch
			}
			batch = append(batch, e)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// gatherFor is how long the first result of a batch waits for others.
const gatherFor = time.Millisecond

// write commits one batch, however long Postgres is away.
func (r *recorder) write(batch []entry, shard int) {
	results := make([]db.Result, len(batch))
	for i, e := range batch {
		results[i] = e.result
	}
	since := time.Now()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		stale, err := r.db.Record(context.Background(), results, shard)
		if err == nil {
			r.report(stale)
			break
		}
		r.log.Warn("results could not be recorded yet", "results", len(results), "waiting_ms", time.Since(since).Milliseconds(), "error", err)
		time.Sleep(wait)
	}
	for _, e := range batch {
		e.recorded()
	}
}

func (r *recorder) report(stale []db.Claim) {
	for _, c := range stale {
		r.log.Warn("a result came after its claim was taken over and was not written",
			"notice", c.NoticeID, "device", c.DeviceID, "fence", c.Fence)
	}
}

// errDraining is why work stops when the process ends in order.
var errDraining = errors.New("the worker is stopping")
