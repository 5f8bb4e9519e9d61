// Package jobs does the work behind a notice: the feeder turns what the ledger
// says is due into asynq tasks, range and retry tasks claim deliveries and call
// the vendor, and the exchange writes what came of it. Postgres is the record;
// Redis only rings. The package knows nothing of pages or of HTTP towards people.
package jobs

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
	"bongsu/jobs/push"
)

// Config is what the feeder and the worker need. All fields are required unless
// it says otherwise.
type Config struct {
	DB      *db.DB // the pool for work
	Imports *db.DB // the pool for imports, whose steps may take longer; nil: this process takes none
	Redis   redis.UniversalClient
	Vendors Vendors
	Log     *slog.Logger
	Traces  trace.TracerProvider // nil: there are none

	CheckEndpoint db.EndpointRule // which endpoints of Web Push a list may register; nil: any

	Name         string        // this process, unique among all that live
	Version      string        // may be empty
	MaxInFlight  int           // calls at once to each vendor in this process
	Rate         float64       // calls per second to each vendor over all processes; 0: no limit
	CallTimeout  time.Duration // one vendor call, at most
	Lease        time.Duration // how long a claim holds
	TaskLimit    time.Duration // one task, at most
	Enqueue      time.Duration // one word with Redis, at most
	Schedule     push.Schedule
	Schedules    map[push.Kind]push.Schedule // of vendors that have their own; may be nil
	Backlog      int                         // the breaker opens only while more deliveries wait; 0: never
	RefusalShare float64                     // of the last 1,000 first attempts refused for good: calls are paused; 0: never
	Hold         bool                        // leave deliveries whose end nobody knows to a person
}

// The queues, and the types of their tasks.
const (
	queuePush   = "push"
	queueRetry  = "retry"
	queueImport = "import"

	typeRange  = "notice:range"
	typeRetry  = "notice:retry"
	typeTest   = "test:send"
	typeImport = "device:import"
)

// Sizes of the work.
const (
	rangeSize   = 500 // matching devices in a range
	rangeAhead  = 8   // ranges of one notice and scope that are rung and not done; as many are cut at once
	retrySize   = 200 // deliveries in a retry task
	claimSize   = 128 // deliveries in one claim, at most
	pushTasks   = 32  // range tasks at once in a process
	retryTasks  = 8
	importTasks = 1
)
