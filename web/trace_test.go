package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
)

// spanBook keeps the spans that have ended.
type spanBook struct {
	t *testing.T
	*tracetest.SpanRecorder
}

// traced gives a book, and what has a server write into it.
func traced(t *testing.T) (spanBook, func(*Deps)) {
	b := spanBook{t, tracetest.NewSpanRecorder()}
	return b, func(d *Deps) { d.Traces = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b)) }
}

// named waits for the nth span with this name.
func (b spanBook) named(name string, nth int) (found sdktrace.ReadOnlySpan) {
	b.t.Helper()
	eventually(b.t, fmt.Sprintf("the span %q has ended %d times", name, nth), func() bool {
		left := nth
		for _, s := range b.Ended() {
			if s.Name() == name {
				if left--; left == 0 {
					found = s
				}
			}
		}
		return found != nil
	})
	return found
}

// about gives what a span carries, each as name=value, by name.
func about(s sdktrace.ReadOnlySpan) (list []string) {
	for _, a := range s.Attributes() {
		list = append(list, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(list)
	return list
}

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
)

// A submit goes on with its caller's trace: the request is below the caller's
// span, the acceptance below the request, and the notice keeps the acceptance.
func TestTracesOfASubmit(t *testing.T) {
	book, change := traced(t)
	x := newRig(t, change)
	const content = `{"title":"a hidden title","body":"a hidden body","link":"https://hidden.example.com/path"}`
	in := withHeader("traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	odd := withHeader("tracestate", "vendor=hidden")
	id := read[noticeJSON](t, x.call(db.Operator, "POST", "/notices", content, in, odd, withHeader("X-Request-Id", "req-1"))).ID
	request, acceptance := book.named("POST /api/v1/notices", 1), book.named("accept notice", 1)
	if got := request.Parent(); got.TraceID().String() != callersTrace || got.SpanID().String() != callersSpan || !got.IsRemote() {
		t.Errorf("the request is below %v", got)
	}
	if request.SpanKind() != trace.SpanKindServer || request.SpanContext().TraceState().String() != "" || request.Status().Code != codes.Unset {
		t.Errorf("the request is %v, %v, %v", request.SpanKind(), request.SpanContext().TraceState(), request.Status())
	}
	want := []string{"bongsu.request_id=req-1", "http.request.method=POST", "http.response.status_code=202", "http.route=/api/v1/notices", "url.scheme=http"}
	if got := about(request); !slices.Equal(got, want) {
		t.Errorf("the request carries %v, want %v", got, want)
	}
	if acceptance.Parent().SpanID() != request.SpanContext().SpanID() || acceptance.SpanContext().TraceID().String() != callersTrace {
		t.Errorf("the acceptance is below %v", acceptance.Parent())
	}
	if got, want := about(acceptance), []string{fmt.Sprintf("bongsu.notice.id=%d", id), "bongsu.notice.replayed=false"}; !slices.Equal(got, want) {
		t.Errorf("the acceptance carries %v, want %v", got, want)
	}
	kept := fmt.Sprintf("00-%s-%s-01", callersTrace, acceptance.SpanContext().SpanID())
	if x.count(`SELECT count(*) FROM notice WHERE traceparent = $1`, kept) != 1 {
		t.Errorf("the notice does not keep %s", kept)
	}
	line := x.log.of("request was answered")[0]
	if line["trace"] != callersTrace || line["request_id"] != "req-1" {
		t.Errorf("the line is %v", line)
	}

	// The same again, in another trace: it is linked with the first one's.
	x.call(db.Operator, "POST", "/notices", content)
	again := book.named("accept notice", 2)
	if links := again.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != acceptance.SpanContext().SpanID() ||
		again.SpanContext().TraceID().String() == callersTrace || !slices.Contains(about(again), "bongsu.notice.replayed=true") {
		t.Errorf("submitted again: links %v, %v", links, about(again))
	}
	book.hides("hidden", x.tokens[db.Operator], "test operator")
}

// hides checks that no span carries any of these.
func (b spanBook) hides(secrets ...string) {
	b.t.Helper()
	for _, s := range b.Ended() {
		text := fmt.Sprint(s.Name(), about(s), s.Status(), s.Events(), s.Links(), s.SpanContext())
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				b.t.Errorf("a span shows %q: %s", secret, text)
			}
		}
	}
}

