package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"bongsu/db"
	"bongsu/db/childproc"
	"bongsu/db/pgserver"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/redisserver"
	"bongsu/web"
)

// benchVendorToken is the bearer token between the benchmark's parts.
const benchVendorToken = "bench-vendor-token"

// A bench is a running benchmark: the servers, the stand-in and the product,
// each a process of its own, and what this process asks them with.
type bench struct {
	sizes  benchSizes
	say    io.Writer
	report *benchReport

	dir string // holds everything, and goes at the end

	pgDir, redisDir string // where their processes work

	pool    *pgxpool.Pool
	ledger  *db.DB
	redis   *redis.Client
	url     string // of Redis
	standIn *childproc.Process
	vendor  *pushhttp.Vendor
	sim     benchSim
	product *childproc.Process
	api     benchAPI
	pages   benchPages
	profile benchProfile
	seeded  int
	tells   int // notices so far: each text is another

	fastRatio float64
	peak      float64 // bytes of the product's process, before the last run
	small     pageTimes
	large     noticeRun
	closers   []func(context.Context) error // the last started is closed first
}

// start starts all parts under a new directory in dataDir.
func (b *bench) start(ctx context.Context, environ []string, dataDir, profileDir string) (err error) {
	if dataDir, err = filepath.Abs(dataDir); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(dataDir, "bench-"); err != nil {
		return err
	}
	if err := os.Chmod(b.dir, 0o711); err != nil { // PostgreSQL's own user passes through
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	pg, err := pgserver.Start(ctx, pgserver.Config{Dir: b.dir, Log: quiet})
	if err != nil {
		return err
	}
	b.closing(func(ctx context.Context) error { return errors.Join(pg.Stop(ctx), os.RemoveAll(pg.DataDir())) })
	rs, err := redisserver.Start(ctx, redisserver.Config{Dir: b.dir, Log: quiet})
	if err != nil {
		return err
	}
	b.closing(rs.Stop)
	b.url, b.pgDir, b.redisDir = rs.URL(), pg.DataDir(), filepath.Join(b.dir, "redis")
	if err := b.open(ctx, pg.URL()); err != nil {
		return err
	}
	env := benchEnv(environ)
	if err := b.startVendor(ctx, env); err != nil {
		return err
	}
	return b.startProduct(ctx, env, pg.URL(), profileDir)
}

// open migrates the database and opens what this process looks with.
func (b *bench) open(ctx context.Context, url string) (err error) {
	if _, _, err := db.Migrate(ctx, url); err != nil {
		return err
	}
	if b.pool, err = pgxpool.New(ctx, url); err != nil {
		return err
	}
	b.closing(func(context.Context) error { b.pool.Close(); return nil })
	b.ledger, err = db.Open(ctx, url, db.Limits{MaxConns: 2, Wait: 2 * time.Second, Transaction: time.Minute, Lock: 3 * time.Second})
	if err != nil {
		return err
	}
	b.closing(func(context.Context) error { b.ledger.Close(); return nil })
	opts, err := redis.ParseURL(b.url)
	if err != nil {
		return err
	}
	b.redis = redis.NewClient(opts)
	b.closing(func(context.Context) error { return b.redis.Close() })
	_, err = b.pool.Exec(ctx, `
		CREATE TABLE bench_row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text NOT NULL)`)
	return err
}

// startVendor starts the stand-in and makes the client that the bare loop uses.
func (b *bench) startVendor(ctx context.Context, env []string) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	b.standIn, err = b.child("vendor", env, "vendor", "--addr", addr, "--token", benchVendorToken, "--latency", "0s", "--jitter", "0s")
	if err != nil {
		return err
	}
	b.sim = benchSim{"http://" + addr}
	if err := b.standIn.Await(ctx, func(ctx context.Context) error { _, err := b.sim.counts(ctx); return err }); err != nil {
		return err
	}
	b.vendor, err = pushhttp.New(pushhttp.Config{URL: b.sim.base + "/send", Token: benchVendorToken, MaxInFlight: b.sizes.inFlight})
	return err
}

// startProduct starts the product, as one process with both roles, and makes a
// person and a program that use it.
func (b *bench) startProduct(ctx context.Context, env []string, url, profileDir string) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	env = append(env, "DATABASE_URL="+url, "REDIS_URL="+b.url, "BONGSU_ADDR="+addr,
		"BONGSU_VENDOR_URL="+b.sim.base+"/send", "BONGSU_VENDOR_TOKEN="+benchVendorToken,
		"BONGSU_MAX_IN_FLIGHT="+strconv.Itoa(b.sizes.inFlight))
	if b.sizes.rows > 0 {
		env = append(env, fmt.Sprintf("BONGSU_RATE=%d", importRate))
	}
	args := []string{"serve"}
	if profileDir != "" {
		if b.profile, err = newBenchProfile(profileDir, filepath.Join(b.dir, "p")); err != nil {
			return err
		}
		args = []string{"bench", "product", "--control", b.profile.socket}
	}
	if b.product, err = b.child("product", env, args...); err != nil {
		return err
	}
	token, hash := web.NewToken()
	if _, err := b.ledger.AddToken(ctx, "bench", db.Admin, hash, commandActor()); err != nil {
		return err
	}
	b.api = benchAPI{"http://" + addr, token}
	if err := b.product.Await(ctx, b.api.ready); err != nil {
		return err
	}
	b.pages, err = b.signIn(ctx)
	return err
}

// child starts this program with args. Its output goes to NAME.log.
func (b *bench) child(name string, env []string, args ...string) (*childproc.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p, err := childproc.Start(childproc.Command{Path: program, Args: args, Dir: b.dir, Env: env, Log: log, DeathSignal: syscall.SIGTERM})
	if err != nil {
		return nil, err
	}
	b.closing(func(ctx context.Context) error {
		return p.Stop(ctx, childproc.Step{Signal: syscall.SIGTERM, Wait: 30 * time.Second}, childproc.Step{Signal: syscall.SIGKILL, Wait: 5 * time.Second})
	})
	return p, nil
}

func (b *bench) closing(f func(context.Context) error) { b.closers = append(b.closers, f) }

// stop ends all parts and removes their directory. After a failure it first
// tells the last lines of the product's log.
func (b *bench) stop(ctx context.Context, failed bool) error {
	if b.dir == "" {
		return nil
	}
	var problems []error
	for i := len(b.closers) - 1; i >= 0; i-- {
		problems = append(problems, b.closers[i](ctx))
	}
	if raw, err := os.ReadFile(filepath.Join(b.dir, "product.log")); failed && err == nil {
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		fmt.Fprintf(b.say, "the product's last words:\n%s\n", strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return errors.Join(append(problems, os.RemoveAll(b.dir))...)
}

// benchEnv is environ without our own settings: a benchmark runs with the
// presets.
func benchEnv(environ []string) (env []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		name = strings.TrimSuffix(name, "_FILE")
		if !strings.HasPrefix(name, prefix) && name != "DATABASE_URL" && name != "REDIS_URL" {
			env = append(env, line)
		}
	}
	return env
}

// freeAddr is an address that nobody listens on at this moment.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
