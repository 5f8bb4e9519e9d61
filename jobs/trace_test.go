package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

const (
	submitTrace = "0af7651916cd43dd8448eb211c80319c"
	submitSpan  = "b7ad6b7169203331"
)

// traced has a process write its spans into the book.
func traced(book *tracetest.SpanRecorder) func(*Config) {
	return func(c *Config) {
		c.Traces = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(book))
		c.Schedule = push.Schedule{20 * time.Millisecond}
	}
}

// acceptIn accepts a notice in a trace with these flags.
func (h *house) acceptIn(title, flags string) db.Notice {
	h.t.Helper()
	a, err := h.db.AcceptNotice(h.t.Context(), db.Draft{Title: title, Body: "a hidden body", Link: "https://hidden.example.com/path",
		Traceparent: "00-" + submitTrace + "-" + submitSpan + "-" + flags}, by, nil, 24*time.Hour)
	h.no(err)
	return a.Notice
}

// spans gives those of the book with this name.
func spans(book *tracetest.SpanRecorder, name string) (list []sdktrace.ReadOnlySpan) {
	for _, s := range book.Ended() {
		if s.Name() == name {
			list = append(list, s)
		}
	}
	return list
}

// carried gives what a span carries under this name, as text; empty where nothing.
func carried(s sdktrace.ReadOnlySpan, name string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == name {
			return a.Value.String()
		}
	}
	return ""
}

// One trace leads from the submit to each call: the tasks are below the span in
// which the notice was accepted, the calls below their tasks. Of 400 calls the
// first and the failed ones have a span.
func TestTracesOfANotice(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	const all, bad = 400, 12
	h.devices(all, func(i int) string {
		if i%(all/bad) == 0 && i/(all/bad) < bad {
			return fmt.Sprintf("down-hidden-%d", i)
		}
		return fmt.Sprintf("ok-hidden-%d", i)
	})
	book := tracetest.NewSpanRecorder()
	_, _, stop := h.process(traced(book))
	n := h.acceptIn("a hidden title", "01")
	_, c := h.finished(n.ID, time.Minute)
	stop()
	if c.Sent != all-bad || c.Failed != bad {
		t.Fatalf("the scene is another: %+v", c)
	}
	id := fmt.Sprint(n.ID)
	tasks := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	calls := 0
	for _, s := range append(spans(book, "tell range"), spans(book, "tell retries")...) {
		tasks[s.SpanContext().SpanID()] = s
		if p := s.Parent(); p.TraceID().String() != submitTrace || p.SpanID().String() != submitSpan || s.SpanKind() != trace.SpanKindConsumer {
			t.Errorf("%s is %v below %v", s.Name(), s.SpanKind(), p)
		}
		if carried(s, "bongsu.notice.id") != id || s.Name() == "tell range" && carried(s, "bongsu.range.seq") == "" {
			t.Errorf("%s carries %v", s.Name(), s.Attributes())
		}
		var made int
		_, err := fmt.Sscan(carried(s, "bongsu.calls"), &made)
		h.no(err)
		calls += made
	}
	if len(spans(book, "tell range")) != 1 || len(spans(book, "tell retries")) == 0 || calls != all+bad {
		t.Errorf("%d range tasks, %d retry tasks, %d calls", len(spans(book, "tell range")), len(spans(book, "tell retries")), calls)
	}
	failed := map[string]int{} // by attempt
	for _, s := range spans(book, "POST") {
		if tasks[s.Parent().SpanID()] == nil || s.SpanKind() != trace.SpanKindClient || carried(s, "bongsu.notice.id") != id || carried(s, "bongsu.device.id") == "" {
			t.Errorf("a call is %v below %v and carries %v", s.SpanKind(), s.Parent(), s.Attributes())
		}
		if took := s.EndTime().Sub(s.StartTime()); took <= 0 || took > time.Minute {
			t.Errorf("a call took %v", took)
		}
		if s.Status().Code == codes.Error {
			failed[carried(s, "bongsu.attempt")]++
			if carried(s, "bongsu.reason") != "vendor_error" || carried(s, "http.response.status_code") != "503" || carried(s, "bongsu.outcome") != "transient" {
				t.Errorf("a failed call carries %v", s.Attributes())
			}
		} else if carried(s, "http.response.status_code") != "200" || carried(s, "bongsu.outcome") != "sent" {
			t.Errorf("a call carries %v", s.Attributes())
		}
	}
	if n := len(spans(book, "POST")); failed["1"] != bad || failed["2"] != bad || n < 2*bad || n > 2*bad+spansOfCalls {
		t.Errorf("%d spans of calls, failed ones by attempt %v", n, failed)
	}
	tradesAreLinked(t, book, tasks)
	for _, s := range book.Ended() {
		if text := fmt.Sprint(s.Name(), s.Attributes(), s.Status(), s.Events()); strings.Contains(text, "hidden") {
			t.Errorf("a span shows what it must not: %s", text)
		}
	}
}