// What a path or a query says is in no span, a request that fits no route has its
// method for a name, and an answer of ours that failed is an error.
func TestTracesNameRoutesAndNotAddresses(t *testing.T) {
	book, change := traced(t)
	x := newRig(t, change, func(d *Deps) { d.SecureCookies = true })
	x.send("GET", "/welcome/hidden", "")
	x.send("GET", "/no/hidden?token=hidden", "")
	x.send("HIDDEN", "/hidden", "")
	x.db.Close()
	if a := x.send("GET", "/api/v1/notices/1?hidden=1", "", withToken(x.tokens[db.Operator])); a.status != http.StatusServiceUnavailable {
		t.Errorf("without a database: %d %s", a.status, a.body)
	}
	book.hides("hidden", "HIDDEN", x.tokens[db.Operator])
	for name, want := range map[string][]attribute.KeyValue{
		"GET /welcome/{token}":     {attribute.String("http.route", "/welcome/{token}"), attribute.String("url.scheme", "https")},
		"GET":                      {attribute.Int("http.response.status_code", 404)},
		"HTTP":                     {attribute.String("http.request.method", "_OTHER")},
		"GET /api/v1/notices/{id}": {attribute.Int("http.response.status_code", 503), attribute.String("error.type", "503")},
	} {
		s := book.named(name, 1)
		for _, a := range want {
			if !slices.Contains(s.Attributes(), a) {
				t.Errorf("%s carries %v, without %s=%s", name, about(s), a.Key, a.Value.String())
			}
		}
		if failed := s.Status().Code == codes.Error; failed != (name == "GET /api/v1/notices/{id}") {
			t.Errorf("%s: %v", name, s.Status())
		}
	}
}

// A caller who leaves his trace out is heeded, down to the workers: the notice
// keeps that it is not sampled.
func TestTracesThatACallerLeavesOut(t *testing.T) {
	book, change := traced(t)
	x := newRig(t, change)
	x.call(db.Operator, "POST", "/notices", `{"title":"t","body":"b"}`, withHeader("traceparent", "00-"+callersTrace+"-"+callersSpan+"-00"))
	if x.count(`SELECT count(*) FROM notice WHERE traceparent LIKE $1`, "00-"+callersTrace+"-%-00") != 1 {
		t.Error("the notice does not keep that its trace is not sampled")
	}
	if n := len(book.Ended()); n != 0 {
		t.Errorf("%d spans were recorded", n)
	}
	if line := x.log.of("request was answered")[0]; line["trace"] != nil {
		t.Errorf("the line names a trace: %v", line)
	}
}

// Without a provider nothing is recorded, kept or named, whatever a caller sends.
func TestTracesAreOff(t *testing.T) {
	x := newRig(t)
	x.call(db.Operator, "POST", "/notices", `{"title":"t","body":"b"}`, withHeader("traceparent", "00-"+callersTrace+"-"+callersSpan+"-01"))
	if x.count(`SELECT count(*) FROM notice WHERE traceparent IS NULL`) != 1 {
		t.Error("a notice has a trace")
	}
	if line := x.log.of("request was answered")[0]; line["trace"] != nil {
		t.Errorf("the line names a trace: %v", line)
	}
}

func BenchmarkTracesOff(b *testing.B) {
	off := newTracing(nil)
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_, span := off.request(r, "GET /", nil, false)
		endRequest(span, "", http.StatusOK, "")
	}
}
