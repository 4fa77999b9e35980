package traces_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

// program is a pawl that is traced, and what became of its spans.
type program struct {
	*pawl.Pawl
	*spans
	t  *testing.T
	db dbtest.Database
}

// spans are a provider's.
type spans struct {
	rec      *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

func record(opts ...sdktrace.TracerProviderOption) *spans {
	rec := tracetest.NewSpanRecorder()
	return &spans{rec: rec, provider: sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(rec))...)}
}

// named returns the spans of a name that have ended, in order of their end.
func (s *spans) named(name string) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(s.rec.Ended(), func(sp sdktrace.ReadOnlySpan) bool { return sp.Name() != name })
}

// one returns the only span of a name.
func (s *spans) one(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	found := s.named(name)
	if len(found) != 1 {
		t.Fatalf("%d spans %q among %d", len(found), name, len(s.rec.Ended()))
	}
	return found[0]
}

func quiet() pawl.Options {
	return pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), Retry: &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 0 }}}
}

// eachEngine is dbtest.EachEngine with one database for all that the test opens:
// making one takes longer than the tests, each of which leaves nothing to do.
func eachEngine(t *testing.T, test func(t *testing.T, e dbtest.Engine)) {
	t.Helper()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		test(t, dbtest.Engine{Name: e.Name, Open: func(testing.TB) dbtest.Database { return db }})
	})
}

// on is a program on a database that is there.
func on(t *testing.T, db dbtest.Database, s *spans, o traces.Options) *program {
	t.Helper()
	p, err := pawl.New(db.DB, quiet())
	must(t, err)
	if o.TracerProvider == nil {
		o.TracerProvider = s.provider
	}
	must(t, traces.Instrument(p, o))
	return &program{Pawl: p, spans: s, t: t, db: db}
}

func open(t *testing.T, e dbtest.Engine, o traces.Options) *program {
	t.Helper()
	return on(t, e.Open(t), record(), o)
}

// within runs fn in a span, whose context it returns.
func (p *program) within(fn func(ctx context.Context)) trace.SpanContext {
	return p.spans.within(p.t.Context(), fn)
}

func (s *spans) within(ctx context.Context, fn func(ctx context.Context)) trace.SpanContext {
	ctx, span := s.provider.Tracer("test").Start(ctx, "request")
	defer span.End()
	fn(ctx)
	return span.SpanContext()
}

// handles registers a handler that does f, and passes its messages on.
func (p *program) handles(topic string, f func(ctx context.Context, m *outbox.Message) error) <-chan outbox.Message {
	seen := make(chan outbox.Message, 100)
	p.Handle(topic, func(ctx context.Context, m *outbox.Message) error {
		seen <- *m
		return f(ctx, m)
	})
	return seen
}

func fine(context.Context, *outbox.Message) error { return nil }

// run works until nothing is left to do.
func (p *program) run() {
	p.t.Helper()
	must(p.t, p.Run(p.t.Context()))
}

func (p *program) enqueue(ctx context.Context, m outbox.Message) outbox.MessageID {
	p.t.Helper()
	id, err := p.Outbox.Enqueue(ctx, m)
	must(p.t, err)
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// attr returns an attribute of a span as text, "" if it is not there.
func attr(sp sdktrace.ReadOnlySpan, key string) string {
	for _, kv := range sp.Attributes() {
		if kv.Key == attribute.Key(key) {
			return kv.Value.String()
		}
	}
	return ""
}

func wantAttrs(t *testing.T, sp sdktrace.ReadOnlySpan, want map[string]string) {
	t.Helper()
	for key, v := range want {
		if got := attr(sp, key); got != v {
			t.Errorf("span %q: %s is %q, want %q", sp.Name(), key, got, v)
		}
	}
}

// wantLink checks that a span is a root with one link, to a span that is elsewhere.
func wantLink(t *testing.T, sp sdktrace.ReadOnlySpan, to trace.SpanContext) {
	t.Helper()
	if sp.Parent().IsValid() || sp.SpanContext().TraceID() == to.TraceID() {
		t.Errorf("span %q is no root: its parent is %v", sp.Name(), sp.Parent().SpanID())
	}
	links := sp.Links()
	if len(links) != 1 {
		t.Fatalf("span %q has %d links", sp.Name(), len(links))
	}
	got := links[0].SpanContext
	if got.TraceID() != to.TraceID() || got.SpanID() != to.SpanID() || !got.IsRemote() {
		t.Errorf("span %q is linked to %v/%v, want %v/%v", sp.Name(), got.TraceID(), got.SpanID(), to.TraceID(), to.SpanID())
	}
}

// wantFresh checks that a span is a root that comes from nowhere.
func wantFresh(t *testing.T, sp sdktrace.ReadOnlySpan) {
	t.Helper()
	if sp.Parent().IsValid() || len(sp.Links()) > 0 {
		t.Errorf("span %q has parent %v and %d links", sp.Name(), sp.Parent().SpanID(), len(sp.Links()))
	}
}

// wantChild checks that a span is the child of another in this process.
func wantChild(t *testing.T, sp sdktrace.ReadOnlySpan, of trace.SpanContext) {
	t.Helper()
	if sp.Parent().SpanID() != of.SpanID() || sp.SpanContext().TraceID() != of.TraceID() {
		t.Errorf("span %q has parent %v in %v, want %v in %v", sp.Name(), sp.Parent().SpanID(), sp.SpanContext().TraceID(), of.SpanID(), of.TraceID())
	}
}
