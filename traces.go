package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traces hands spans to a collector. It is nil where none is named, and then
// nothing of it runs.
type traces struct {
	sdk      *sdktrace.TracerProvider
	exporter *exporter
	flush    time.Duration
}

// startTraces begins to send spans where c says so. Whatever becomes of the
// collector, nobody waits for it: spans wait in a queue that drops what it cannot
// hold, and each batch of them is tried once.
func (p *product) startTraces(ctx context.Context, c Config, l Limits, log *slog.Logger) error {
	if !c.traced() {
		return nil
	}
	headers, err := c.traceHeaders()
	if err != nil {
		return err // it was held against this at the start
	}
	e := &exporter{log: log}
	for value := range maps.Values(headers) {
		e.hidden = append(e.hidden, strings.Fields(value)...)
	}
	otel.SetLogger(logr.FromSlogHandler(errorsOnly{log.Handler()}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { e.failed(0, err) }))
	// The SDK reads its variables by itself. What our settings hold is given to it
	// all the same: they may come from a file, and a test has its own.
	e.SpanExporter, err = otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.traceURL()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithTimeout(l.TraceExport), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	p.traces = &traces{exporter: e, flush: l.TraceFlush, sdk: sdktrace.NewTracerProvider(
		sdktrace.WithSampler(samplerOf(c)),
		sdktrace.WithResource(traceResource(ctx, c, log)),
		sdktrace.WithBatcher(e, sdktrace.WithExportTimeout(l.TraceExport)),
	)}
	log.Info("traces are sent", "to", c.traceURL())
	return nil
}

// provider makes the tracers of the rooms; nil where nothing is recorded.
func (t *traces) provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.sdk
}

// stop sends what waits, for as long as the ladder and ctx allow, and breaks off
// what is under way then. That spans were lost is no failure of a stop.
func (t *traces) stop(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.flush)
	defer cancel()
	if err := t.sdk.Shutdown(ctx); err != nil {
		t.exporter.failed(0, err)
	}
	t.exporter.silence()
	_ = t.exporter.Shutdown(ctx)
}

// traceResource says whose spans they are. OTEL_RESOURCE_ATTRIBUTES adds to it, as
// the SDK reads it.
func traceResource(ctx context.Context, c Config, log *slog.Logger) *resource.Resource {
	options := []resource.Option{
		resource.WithAttributes(attribute.String("service.name", "bongsu"), attribute.String("service.version", version()),
			attribute.String("service.instance.id", processName())),
		resource.WithFromEnv(),
	}
	if c.ServiceName != "" {
		options = append(options, resource.WithAttributes(attribute.String("service.name", c.ServiceName)))
	}
	r, err := resource.New(ctx, options...)
	if err != nil {
		log.Warn("OTEL_RESOURCE_ATTRIBUTES is not understood in all its parts")
	}
	return r
}

// samplerOf decides which traces are recorded; c was checked.
func samplerOf(c Config) sdktrace.Sampler {
	root := sdktrace.AlwaysSample()
	name, ofParent := strings.CutPrefix(c.Sampler, "parentbased_")
	switch name {
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		root = sdktrace.TraceIDRatioBased(c.SamplerRatio)
	}
	if ofParent || c.Sampler == "" {
		return sdktrace.ParentBased(root)
	}
	return root
}

// exporter hands batches to the collector's client. Their failures end here: what
// the SDK would make of one is a line for each.
type exporter struct {
	sdktrace.SpanExporter
	log    *slog.Logger
	hidden []string // the words of the headers' values: no line shows them

	mu     sync.Mutex
	lost   int       // spans since the last line
	next   time.Time // there is no line before
	silent bool
}

// failedAgain is the least time between two lines about a collector.
const failedAgain = time.Minute

// errorBytes is how much of an error a line shows: a collector may answer with a page.
const errorBytes = 300

// ExportSpans tries once, and always succeeds for the SDK.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.failed(len(spans), err)
	}
	return nil
}

// failed warns that spans were lost, at most once a minute.
func (e *exporter) failed(spans int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	now := time.Now()
	if e.silent || now.Before(e.next) {
		return
	}
	text := err.Error()
	for _, value := range e.hidden {
		text = strings.ReplaceAll(text, value, mask)
	}
	e.log.Warn("traces were not sent", "spans", e.lost, "error", text[:min(len(text), errorBytes)])
	e.lost, e.next = 0, now.Add(failedAgain)
}

// silence ends the lines: the log's owner may be gone.
func (e *exporter) silence() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silent = true
}

// errorsOnly keeps the SDK's own talk from our log, such as how it is configured.
type errorsOnly struct{ slog.Handler }

// Enabled is true for errors.
func (errorsOnly) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// traced says whether spans are sent.
func (c Config) traced() bool { return !c.TracesOff && c.traceURL() != "" }

// traceURL is where spans are sent: the address for traces as it stands, or the
// collector's with the path that OTLP lays down.
func (c Config) traceURL() string {
	if c.CollectorTraces != "" || c.Collector == "" {
		return c.CollectorTraces
	}
	whole, err := url.JoinPath(c.Collector, "v1", "traces")
	if err != nil {
		return ""
	}
	return whole
}

// traceHeaders are those for traces, or else those for the collector.
func (c Config) traceHeaders() (map[string]string, error) {
	if c.CollectorTraceHeaders != "" {
		return parseHeaders(string(c.CollectorTraceHeaders))
	}
	return parseHeaders(string(c.CollectorHeaders))
}

// parseHeaders reads name=value,name=value, the values as in a URL. Its error
// shows none of them.
func parseHeaders(v string) (map[string]string, error) {
	headers := map[string]string{}
	for part := range strings.SplitSeq(v, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || strings.ContainsFunc(name, notInHeaderName) || strings.ContainsFunc(text, notInHeader) {
			return nil, errors.New("is not a list such as name=value,name2=value2")
		}
		headers[name] = text
	}
	return headers, nil
}

func notInHeader(r rune) bool { return r < ' ' || r >= 0x7f }

func notInHeaderName(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
