package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
)

// Worker claims deliveries and calls the vendor, as tasks ask it to.
type Worker struct {
	cfg      Config
	log      *slog.Logger
	tracer   trace.Tracer
	rates    *rates
	lanes    lanes
	exchange *exchange
	texts    texts
	shard    atomic.Int64
	servers  []*asynq.Server
	draining context.Context // ends when the worker has to stop claiming
	drain    context.CancelCauseFunc
	beating  sync.WaitGroup
	watching sync.WaitGroup
	started  time.Time
}

// NewWorker makes a worker. It does nothing until Start.
func NewWorker(cfg Config) *Worker {
	w := &Worker{cfg: cfg, log: cfg.Log.With("part", "worker"), tracer: tracerOf(cfg.Traces), started: time.Now()}
	w.rates = &rates{db: cfg.DB, perSecond: cfg.Rate}
	w.lanes = lanes{w: w}
	w.exchange = newExchange(cfg.DB, w.log, w.tracer, cfg.MaxInFlight, cfg.Lease)
	w.texts = texts{db: cfg.DB}
	w.draining, w.drain = context.WithCancelCause(context.Background())
	return w
}

// queue is a queue and how many of its tasks run at once.
type queue struct {
	name  string
	tasks int
}

// Start begins to take tasks from the queues. Each has a server of its own, so
// that none waits behind another.
func (w *Worker) Start() error {
	w.exchange.start()
	w.beating.Go(w.beat)
	w.watching.Go(w.watchVendors)
	queues := []queue{{queuePush, pushTasks}, {queueRetry, retryTasks}}
	if w.cfg.Imports != nil {
		queues = append(queues, queue{queueImport, importTasks})
	}
	for _, q := range queues {
		srv := asynq.NewServerFromRedisClient(w.cfg.Redis, asynq.Config{
			Concurrency:       q.tasks,
			Queues:            map[string]int{q.name: 1},
			TaskCheckInterval: taskCheck,
			ShutdownTimeout:   w.cfg.CallTimeout + RecordLimit,
			BaseContext:       context.Background,
			Logger:            asynqLog{w.log},
			ErrorHandler:      asynq.ErrorHandlerFunc(w.taskFailed),
		})
		if err := srv.Start(w.mux()); err != nil {
			return fmt.Errorf("start the %s queue: %w", q.name, err)
		}
		w.servers = append(w.servers, srv)
	}
	return nil
}

// taskCheck is how often an empty queue is looked at.
const taskCheck = 50 * time.Millisecond

// Stop takes no further task and begins no further call, lets the calls under
// way end, and returns when all results are recorded.
func (w *Worker) Stop() {
	w.drain(errDraining)
	for _, s := range w.servers {
		s.Stop()
	}
	for _, s := range w.servers {
		s.Shutdown()
	}
	for _, l := range w.lanes.all() {
		l.guard.flush()
	}
	w.watching.Wait()
	w.exchange.stop()
	w.beating.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), SignOffLimit)
	defer cancel()
	if err := w.cfg.DB.EndWorker(ctx, w.cfg.Name); err != nil {
		w.log.Warn("the worker could not sign off", "error", err)
	}
}

// beat tells the ledger again and again that this worker lives.
func (w *Worker) beat() {
	tick := time.NewTicker(WorkerBeat)
	defer tick.Stop()
	for {
		taken, slots := w.exchange.inUse()
		err := w.cfg.DB.BeatWorker(w.draining, db.Worker{ID: w.cfg.Name, StartedAt: w.started, Slots: slots,
			InFlight: taken, Version: w.cfg.Version})
		if err == nil {
			err = w.tellHeard()
		}
		if err != nil && w.draining.Err() == nil {
			w.log.Warn("the heartbeat was not written", "error", err)
		}
		select {
		case <-tick.C:
		case <-w.draining.Done():
			return
		}
	}
}

// tellHeard tells the ledger what was heard of each vendor.
func (w *Worker) tellHeard() (err error) {
	for _, l := range w.lanes.all() {
		if ok, wait := l.heard.take(); !ok.IsZero() || !wait.IsZero() {
			err = errors.Join(err, w.cfg.DB.HeardVendor(w.draining, l.scope, ok, wait))
		}
	}
	return err
}

// nextShard spreads writers over the counter rows.
func (w *Worker) nextShard() int { return int(w.shard.Add(1)) }

// release gives a claim back that was not called for.
func (w *Worker) release(c db.Claim) {
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.Lease)
	defer cancel()
	if err := w.cfg.DB.Release(ctx, []db.Claim{c}, w.nextShard()); err != nil {
		w.log.Warn("a claim was not given back; its lease will end by itself", "notice", c.NoticeID, "device", c.DeviceID, "error", err)
	}
}

func collapseID(notice int64) string { return strconv.FormatInt(notice, 10) }
