package main

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// traceSettings are OpenTelemetry's own names.
var traceSettings = []setting{
	{
		name: "OTEL_SDK_DISABLED", preset: "false",
		help: "true: no traces are sent, whatever else is set",
		set:  func(c *Config, v string) error { c.TracesOff = strings.EqualFold(v, "true"); return nil },
		get:  func(c Config) string { return strconv.FormatBool(c.TracesOff) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_ENDPOINT",
		help: "the collector that traces are sent to; unset: there are none",
		set:  func(c *Config, v string) error { c.Collector = v; return checkCollector(v) },
		get:  func(c Config) string { return orUnset(maskURL(c.Collector)) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		help: "the same as a whole address, with the path",
		set:  func(c *Config, v string) error { c.CollectorTraces = v; return checkCollector(v) },
		get:  func(c Config) string { return orUnset(maskURL(c.CollectorTraces)) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
		help: "how traces are sent: http/protobuf, the only way there is",
		set:  ifTraced(func(c *Config, v string) error { c.TracesProtocol = v; return checkProtocol(v) }),
		get:  func(c Config) string { return orUnset(c.TracesProtocol) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_PROTOCOL",
		help: "the same, where that one is unset",
		set: ifTraced(func(c *Config, v string) error {
			c.CollectorProtocol = v
			return checkProtocol(cmp.Or(c.TracesProtocol, v))
		}),
		get: func(c Config) string { return orUnset(c.CollectorProtocol) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_HEADERS", secret: true,
		help: "what the collector wants to be sent besides, such as authorization=Bearer%20...",
		set:  ifTraced(func(c *Config, v string) error { c.CollectorHeaders = secret(v); return checkHeaders(v) }),
		get:  func(c Config) string { return orUnset(c.CollectorHeaders.String()) },
	},
	{
		name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS", secret: true,
		help: "the same for traces alone, instead of those",
		set:  ifTraced(func(c *Config, v string) error { c.CollectorTraceHeaders = secret(v); return checkHeaders(v) }),
		get:  func(c Config) string { return orUnset(c.CollectorTraceHeaders.String()) },
	},
	{
		name: "OTEL_SERVICE_NAME",
		help: "what traces call this program; unset: bongsu",
		set:  func(c *Config, v string) error { c.ServiceName = v; return nil },
		get:  func(c Config) string { return orUnset(c.ServiceName) },
	},
	{
		name: "OTEL_TRACES_SAMPLER",
		help: "which traces are recorded; unset: parentbased_always_on, all but those that a caller leaves out",
		set:  ifTraced(func(c *Config, v string) error { c.Sampler = v; return checkSampler(v) }),
		get:  func(c Config) string { return orUnset(c.Sampler) },
	},
	{
		name: "OTEL_TRACES_SAMPLER_ARG",
		help: "the share that a sampler with traceidratio records; unset: 1",
		set:  ifTraced(func(c *Config, v string) (err error) { c.SamplerRatio, err = parseShare(cmp.Or(v, "1")); return err }),
		get:  func(c Config) string { return strconv.FormatFloat(c.SamplerRatio, 'g', -1, 64) },
	},
}

// ifTraced has set see a value only where traces are sent. These variables are
// set for other programs too, in words that are none of ours.
func ifTraced(set func(*Config, string) error) func(*Config, string) error {
	return func(c *Config, v string) error {
		if !c.traced() {
			return nil
		}
		return set(c, v)
	}
}

func checkCollector(v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return errors.New("is not a URL such as http://collector:4318, without user and query")
	}
	return nil
}

func checkProtocol(v string) error {
	if v == "" {
		return nil
	}
	return oneOf(v, "http/protobuf")
}

func checkHeaders(v string) error {
	_, err := parseHeaders(v)
	return err
}

func checkSampler(v string) error {
	if v == "" {
		return nil
	}
	return oneOf(v, "always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio")
}
