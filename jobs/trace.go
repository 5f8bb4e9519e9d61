package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"bongsu/db"
	"bongsu/jobs/push"
)

// Of each task these calls have a span, so that a notice to a million devices
// does not make a million of them: the first that end, whatever their end, and
// then the first failed ones.
const (
	spansOfCalls  = 20
	spansOfFailed = 20
)

// linksOfTrade is how many tasks the span of one exchange names at most.
const linksOfTrade = 32

// tracerOf gives the tracer of p; without one it records nothing.
func tracerOf(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return p.Tracer("bongsu/jobs")
}

// taskSpan is the span of one task, and makes those of its calls. It is nil
// where nothing is recorded, and then its methods do nothing. What a span carries
// is named here, one by one: numbers and words of ours, and no words of a vendor,
// which may quote what they were sent.
type taskSpan struct {
	tracer trace.Tracer
	ctx    context.Context // that of the span, for those below it
	span   trace.Span

	mu     sync.Mutex
	calls  int // that have ended
	failed int // of them
	spans  int // of calls that were failed and not among the first
}

// beginTask begins the span of a task that was begun at start. Its parent is the
// span in which its notice was accepted, so that one trace leads from there to
// the vendor; a notice that was accepted without one gets a trace for each task.
func (w *Worker) beginTask(name string, traceparent *string, start time.Time, about ...attribute.KeyValue) *taskSpan {
	ctx := context.Background()
	if traceparent != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": *traceparent})
	}
	ctx, span := w.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(start), trace.WithAttributes(about...))
	if !span.IsRecording() {
		return nil
	}
	return &taskSpan{tracer: w.tracer, ctx: ctx, span: span}
}

// end ends the span of a task whose calls have all ended. err is the task's own.
func (t *taskSpan) end(err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.span.SetAttributes(attribute.Int("bongsu.calls", t.calls), attribute.Int("bongsu.calls.failed", t.failed))
	if err != nil {
		t.span.SetStatus(codes.Error, "")
	}
	t.span.End()
}

// called makes the span of a call that has ended, if it is to have one.
func (t *taskSpan) called(v verdict) {
	if t == nil || !t.counts(v.result.Outcome) {
		return
	}
	attrs := append(make([]attribute.KeyValue, 0, 8),
		attribute.Int64("bongsu.notice.id", v.claim.NoticeID), attribute.Int64("bongsu.device.id", v.claim.DeviceID),
		attribute.Int("bongsu.attempt", v.claim.Attempts), attribute.String("bongsu.outcome", string(v.result.Outcome)),
		attribute.String("http.request.method", "POST"))
	if v.result.Status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", v.result.Status))
	}
	if v.result.Reason != "" {
		attrs = append(attrs, attribute.String("bongsu.reason", string(v.result.Reason)), attribute.String("error.type", string(v.result.Reason)))
	}
	_, span := t.tracer.Start(t.ctx, "POST", trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(v.started), trace.WithAttributes(attrs...))
	if v.result.Outcome != push.Sent {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(v.started.Add(v.took)))
}

// counts counts a call, and tells whether it has a span of its own.
func (t *taskSpan) counts(o push.Outcome) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	if o != push.Sent {
		t.failed++
	}
	if t.calls <= spansOfCalls {
		return true
	}
	if o == push.Sent || t.spans == spansOfFailed {
		return false
	}
	t.spans++
	return true
}

// traded makes the span of one exchange with the ledger that was begun at start.
// It serves tasks of many notices, so it is a trace of its own that is linked
// with theirs; where none of them is recorded, it has none.
func (x *exchange) traded(t trade, batches []db.Batch, start time.Time, err error) {
	links := t.links()
	if len(links) == 0 {
		return
	}
	claims := 0
	for _, b := range batches {
		claims += len(b.Claims)
	}
	_, span := x.tracer.Start(context.Background(), "record and claim", trace.WithTimestamp(start), trace.WithLinks(links...),
		trace.WithAttributes(attribute.Int("bongsu.results", len(t.entries)), attribute.Int("bongsu.claims", claims)))
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// links names the recorded tasks that a trade serves.
func (t trade) links() (links []trace.Link) {
	var tasks []*taskSpan
	add := func(task *taskSpan) {
		if task != nil && len(tasks) < linksOfTrade && !slices.Contains(tasks, task) {
			tasks = append(tasks, task)
			links = append(links, trace.Link{SpanContext: task.span.SpanContext()})
		}
	}
	for _, e := range t.entries {
		add(e.task)
	}
	for _, a := range t.asks {
		add(a.task)
	}
	return links
}
