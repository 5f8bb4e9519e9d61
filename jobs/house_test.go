package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"bongsu/db"
	"bongsu/db/dbtest"
	"bongsu/jobs/push"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushsim"
	"bongsu/jobs/redisserver/redistest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// house is the whole of the work side for one test: a real PostgreSQL and Redis,
// the vendor stand-in, and as many processes' worth of feeders and workers as
// the test starts.
type house struct {
	t     testing.TB
	url   string
	db    *db.DB
	pool  *pgxpool.Pool // to look and to set scenes
	redis *redistest.Redis
	sim   *pushsim.Server
	cfg   Config
	names atomic.Int64
}

var by = db.Actor{ID: "user:1", Name: "kim@example.com", Role: db.Admin}

func newHouse(t testing.TB, sim pushsim.Config) *house {
	t.Helper()
	h := &house{t: t, url: dbtest.URL(t), redis: redistest.New(t)}
	store, err := db.Open(t.Context(), h.url, db.Limits{MaxConns: 20, Wait: 5 * time.Second, Transaction: 10 * time.Second,
		Lock: 5 * time.Second, Worker: true})
	h.no(err)
	t.Cleanup(store.Close)
	h.db = store
	h.pool, err = pgxpool.New(t.Context(), h.url)
	h.no(err)
	t.Cleanup(h.pool.Close)
	h.sim, err = pushsim.Start(sim)
	h.no(err)
	t.Cleanup(h.sim.Close)
	h.cfg = Config{
		MaxInFlight: 256, CallTimeout: 3 * time.Second, Lease: 10 * time.Second, TaskLimit: 2 * time.Minute,
		Enqueue: time.Second, Schedule: push.DefaultSchedule, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return h
}

func (h *house) no(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// process starts a worker and a feeder with their own connections, as another
// process would, and gives them to be stopped; they stop with the test.
func (h *house) process(change func(*Config)) (w *Worker, f *Feeder, stop func()) {
	h.t.Helper()
	cfg := h.cfg
	cfg.DB, cfg.Name = h.db, fmt.Sprintf("process-%d", h.names.Add(1))
	if change != nil {
		change(&cfg)
	}
	opts, err := redis.ParseURL(h.redis.URL())
	h.no(err)
	opts.ContextTimeoutEnabled = true
	client := redis.NewClient(opts)
	cfg.Redis = client
	if cfg.Vendors == nil {
		cfg.Vendors = FixedTo(h.vendor(cfg.CallTimeout))
	}
	w, f = NewWorker(cfg), NewFeeder(cfg)
	h.no(w.Start())
	f.Start()
	var once atomic.Bool
	stop = func() {
		if once.Swap(true) {
			return
		}
		f.Stop()
		w.Stop()
		_ = client.Close()
	}
	h.t.Cleanup(stop)
	return w, f, stop
}

// vendor is a client of the stand-in.
func (h *house) vendor(timeout time.Duration) push.Vendor {
	h.t.Helper()
	v, err := pushhttp.New(pushhttp.Config{URL: h.sim.URL(), Timeout: timeout, MaxInFlight: h.cfg.MaxInFlight})
	h.no(err)
	return v
}

// devices makes n devices whose tokens token gives.
func (h *house) devices(n int, token func(i int) string) {
	h.t.Helper()
	h.no(h.db.SeedDevices(h.t.Context(), n, func(i int) db.DeviceInput {
		return db.DeviceInput{Token: token(i), Platform: "android"}
	}))
}

func good(i int) string { return fmt.Sprintf("ok-%06d", i) }

// incident is the audience of the incident: of 10,000 tokens every hundredth is
// expired, and every hundredth never gets through.
func incident(i int) string {
	switch i % 100 {
	case 17:
		return fmt.Sprintf("expired-%06d", i)
	case 63:
		return fmt.Sprintf("down-%06d", i)
	}
	return good(i)
}

func (h *house) accept(title string) db.Notice {
	h.t.Helper()
	a, err := h.db.AcceptNotice(h.t.Context(), db.Draft{Title: title, Body: "body"}, by, nil, 24*time.Hour)
	h.no(err)
	return a.Notice
}

// counts reads a notice's counts and checks that they add up.
func (h *house) counts(id int64) (db.Notice, db.Counts) {
	h.t.Helper()
	n, c, err := h.db.Notice(h.t.Context(), id)
	h.no(err)
	if c.Pending+c.Retrying+c.Sending+c.Sent+c.Failed+c.Skipped+c.Unknown != c.Total {
		h.t.Fatalf("the parts of notice %d do not add up: %+v", id, c)
	}
	return n, c
}

// until polls notice id until ok, or fails after limit.
func (h *house) until(id int64, limit time.Duration, what string, ok func(db.Notice, db.Counts) bool) (db.Notice, db.Counts) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, c := h.counts(id)
		if ok(n, c) {
			return n, c
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			h.t.Fatalf("notice %d is not %s after %v: %s %+v", id, what, limit, n.State, c)
		}
	}
}

func (h *house) finished(id int64, limit time.Duration) (db.Notice, db.Counts) {
	h.t.Helper()
	return h.until(id, limit, "finished", func(n db.Notice, _ db.Counts) bool { return n.State == db.Finished })
}

func one[T any](h *house, sql string, args ...any) (v T) {
	h.t.Helper()
	h.no(h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&v))
	return v
}
