package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"bongsu/jobs/push"
)

// Config is what the environment says, parsed and checked. settings describes
// each variable.
type Config struct {
	DatabaseURL  secret // empty: a private PostgreSQL
	RedisURL     secret // empty: a private Redis
	Addr         string
	DataDir      string
	HTTPS        bool
	AdminsSecond bool // admins must have a second factor
	Log          slog.Level

	VendorURL     string // empty: none, which only some commands can do without
	VendorToken   secret
	VendorTimeout time.Duration
	MaxInFlight   int
	Rate          int // calls per second, 0: no limit
	RetryDelays   push.Schedule
	Lease         time.Duration
	HoldUnknown   bool

	FCM     fcmConfig
	WebPush webPushConfig
	Files   map[string]string // the files that secrets came from, by setting

	BreakerBacklog int
	RefusalPause   float64
	Expiry         time.Duration

	ProxyTimeout   time.Duration // 0: no proxy in front
	TrustedProxies []netip.Prefix
	StopTimeout    time.Duration

	TracesOff             bool
	Collector             string // of OpenTelemetry; empty, as the next: traces are not sent
	CollectorTraces       string // the whole address for traces
	TracesProtocol        string
	CollectorProtocol     string
	CollectorHeaders      secret
	CollectorTraceHeaders secret // instead of those
	ServiceName           string
	Sampler               string // empty: parentbased_always_on
	SamplerRatio          float64
}

// loadConfig reads the settings from environ, a list of NAME=value, and from
// the files that NAME_FILE variables name. Its error tells everything that is
// wrong, one line each, and never a secret.
func loadConfig(environ []string) (Config, error) {
	env := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	var c Config
	problems := unknownNames(env)
	for _, s := range settings {
		value, err := s.value(env)
		if err == nil {
			err = s.set(&c, value)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", s.name, err))
		}
		if file := env[s.name+"_FILE"]; s.secret && file != "" {
			c.keepFile(s.name, file)
		}
	}
	return c, errors.Join(append(problems, c.checkVendors()...)...)
}

func (c *Config) keepFile(name, file string) {
	if c.Files == nil {
		c.Files = map[string]string{}
	}
	c.Files[name] = file
}

// A setting is one variable of the environment.
type setting struct {
	name   string
	preset string // what holds where the variable is unset or empty
	help   string
	secret bool // never printed; may come as NAME_FILE

	set func(c *Config, value string) error // the error goes on after the name
	get func(c Config) string               // as check prints it
}

// value returns the setting's text: the variable's, its file's, or the preset.
func (s setting) value(env map[string]string) (string, error) {
	value, file := env[s.name], env[s.name+"_FILE"]
	switch {
	case !s.secret || file == "":
		if value == "" {
			value = s.preset
		}
		return strings.TrimSpace(value), nil
	case value != "":
		return "", fmt.Errorf("and %s_FILE are both set: set one of them", s.name)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot be read from its file: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", fmt.Errorf("is empty in its file %s", file)
	}
	return text, nil
}

// prefix begins the names that are ours alone, so that a mistyped one can be
// told from another program's.
const prefix = "BONGSU_"

// testPrefix begins names that only the tests read.
const testPrefix = "BONGSU_TEST_"

// unknownNames has an error for each variable that carries our prefix and
// means nothing, with the known name that is nearest to it.
func unknownNames(env map[string]string) []error {
	var known []string
	for _, s := range settings {
		known = append(known, s.name)
		if s.secret {
			known = append(known, s.name+"_FILE")
		}
	}
	var unknown []string
	for name := range env {
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, testPrefix) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	var problems []error
	for _, name := range unknown {
		problems = append(problems, fmt.Errorf("%s is not a setting; did you mean %s?", name, nearest(name, known)))
	}
	return problems
}
