package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/db/childproc"
	"bongsu/jobs/push/pushsim"
)

// What the demo takes of the environment's settings.
var demoSettings = []string{"BONGSU_ADDR", "BONGSU_DATA_DIR", "BONGSU_LOG"}

// A demo is a running demonstration. The panel and the stand-in are in this
// process; the worker is a child, so that it can be killed.
type demo struct {
	app     *app
	say     *progress
	config  Config
	limits  Limits
	logPath string
	log     *os.File

	servers *servers
	sim     *pushsim.Server
	product *product
	worker  *childproc.Process
	pool    *pgxpool.Pool // to look at the ledger, and for the INSERT to compare with

	base   string // of the panel, http://host:port
	api    demoAPI
	revoke func(context.Context) error // ends the API's token

	tag    string // of this run's devices
	notice int64  // the incident's
}

// start starts all parts. What it has started is there for stop also where it
// fails.
func (d *demo) start(ctx context.Context) (err error) {
	if d.config, err = loadConfig(ownedEnv(d.app.environ, demoSettings...)); err != nil {
		return err
	}
	d.limits = limitsOf(d.config)
	if err := os.MkdirAll(d.config.DataDir, 0o755); err != nil {
		return err
	}
	d.logPath = filepath.Join(d.config.DataDir, "demo.log")
	if d.log, err = os.OpenFile(d.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if err := d.startServers(ctx); err != nil {
		return err
	}
	if err := d.startPanel(ctx); err != nil {
		return err
	}
	return d.startWorker(ctx)
}

func (d *demo) startServers(ctx context.Context) (err error) {
	log := (&app{stderr: d.log}).logger(d.config)
	if d.servers, err = startServers(ctx, d.config, roleAll, log); err != nil {
		return err
	}
	d.config.VendorToken = secret(rand.Text())
	d.sim, err = pushsim.Start(pushsim.Config{
		Token: string(d.config.VendorToken),
		Switches: pushsim.Switches{
			Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, TransientShare: 0.03, HonourKeys: true,
		},
	})
	if err != nil {
		return err
	}
	d.config.VendorURL = d.sim.URL()
	d.pool, err = pgxpool.New(ctx, d.servers.databaseURL)
	return err
}

// startPanel starts pages and API. Where the address is taken, as by another
// demo, it takes a free port and says so.
func (d *demo) startPanel(ctx context.Context) (err error) {
	log := (&app{stderr: d.log}).logger(d.config)
	d.product, err = startProduct(ctx, d.config, d.limits, d.servers, roleWeb, log)
	if errors.Is(err, syscall.EADDRINUSE) {
		taken := d.config.Addr
		host, _, _ := net.SplitHostPort(taken) // it was checked with the settings
		d.config.Addr = net.JoinHostPort(host, "0")
		if d.product, err = startProduct(ctx, d.config, d.limits, d.servers, roleWeb, log); err == nil {
			fmt.Fprintf(d.app.stderr, "%s is taken; the panel is at %s instead\n", taken, d.product.addr())
		}
	}
	if err != nil {
		return err
	}
	d.base = "http://" + d.product.addr()
	return nil
}

// startWorker starts this program as a worker. It returns when the process
// runs, which is before it is ready.
func (d *demo) startWorker(context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(ownedEnv(d.app.environ, "BONGSU_LOG"), "DATABASE_URL="+d.servers.databaseURL, "REDIS_URL="+d.servers.redisURL,
		"BONGSU_VENDOR_URL="+d.config.VendorURL, "BONGSU_VENDOR_TOKEN="+string(d.config.VendorToken))
	d.worker, err = childproc.Start(childproc.Command{
		Path: program, Args: []string{"serve", "--role", roleWorker}, Env: env, Log: d.log, DeathSignal: syscall.SIGTERM,
	})
	return err
}

// stop stops what start has started, in the order in which parts need each
// other: the worker and the panel first.
func (d *demo) stop(ctx context.Context) error {
	var problems []error
	if d.worker != nil {
		problems = append(problems, d.worker.Stop(ctx, childproc.Step{Signal: syscall.SIGTERM, Wait: d.limits.Outside}))
	}
	if d.revoke != nil {
		problems = append(problems, d.revoke(ctx))
	}
	if d.product != nil {
		problems = append(problems, stopWithin(ctx, d.product, d.limits))
	}
	if d.pool != nil {
		d.pool.Close()
	}
	if d.sim != nil {
		d.sim.Close()
	}
	if d.servers != nil {
		problems = append(problems, d.servers.stop(ctx))
	}
	if d.log != nil {
		problems = append(problems, d.log.Close())
	}
	return errors.Join(problems...)
}

// ownedEnv is environ without our settings but those named in keep: for a part
// that brings its own.
func ownedEnv(environ []string, keep ...string) (env []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		base := strings.TrimSuffix(name, "_FILE")
		ours := strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, testPrefix) || base == "DATABASE_URL" || base == "REDIS_URL"
		if !ours || slices.Contains(keep, name) {
			env = append(env, line)
		}
	}
	return env
}
