package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/urfave/cli/v3"

	"bongsu/db/childproc"
	"bongsu/db/pgserver"
	"bongsu/jobs/redisserver"
)

func (a *app) checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "prints the settings in force, the time limits, and whether everything can be reached",
		Description: "Secrets are masked. Nothing is sent and nothing is written. It ends with an error where something\n" +
			"is wrong or cannot be reached.",
		Action: func(ctx context.Context, _ *cli.Command) error { return a.check(ctx) },
	}
}

// check prints all three parts, whatever is wrong in one of them.
func (a *app) check(ctx context.Context) error {
	c, wrong := loadConfig(a.environ)
	limits := a.limits(c)
	a.printSettings(c)
	a.printLadder(limits)
	if wrong != nil {
		return wrong
	}
	return errors.Join(limits.check(), usable(c, limits), a.printReach(ctx, c, limits))
}

// usable makes every vendor that is configured, and calls none.
func usable(c Config, l Limits) error {
	k, err := newKeyring(c, l, slog.New(slog.DiscardHandler))
	k.stop()
	return err
}

func (a *app) printSettings(c Config) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, s := range settings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.name, s.get(c), s.help)
	}
	_ = w.Flush()
}

func (a *app) printLadder(l Limits) {
	fmt.Fprintln(a.stdout, "\nTime limits, each longer than what lies inside it:")
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, r := range l.ladder() {
		verdict := "ok"
		if !r.ok() {
			verdict = "WRONG: " + r.remedy()
		}
		fmt.Fprintf(w, "%s\t%s\t> %s (%s)\t%s\n", r.outer.name, short(r.outer.value), r.innerNames(), short(r.innerSum()), verdict)
	}
	_ = w.Flush()
}

// printReach looks whether each thing outside can be reached.
func (a *app) printReach(ctx context.Context, c Config, l Limits) error {
	fmt.Fprintln(a.stdout, "\nReachable:")
	var problems []error
	for _, thing := range []struct {
		name string
		look func(context.Context) (string, error)
	}{
		{"PostgreSQL", func(ctx context.Context) (string, error) { return reachPostgres(ctx, c) }},
		{"Redis", func(ctx context.Context) (string, error) { return reachRedis(ctx, c, l) }},
		{"vendor", func(ctx context.Context) (string, error) { return reachVendor(ctx, c.VendorURL) }},
	} {
		ctx, cancel := context.WithTimeout(ctx, l.Reach)
		how, err := thing.look(ctx)
		cancel()
		if err != nil {
			how = "NO"
			problems = append(problems, fmt.Errorf("%s: %w", thing.name, err))
		}
		fmt.Fprintf(a.stdout, "  %s: %s\n", thing.name, how)
	}
	return errors.Join(problems...)
}

// reachPostgres asks the configured server, or the private one if it runs. One
// that does not run is only looked for on the disk: a look must not make data.
func reachPostgres(ctx context.Context, c Config) (string, error) {
	u := string(c.DatabaseURL)
	if u == "" {
		running, err := pgserver.Running(c.DataDir)
		if err != nil {
			return "", err
		}
		if !running {
			return "private, not running; serve starts it", pgserver.Installed(ctx)
		}
		if u, err = pgserver.Join(ctx, c.DataDir); err != nil {
			return "", err
		}
	}
	conn, err := pgx.Connect(ctx, u)
	if err != nil {
		return "", err // pgx names user, host and database in it, and no password
	}
	defer conn.Close(ctx)
	var version string
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	return "yes, version " + version, nil
}

// reachRedis is reachPostgres for Redis.
func reachRedis(ctx context.Context, c Config, l Limits) (string, error) {
	u := string(c.RedisURL)
	if u == "" {
		running, err := redisserver.Running(c.DataDir)
		if err != nil {
			return "", err
		}
		if !running {
			_, err := childproc.Find("redis-server", "REDIS_URL")
			return "private, not running; serve starts it", err
		}
		if u, err = redisserver.Join(ctx, c.DataDir); err != nil {
			return "", err
		}
	}
	client, err := redisClient(u, l)
	if err != nil {
		return "", err
	}
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return "", err
	}
	return "yes", nil
}

// reachVendor connects, and shakes hands where the URL says https. It sends no
// request.
func reachVendor(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "not set (BONGSU_VENDOR_URL)", nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("BONGSU_VENDOR_URL is not a URL")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	dial := (&net.Dialer{}).DialContext
	if u.Scheme == "https" {
		dial = (&tls.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	return "yes, at " + addr, conn.Close()
}
