package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bongsu/db"
	"bongsu/jobs"
	"bongsu/web"
)

// Connections of the two pools. Pages and work do not share one: a worker at
// full speed must not keep a page waiting.
const (
	pageConns   = 10
	workConns   = 16
	importConns = 3
)

// A product is the running parts of one process: those of its role.
type product struct {
	pages    *db.DB
	work     *db.DB
	imports  *db.DB
	rings    *redis.Client // the work's
	looks    *redis.Client // the Queues page's
	feeder   *jobs.Feeder
	worker   *jobs.Worker
	keys     *keyring
	web      *web.Server
	listener net.Listener
	traces   *traces
	failed   chan error // a part that ended by itself
}

// startProduct migrates the database and starts the parts of the role. The
// listener comes last: who can connect finds everything ready. On an error
// nothing is left running.
func startProduct(ctx context.Context, c Config, l Limits, s *servers, role string, log *slog.Logger) (_ *product, err error) {
	p := &product{failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, stopWithin(ctx, p, l))
		}
	}()
	redis.SetLogger(redisLog{log})
	if err := p.startTraces(ctx, c, l, log); err != nil {
		return nil, err
	}
	from, to, err := db.Migrate(ctx, s.databaseURL)
	if err != nil {
		return nil, err
	}
	log.Info("database is up to date", "version", to, "was", from)
	if role != roleWeb {
		if err := p.startWork(ctx, c, l, s, log); err != nil {
			return nil, err
		}
	}
	if role != roleWorker {
		if err := p.startWeb(ctx, c, l, s, log); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// startWork starts the worker and the feeder.
func (p *product) startWork(ctx context.Context, c Config, l Limits, s *servers, log *slog.Logger) error {
	limits := l.pool(workConns)
	limits.Worker = true
	work, err := db.Open(ctx, s.databaseURL, limits)
	if err != nil {
		return err
	}
	p.work = work
	if p.rings, err = redisClient(s.redisURL, l); err != nil {
		return err
	}
	p.rings.AddHook(calm{})
	if p.keys, err = newKeyring(c, l, log); err != nil {
		return err
	}
	p.keys.start()
	cfg := jobsConfig(c, l, p.keys, log)
	limits = l.pool(importConns)
	limits.Worker = true
	limits.Transaction, limits.Statement, limits.Idle = l.ImportStep, l.ImportStep, l.ImportStep
	if p.imports, err = db.Open(ctx, s.databaseURL, limits); err != nil {
		return err
	}
	if cfg.CheckEndpoint, err = endpointRule(c); err != nil {
		return err
	}
	cfg.DB, cfg.Imports, cfg.Redis, cfg.Traces = work, p.imports, p.rings, p.traces.provider()
	worker := jobs.NewWorker(cfg)
	if err := worker.Start(); err != nil {
		return err
	}
	p.worker = worker
	p.feeder = jobs.NewFeeder(cfg)
	p.feeder.Start()
	return nil
}

// jobsConfig is what the worker and the feeder need, without their stores.
func jobsConfig(c Config, l Limits, vendors jobs.Vendors, log *slog.Logger) jobs.Config {
	return jobs.Config{
		Vendors: vendors, Schedules: c.schedules(), Log: log, Name: processName(), Version: version(),
		MaxInFlight: c.MaxInFlight, Rate: float64(c.Rate), CallTimeout: l.VendorCall, Lease: l.Lease,
		Backlog: c.BreakerBacklog, RefusalShare: c.RefusalPause,
		TaskLimit: l.RangeTask, Enqueue: l.Enqueue, Schedule: c.RetryDelays, Hold: c.HoldUnknown,
	}
}

// startWeb listens and answers.
func (p *product) startWeb(ctx context.Context, c Config, l Limits, s *servers, log *slog.Logger) error {
	pages, err := db.Open(ctx, s.databaseURL, l.pool(pageConns))
	if err != nil {
		return err
	}
	p.pages = pages
	rule, err := endpointRule(c)
	if err != nil {
		return err
	}
	deps := web.Deps{
		CheckEndpoint: rule,
		Pages:         pages, Log: log, CheckPayload: checkPayload,
		Limits: l.pages(), Rate: c.Rate, Expiry: c.Expiry, Ladder: l.steps(), Settings: settingsShown(c),
		Traces: p.traces.provider(), Version: version(), Now: time.Now, SecureCookies: c.HTTPS, AdminsSecond: c.AdminsSecond,
		TrustedProxies: c.TrustedProxies,
	}
	if s.redisURL != "" {
		if p.looks, err = redisClient(s.redisURL, l); err != nil {
			return err
		}
		deps.Queues, deps.Memory = queues{jobs.NewInspector(p.looks)}, memoryOf(p.looks)
	}
	if s.dataDir != "" {
		deps.Disk = diskOf(s.dataDir)
	}
	server := web.New(deps)
	if p.listener, err = net.Listen("tcp", c.Addr); err != nil {
		return fmt.Errorf("BONGSU_ADDR: %w", err)
	}
	p.web = server
	go func() {
		if err := server.Serve(p.listener); err != nil {
			p.failed <- fmt.Errorf("web server: %w", err)
		}
	}()
	return nil
}

// addr is where the product listens; empty where it does not.
func (p *product) addr() string {
	if p.listener == nil {
		return ""
	}
	return p.listener.Addr().String()
}

// stop lets requests and calls under way end, records what came of them, closes
// the pools, and sends the spans that wait. Where ctx ends first it leaves what is under way to the
// leases, and says so.
func (p *product) stop(ctx context.Context) error {
	var pages, work error
	var wg sync.WaitGroup
	wg.Go(func() {
		if p.web != nil {
			pages = p.web.Shutdown(ctx)
		}
	})
	wg.Go(func() { work = p.stopWork(ctx) })
	wg.Wait()
	if pages == nil {
		closeAll(p.pages, p.looks)
	}
	if work == nil {
		closeAll(p.work, p.rings)
		closeAll(p.imports, nil)
		if p.keys != nil {
			p.keys.stop()
		}
	}
	p.traces.stop(ctx)
	return errors.Join(pages, work)
}

func closeAll(d *db.DB, r *redis.Client) {
	if d != nil {
		d.Close()
	}
	if r != nil {
		_ = r.Close()
	}
}

// stopWork stops the feeder, so that nothing more is rung, and then the worker.
func (p *product) stopWork(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if p.feeder != nil {
			p.feeder.Stop()
		}
		if p.worker != nil {
			p.worker.Stop()
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("calls under way were not recorded within the shutdown grace; their leases end by themselves")
	}
}

// redisLog lets go-redis write to our log: while Redis is away it has a line for
// each attempt, and the feeder says the same once.
type redisLog struct{ log *slog.Logger }

func (l redisLog) Printf(_ context.Context, format string, args ...any) {
	l.log.Debug("redis", "says", fmt.Sprintf(format, args...))
}

// redisClient makes a client that keeps to our time limits and asks once: who
// uses it tries again, knowing what for. It does not connect.
func redisClient(url string, l Limits) (*redis.Client, error) {
	opts, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("REDIS_URL is not a Redis URL")
	}
	opts.ContextTimeoutEnabled = true
	opts.PoolTimeout = l.RedisPool
	opts.DialTimeout = l.RedisDial
	opts.WriteTimeout = l.RedisWrite
	opts.ReadTimeout = l.RedisRead
	opts.MaxRetries = -1
	return redis.NewClient(opts), nil
}

// processName is unique among processes that live at the same time, over
// machines and restarts.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%x", host, os.Getpid(), time.Now().UnixNano()&0xffffff)
}

// settingsShown gives the settings in force as the Settings page shows them.
func settingsShown(c Config) (list []web.Setting) {
	for _, s := range settings {
		preset := s.preset
		if probe := (Config{}); preset != "" && s.set(&probe, preset) == nil {
			preset = s.get(probe)
		}
		value := s.get(c)
		list = append(list, web.Setting{Name: s.name, Value: value, Help: s.help, Default: preset != "" && value == preset})
	}
	return list
}