// tradesAreLinked checks that the exchanges are traces of their own, linked with
// these tasks and with no others.
func tradesAreLinked(t *testing.T, book *tracetest.SpanRecorder, tasks map[trace.SpanID]sdktrace.ReadOnlySpan) {
	t.Helper()
	trades := spans(book, "record and claim")
	var results, claims int
	for _, s := range trades {
		if s.Parent().IsValid() || s.SpanContext().TraceID().String() == submitTrace || len(s.Links()) == 0 {
			t.Errorf("an exchange is below %v, with %d links", s.Parent(), len(s.Links()))
		}
		for _, l := range s.Links() {
			if tasks[l.SpanContext.SpanID()] == nil {
				t.Errorf("an exchange is linked with %v, which is no task", l.SpanContext)
			}
		}
		var r, c int
		if _, err := fmt.Sscan(carried(s, "bongsu.results"), &r); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(carried(s, "bongsu.claims"), &c); err != nil {
			t.Fatal(err)
		}
		results, claims = results+r, claims+c
	}
	if results == 0 || results != claims {
		t.Errorf("%d exchanges carried %d results and %d claims", len(trades), results, claims)
	}
}

// A trace that its caller left out is left out here too, with its exchanges; a
// notice without a trace gets one for each task.
func TestTracesOfNoticesThatHaveNone(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(50, good)
	book := tracetest.NewSpanRecorder()
	h.process(traced(book))
	h.finished(h.acceptIn("left out", "00").ID, time.Minute)
	if n := len(book.Ended()); n != 0 {
		t.Fatalf("%d spans were recorded of a trace that is not", n)
	}
	h.finished(h.accept("without").ID, time.Minute)
	h.until(1, time.Minute, "recorded", func(db.Notice, db.Counts) bool { return len(spans(book, "tell range")) > 0 })
	if s := spans(book, "tell range")[0]; s.Parent().IsValid() || !s.SpanContext().IsValid() {
		t.Errorf("the task of a notice without a trace is %v below %v", s.SpanContext(), s.Parent())
	}
	for _, s := range book.Ended() {
		if s.SpanContext().TraceID().String() == submitTrace {
			t.Errorf("%s was recorded in the trace that is left out", s.Name())
		}
	}
}

// However many calls a task makes, so many have a span: the first to end, and
// then the first failed ones.
func TestTracesAreBounded(t *testing.T) {
	var task taskSpan
	var had []int
	outcomes := func(i int) push.Outcome {
		if i%2 == 0 {
			return push.Sent
		}
		return push.Transient
	}
	for i := range 1000 {
		if task.counts(outcomes(i)) {
			had = append(had, i)
		}
	}
	var want []int
	for i := range spansOfCalls {
		want = append(want, i)
	}
	for i := range spansOfFailed {
		want = append(want, spansOfCalls+2*i+1)
	}
	if !slices.Equal(had, want) || task.calls != 1000 || task.failed != 500 {
		t.Errorf("%d calls, %d failed; spans for %v, want %v", task.calls, task.failed, had, want)
	}
}

// BenchmarkTracesOff is what a call and an exchange cost where nothing is recorded.
func BenchmarkTracesOff(b *testing.B) {
	var task *taskSpan
	x := &exchange{tracer: tracerOf(nil)}
	t := trade{entries: make([]entry, 256), asks: []*ask{{}, {}}}
	b.Run("call", func(b *testing.B) {
		v := verdict{task: task}
		for b.Loop() {
			task.called(v)
		}
	})
	b.Run("exchange of 256", func(b *testing.B) {
		for b.Loop() {
			x.traded(t, nil, time.Time{}, nil)
		}
	})
}
