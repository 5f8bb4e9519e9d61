package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"bongsu/jobs/push"
	pushhttp "bongsu/jobs/push/http"
)

// settings lists every variable that the program reads, in the order in which
// check prints them.
var settings = slices.Concat(ownSettings, vendorSettings, traceSettings)

var ownSettings = []setting{
	{
		name: "DATABASE_URL", secret: true,
		help: "the PostgreSQL to use; unset: a private one under the data directory",
		set:  func(c *Config, v string) error { c.DatabaseURL = secret(v); return checkDatabaseURL(v) },
		get:  func(c Config) string { return orPrivate(c.DatabaseURL) },
	},
	{
		name: "REDIS_URL", secret: true,
		help: "the Redis to use; unset: a private one under the data directory",
		set:  func(c *Config, v string) error { c.RedisURL = secret(v); return checkRedisURL(v) },
		get:  func(c Config) string { return orPrivate(c.RedisURL) },
	},
	{
		name: "BONGSU_ADDR", preset: "127.0.0.1:8080",
		help: "where the pages and the API listen",
		set:  func(c *Config, v string) error { c.Addr = v; return checkAddr(v) },
		get:  func(c Config) string { return c.Addr },
	},
	{
		name: "BONGSU_HTTPS", preset: "false",
		help: "true where browsers come by https: the session's cookie then goes no other way",
		set:  func(c *Config, v string) (err error) { c.HTTPS, err = parseBool(v); return err },
		get:  func(c Config) string { return strconv.FormatBool(c.HTTPS) },
	},
	{
		name: "BONGSU_SECOND_FACTOR", preset: "optional",
		help: "who must sign in with a code besides the password: optional (who wants to) or admins",
		set:  func(c *Config, v string) error { c.AdminsSecond = v == "admins"; return oneOf(v, "optional", "admins") },
		get:  func(c Config) string { return map[bool]string{false: "optional", true: "admins"}[c.AdminsSecond] },
	},
	{
		name: "BONGSU_DATA_DIR", preset: "./.bongsu",
		help: "where private servers keep their data",
		set:  func(c *Config, v string) error { c.DataDir = v; return nil },
		get:  func(c Config) string { return c.DataDir },
	},
	{
		name: "BONGSU_LOG", preset: "info",
		help: "the least level that is logged: debug, info, warn or error",
		set:  func(c *Config, v string) (err error) { c.Log, err = parseLevel(v); return err },
		get:  func(c Config) string { return strings.ToLower(c.Log.String()) },
	},
	{
		name: "BONGSU_VENDOR_URL",
		help: "the HTTP vendor: each message is one POST to it",
		set:  func(c *Config, v string) error { c.VendorURL = v; return checkVendorURL(v) },
		get:  func(c Config) string { return orUnset(maskURL(c.VendorURL)) },
	},
	{
		name: "BONGSU_VENDOR_TOKEN", secret: true,
		help: "the bearer token for the vendor",
		set:  func(c *Config, v string) error { c.VendorToken = secret(v); return checkVendorToken(v) },
		get:  func(c Config) string { return orUnset(c.VendorToken.String()) },
	},
	{
		name: "BONGSU_VENDOR_TIMEOUT", preset: "3s",
		help: "how long one call may take",
		set:  durationIn(time.Millisecond, time.Hour, func(c *Config) *time.Duration { return &c.VendorTimeout }),
		get:  func(c Config) string { return c.VendorTimeout.String() },
	},
	{
		name: "BONGSU_MAX_IN_FLIGHT", preset: "256",
		help: "calls at once in this process",
		set:  intIn(1, 100_000, func(c *Config) *int { return &c.MaxInFlight }),
		get:  func(c Config) string { return strconv.Itoa(c.MaxInFlight) },
	},
	{
		name: "BONGSU_RATE", preset: "0",
		help: "calls per second over all processes; 0: no limit",
		set:  intIn(0, 10_000_000, func(c *Config) *int { return &c.Rate }),
		get:  func(c Config) string { return strconv.Itoa(c.Rate) },
	},
	{
		name: "BONGSU_RETRY_DELAYS", preset: "2s,6s,18s",
		help: "how long a delivery waits after each failure, separated by commas",
		set:  func(c *Config, v string) (err error) { c.RetryDelays, err = parseDelays(v); return err },
		get:  func(c Config) string { return delaysText(c.RetryDelays) },
	},
	{
		name: "BONGSU_LEASE", preset: "10s",
		help: "how long a claim on a delivery holds",
		set:  durationIn(time.Second, time.Hour, func(c *Config) *time.Duration { return &c.Lease }),
		get:  func(c Config) string { return c.Lease.String() },
	},
	{
		name: "BONGSU_UNKNOWN", preset: "resend",
		help: "what follows a call that nobody knows the end of: resend it, or hold it for an operator",
		set:  func(c *Config, v string) error { c.HoldUnknown = v == "hold"; return oneOf(v, "resend", "hold") },
		get:  func(c Config) string { return map[bool]string{false: "resend", true: "hold"}[c.HoldUnknown] },
	},
	{
		name: "BONGSU_BREAKER_BACKLOG", preset: "500",
		help: "while more deliveries wait than this, a vendor that answers with failures only is not called but for a probe every 2s; 0: it always is",
		set:  intIn(0, 1_000_000_000, func(c *Config) *int { return &c.BreakerBacklog }),
		get:  func(c Config) string { return strconv.Itoa(c.BreakerBacklog) },
	},
	{
		name: "BONGSU_REFUSAL_PAUSE", preset: "0.5",
		help: "the share of the last 1,000 first attempts that may be refused for good before calls pause and admins are asked; 0: any",
		set:  func(c *Config, v string) (err error) { c.RefusalPause, err = parseShare(v); return err },
		get:  func(c Config) string { return strconv.FormatFloat(c.RefusalPause, 'g', -1, 64) },
	},
	{
		name: "BONGSU_EXPIRY", preset: "24h",
		help: "when a notice ends that does not say so itself",
		set:  durationIn(time.Second, 10*365*24*time.Hour, func(c *Config) *time.Duration { return &c.Expiry }),
		get:  func(c Config) string { return c.Expiry.String() },
	},
	{
		name: "BONGSU_PROXY_TIMEOUT", preset: "0s",
		help: "after how long a proxy in front gives an answer up, so that it can be checked; 0: there is none",
		set:  durationIn(0, time.Hour, func(c *Config) *time.Duration { return &c.ProxyTimeout }),
		get:  func(c Config) string { return c.ProxyTimeout.String() },
	},
	{
		name: "BONGSU_TRUSTED_PROXIES",
		help: "where proxies in front stand, as 10.0.0.0/8,192.0.2.7: X-Forwarded-For is believed from them alone; unset: from nobody",
		set:  func(c *Config, v string) (err error) { c.TrustedProxies, err = parseProxies(v); return err },
		get:  func(c Config) string { return proxiesText(c.TrustedProxies) },
	},
	{
		name: "BONGSU_STOP_TIMEOUT", preset: "30s",
		help: "how long systemd, Docker or Kubernetes waits between asking the process to stop and killing it",
		set:  durationIn(time.Second, time.Hour, func(c *Config) *time.Duration { return &c.StopTimeout }),
		get:  func(c Config) string { return c.StopTimeout.String() },
	},
}

