package web

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"bongsu/db"
)

// tracing begins the spans of requests. What a span carries is named here, one
// by one: numbers and names of ours. No text of a notice, no address and its
// query, no person and no error's own words, which may quote any of them.
type tracing struct {
	tracer trace.Tracer
	on     bool
}

// newTracing makes it from p; nil records nothing.
func newTracing(p trace.TracerProvider) tracing {
	if p == nil {
		return tracing{tracer: noop.NewTracerProvider().Tracer("")}
	}
	return tracing{tracer: p.Tracer("bongsu/web"), on: true}
}

// request begins the span of r under the route's pattern, which is empty where
// no route fits. It goes on with the trace that a traceparent header names; a
// tracestate is left behind, since anything may stand in it.
func (t tracing) request(r *http.Request, pattern string, h http.Handler, https bool) (context.Context, trace.Span) {
	ctx := r.Context()
	if !t.on {
		return ctx, trace.SpanFromContext(ctx) // the one that records nothing
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": r.Header.Get("traceparent")})
	method := knownMethod(r.Method)
	attrs := []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("url.scheme", "http")}
	if https || r.TLS != nil {
		attrs[1] = attribute.String("url.scheme", "https")
	}
	name := pattern
	if b, ok := h.(bound); ok {
		attrs = append(attrs, attribute.String("http.route", b.rt.path))
	} else if name = method; method == otherMethod {
		name = "HTTP"
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
}

// otherMethod stands for a method that HTTP does not know: a client could make
// up any number of them.
const otherMethod = "_OTHER"

func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return otherMethod
}

// endRequest ends the span of a request that was answered with status, 0 where
// there was no answer. end says how the request ended before its answer.
func endRequest(span trace.Span, id string, status int, end string) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("bongsu.request_id", id))
	if status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
	}
	switch {
	case end != "":
		span.SetAttributes(attribute.String("bongsu.ended", end), attribute.String("error.type", end))
		span.SetStatus(codes.Error, "")
	case status >= http.StatusInternalServerError:
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// acceptance begins the span in which a draft becomes a notice, and gives what
// the notice is to keep of it: the workers go on from there.
func (t tracing) acceptance(ctx context.Context) (_ context.Context, span trace.Span, traceparent string) {
	ctx, span = t.tracer.Start(ctx, "accept notice")
	kept := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, kept)
	return ctx, span, kept.Get("traceparent")
}

// endAcceptance ends that span. The notice of an earlier submit is linked with
// the trace in which it was stored.
func endAcceptance(span trace.Span, a db.Acceptance, err error) {
	defer span.End()
	switch {
	case !span.IsRecording():
	case err != nil:
		span.SetStatus(codes.Error, "")
	default:
		span.SetAttributes(attribute.Int64("bongsu.notice.id", a.Notice.ID), attribute.Bool("bongsu.notice.replayed", a.Replayed))
		if a.Replayed && a.Notice.Traceparent != nil {
			origin := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": *a.Notice.Traceparent})
			span.AddLink(trace.LinkFromContext(origin))
		}
	}
}

// traceOf is the id of the trace that span is recorded in; empty where it is not.
func traceOf(span trace.Span) string {
	if !span.IsRecording() {
		return ""
	}
	return span.SpanContext().TraceID().String()
}
