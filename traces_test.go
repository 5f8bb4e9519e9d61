package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collectpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector takes spans as OTLP over HTTP has them, and keeps them.
type collector struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	spans   []*tracepb.Span
	of      []string // the service's name in each request
	headers []string // authorization, in each
	raw     bytes.Buffer
	hold    chan struct{} // not nil: it answers only when this is closed
	held    int           // requests that it does not answer
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Cleanup(c.release)
	c.url = server.URL
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	hold := c.hold
	if hold != nil {
		c.held++
	}
	c.mu.Unlock()
	if hold != nil {
		<-hold
		return
	}
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if in, err = gzip.NewReader(r.Body); err != nil {
			c.t.Error(err)
			return
		}
	}
	raw, err := io.ReadAll(in)
	var req collectpb.ExportTraceServiceRequest
	if err := errors.Join(err, proto.Unmarshal(raw, &req)); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("the collector was sent %s %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	c.headers = append(c.headers, r.Header.Get("Authorization"))
	for _, rs := range req.GetResourceSpans() {
		for _, a := range rs.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				c.of = append(c.of, a.GetValue().GetStringValue())
			}
		}
		for _, ss := range rs.GetScopeSpans() {
			c.spans = append(c.spans, ss.GetSpans()...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// hang has it answer nothing more until release.
func (c *collector) hang() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = make(chan struct{})
}

func (c *collector) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hold != nil {
		close(c.hold)
		c.hold = nil
	}
}

func (c *collector) holding() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held > 0
}

// below gives the spans with this name in the trace whose parent is the span.
func (c *collector) below(traceID, parent, name string) (found []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == traceID && hex.EncodeToString(s.GetParentSpanId()) == parent && s.GetName() == name {
			found = append(found, s)
		}
	}
	return found
}

// only is below where there must be exactly one; it gives its id too.
func (c *collector) only(traceID, parent, name string) (s *tracepb.Span, id string) {
	c.t.Helper()
	found := c.below(traceID, parent, name)
	if len(found) != 1 {
		c.t.Fatalf("%d spans %q are below %s in trace %s", len(found), name, parent, traceID)
	}
	return found[0], hex.EncodeToString(found[0].GetSpanId())
}

const (
	callersTrace  = "0af7651916cd43dd8448eb211c80319c"
	callersSpan   = "b7ad6b7169203331"
	callersParent = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// submitIn submits this content in the caller's trace.
func (s *site) submitIn(base, content string) (n apiNotice, status int) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, base+"/api/v1/notices", strings.NewReader(content))
	s.no(err)
	req.Header.Set("traceparent", callersParent)
	status, err = s.api.do(req, &n)
	s.no(err)
	return n, status
}

// TestTracesFromTheSubmitToTheCall runs pages and work in two processes. One trace,
// the caller's, holds the request, the acceptance, the range and its calls, each
// below the one before, and no span holds what was sent or whose it is.
func TestTracesFromTheSubmitToTheCall(t *testing.T) {
	t.Parallel()
	s, c := newSite(t, plainVendor()), newCollector(t)
	s.devices(30, func(i int) string { return []string{"ok-", "expired-"}[i/29] + goodToken(i) })
	settings := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20collector-secret",
		"OTEL_SERVICE_NAME=push-test", "BONGSU_VENDOR_TOKEN=vendor-secret", "BONGSU_LOG=debug"}
	pages, work := s.start(roleWeb, settings...), s.start(roleWorker, settings...)
	n, status := s.submitIn(pages.base, `{"title":"hidden title","body":"hidden body","link":"https://hidden.example.com/"}`)
	if status != http.StatusAccepted {
		t.Fatalf("the submit was answered with %d", status)
	}
	s.finished(n.ID)
	s.quits(pages) // what waits is sent at the end
	s.quits(work)

	request, requestID := c.only(callersTrace, callersSpan, "POST /api/v1/notices")
	_, acceptance := c.only(callersTrace, requestID, "accept notice")
	_, task := c.only(callersTrace, acceptance, "tell range")
	calls := c.below(callersTrace, task, "POST")
	failed := 0
	for _, s := range calls {
		if s.GetKind() != tracepb.Span_SPAN_KIND_CLIENT {
			t.Errorf("a call is %v", s.GetKind())
		}
		if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			failed++
		}
	}
	if request.GetKind() != tracepb.Span_SPAN_KIND_SERVER || len(calls) < 20 || len(calls) > 21 || failed != 1 {
		t.Errorf("the request is %v; %d calls have a span, %d of them failed", request.GetKind(), len(calls), failed)
	}
	if slices.ContainsFunc(c.of, func(name string) bool { return name != "push-test" }) ||
		slices.ContainsFunc(c.headers, func(h string) bool { return h != "Bearer collector-secret" }) {
		t.Errorf("the collector was told %v with %v", c.of, c.headers)
	}
	for _, secret := range []string{"hidden", goodToken(0), goodToken(29), s.api.token, "vendor-secret", "collector-secret", s.sim.URL()} {
		if bytes.Contains(c.raw.Bytes(), []byte(secret)) {
			t.Errorf("a span shows %q", secret)
		}
	}
	for _, p := range []*proc{pages, work} {
		log, err := os.ReadFile(p.log)
		s.no(err)
		if bytes.Contains(log, []byte("collector-secret")) {
			t.Error("the log shows a header of the collector")
		}
	}
}