func checkDatabaseURL(v string) error {
	if v == "" {
		return nil
	}
	if _, err := pgx.ParseConfig(v); err != nil {
		// pgx's own words would show a password that stands in the wrong place.
		return errors.New("is not a PostgreSQL URL such as postgres://user:password@host:5432/name")
	}
	return nil
}

func checkRedisURL(v string) error {
	if v == "" {
		return nil
	}
	if _, err := redis.ParseURL(v); err != nil {
		return errors.New("is not a Redis URL such as redis://:password@host:6379/0 or unix:///path")
	}
	return nil
}

func checkAddr(v string) error {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("is %q, not an address such as 127.0.0.1:8080", v)
	}
	return nil
}

func checkVendorURL(v string) error {
	if v == "" {
		return nil
	}
	if _, err := pushhttp.New(pushhttp.Config{URL: v}); err != nil {
		return errors.New("is not a URL such as https://push.example.com/send")
	}
	return nil
}

func checkVendorToken(v string) error {
	if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("has characters that no header may carry")
	}
	return nil
}

func parseLevel(v string) (l slog.Level, err error) {
	if err := oneOf(v, "debug", "info", "warn", "error"); err != nil {
		return l, err
	}
	return l, l.UnmarshalText([]byte(v))
}

func parseDelays(v string) (push.Schedule, error) {
	var s push.Schedule
	for part := range strings.SplitSeq(v, ",") {
		d, err := parseDuration(strings.TrimSpace(part), time.Millisecond, 24*time.Hour)
		if err != nil {
			return nil, err
		}
		s = append(s, d)
	}
	if len(s) > 20 {
		return nil, fmt.Errorf("has %d delays, more than 20", len(s))
	}
	return s, nil
}
