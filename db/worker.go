package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Worker is a process that calls vendors.
type Worker struct {
	ID        string
	StartedAt time.Time
	SeenAt    time.Time
	InFlight  int // calls at that moment
	Slots     int // calls at once, at most
	Version   string
}

// WorkerAlive is how long after its last heartbeat a worker counts as alive.
const WorkerAlive = 15 * time.Second

// BeatWorker says that a worker lives. Rows of workers that were not seen for a
// day go away on the way.
func (db *DB) BeatWorker(ctx context.Context, w Worker) (err error) {
	defer wrap(&err, "BeatWorker(%q)", w.ID)
	return db.exec(ctx, `
		WITH old AS (DELETE FROM worker WHERE seen_at < now() - interval '1 day' AND id <> @id)
		INSERT INTO worker (id, started_at, slots, in_flight, version) VALUES (@id, @started, @slots, @in_flight, @version)
		ON CONFLICT (id) DO UPDATE SET seen_at = now(), in_flight = excluded.in_flight`,
		pgx.StrictNamedArgs{"id": w.ID, "started": w.StartedAt, "slots": w.Slots, "in_flight": w.InFlight, "version": w.Version})
}

// EndWorker removes a worker that stopped in order.
func (db *DB) EndWorker(ctx context.Context, id string) (err error) {
	defer wrap(&err, "EndWorker(%q)", id)
	return db.exec(ctx, `DELETE FROM worker WHERE id = $1`, id)
}