// TestTracesToACollectorThatHangs submits many notices while no batch gets through
// and the queue is full, and then stops. A process that waited for the collector
// would need two seconds for each span; in the end it waits as the ladder says.
func TestTracesToACollectorThatHangs(t *testing.T) {
	t.Parallel()
	s, c := newSite(t, plainVendor()), newCollector(t)
	c.hang()
	started := time.Now()
	collecting := "OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url
	p := s.start(roleAll, collecting, "OTEL_BSP_MAX_QUEUE_SIZE=40", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1", "OTEL_BSP_SCHEDULE_DELAY=1")
	l := goodLimits(t, collecting)
	s.until("the collector holds a batch", c.holding)
	const submits = 60 // of two spans each
	began := time.Now()
	for i := range submits {
		s.submits("notice "+goodToken(i), http.StatusAccepted)
	}
	blocked := (2*submits - 40) * l.TraceExport
	if took := time.Since(began); took > blocked/4 {
		t.Errorf("%d submits took %s; waiting for the collector would take %s", submits, took, blocked)
	}
	began = time.Now()
	s.quits(p)
	if took, all := time.Since(began), 40*l.TraceExport; took > l.Grace {
		t.Errorf("the stop took %s, over the grace of %s; sending what waits would take %s", took, l.Grace, all)
	}
	log, err := os.ReadFile(p.log)
	s.no(err)
	if n := bytes.Count(log, []byte("traces were not sent")); n < 1 || n > 1+int(time.Since(started).Minutes()) {
		t.Errorf("the log says %d times that traces were not sent:\n%s", n, log)
	}
}

// Where no collector is named nothing is made and nothing is kept, whatever a
// caller sends.
func TestTracesAreOff(t *testing.T) {
	t.Parallel()
	for _, environ := range [][]string{nil, {"OTEL_SDK_DISABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"}} {
		c, err := loadConfig(environ)
		if err != nil {
			t.Fatal(err)
		}
		var p product
		if err := p.startTraces(t.Context(), c, limitsOf(c), slog.New(slog.DiscardHandler)); err != nil || p.traces != nil || p.traces.provider() != nil {
			t.Errorf("%v: %v, %v", environ, p.traces, err)
		}
		p.traces.stop(t.Context())
	}
	s := newSite(t, plainVendor())
	s.devices(1, goodToken)
	base := s.boot("OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=")
	n, _ := s.submitIn(base, `{"title":"t","body":"b"}`)
	s.finished(n.ID)
	if s.count("SELECT count(*) FROM notice WHERE traceparent IS NULL") != 1 {
		t.Error("the notice keeps a trace")
	}
}

// A wrong address stops the start, and the error names the variable.
func TestTracesToNowhereStopTheStart(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), []string{"bongsu", "serve"}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector", "BONGSU_DATA_DIR=" + t.TempDir()},
		strings.NewReader(""), &out, &out)
	wantError(t, err, "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL such as http://collector:4318")
}

// failing is a collector's client that fails.
type failing struct{ sdktrace.SpanExporter }

func (failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("failed to send: 401 (body: Bearer s3cret is wrong" + strings.Repeat(" and wrong", 1000) + ")")
}

// Failures are told once a minute, with how many spans were lost since, and
// without a word of a header.
func TestTracesTellOfACollectorOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e := &exporter{SpanExporter: failing{}, log: slog.New(slog.NewTextHandler(&log, nil)), hidden: []string{"Bearer", "s3cret"}}
		spans := tracetest.SpanStubs{{Name: "a"}, {Name: "b"}}.Snapshots()
		for range 119 { // until just before the next minute ends
			if err := e.ExportSpans(t.Context(), spans); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "spans=2 ") || !strings.Contains(lines[1], "spans=120 ") {
			t.Errorf("the log says:\n%s", log.String())
		}
		if strings.Contains(log.String(), "s3cret") || !strings.Contains(log.String(), mask) || len(lines[0]) > 2*errorBytes {
			t.Errorf("a line shows a header, or all of an answer: %s", lines[0])
		}
		e.silence()
		time.Sleep(time.Hour)
		e.failed(1, errors.New("late"))
		if strings.Contains(log.String(), "late") {
			t.Error("it goes on talking after the end")
		}
	})
}

// The samplers' names mean what OpenTelemetry says.
func TestTracesAreSampledAsAsked(t *testing.T) {
	for name, want := range map[string]string{
		"": "ParentBased{root:AlwaysOnSampler", "always_on": "AlwaysOnSampler", "always_off": "AlwaysOffSampler",
		"traceidratio": "TraceIDRatioBased{0.25}", "parentbased_always_on": "ParentBased{root:AlwaysOnSampler",
		"parentbased_always_off": "ParentBased{root:AlwaysOffSampler", "parentbased_traceidratio": "ParentBased{root:TraceIDRatioBased{0.25}",
	} {
		c, err := loadConfig([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_TRACES_SAMPLER=" + name, "OTEL_TRACES_SAMPLER_ARG=0.25"})
		if err != nil {
			t.Error(err)
		}
		if got := samplerOf(c).Description(); !strings.HasPrefix(got, want) {
			t.Errorf("%q samples as %s", name, got)
		}
	}
	r := traceResource(t.Context(), Config{}, slog.New(slog.DiscardHandler))
	if v, _ := r.Set().Value(attribute.Key("service.name")); v.AsString() != "bongsu" && os.Getenv("OTEL_SERVICE_NAME") == "" {
		t.Errorf("without a name the service is %q", v.AsString())
	}
}
