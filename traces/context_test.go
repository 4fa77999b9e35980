package traces_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

const (
	foreign = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	state   = "vendor=1"
)

// elsewhere is a span of another program.
func elsewhere(t testing.TB, flags trace.TraceFlags) trace.SpanContext {
	t.Helper()
	s, err := trace.ParseTraceState(state)
	must(t, err)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: flags, TraceState: s, Remote: true})
}

// A message that brings a context, or a part of one, keeps what it has.
func TestOwnHeadersStay(t *testing.T) {
	s := record()
	stamp := traces.Headers(traces.Options{TracerProvider: s.provider, Baggage: true})
	for _, own := range []string{"traceparent", "TraceParent", "tracestate", "baggage"} {
		m := outbox.Message{Topic: "t", Headers: map[string]string{own: "mine", "other": "1"}}
		s.within(t.Context(), func(ctx context.Context) {
			if got := stamp(ctx, &m); got != nil {
				t.Errorf("%s: %v", own, got)
			}
		})
	}
	if n := len(s.named("create t")); n != 0 {
		t.Errorf("%d spans", n)
	}

	// Through the database, beside a message that brings none.
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{})
		seen := p.handles("t", fine)
		own := map[string]string{"traceparent": foreign, "tracestate": state}
		p.within(func(ctx context.Context) { p.enqueue(ctx, outbox.Message{Topic: "t", Headers: own}) })
		p.run()
		if m := <-seen; !maps.Equal(m.Headers, own) {
			t.Errorf("headers %v", m.Headers)
		}
		link := p.one(t, "process t").Links()[0].SpanContext
		if link.TraceID().String() != foreign[3:35] || link.TraceState().String() != state {
			t.Errorf("linked to %v", link)
		}
	})
}

// Headers that make no sense are as none.
func TestUnreadableHeaders(t *testing.T) {
	for name, h := range map[string]map[string]string{
		"nonsense":   {"traceparent": "nonsense"},
		"empty":      {"traceparent": ""},
		"zeros":      {"traceparent": "00-00000000000000000000000000000000-0000000000000000-01"},
		"upper case": {"traceparent": strings.ToUpper(foreign)},
		"cut":        {"traceparent": foreign[:50]},
		"too much":   {"traceparent": foreign + "-and more"},
		"version ff": {"traceparent": "ff" + foreign[2:]},
		"long":       {"traceparent": strings.Repeat("0-", 8000)},
		"no text":    {"traceparent": "\x00\xff\xfe", "tracestate": "\xff", "baggage": "\xff=\xff"},
		"state only": {"tracestate": state},
		"loose":      {"": `{"traceparent":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := record()
			h2 := traces.Middleware(traces.Options{TracerProvider: s.provider, Baggage: true, Child: true})(fine)
			must(t, h2(t.Context(), &outbox.Message{Topic: "t", Headers: h}))
			wantFresh(t, s.one(t, "process t"))
		})
	}
	// What the state says is lost, but not where the message came from.
	s := record()
	h := traces.Middleware(traces.Options{TracerProvider: s.provider})(fine)
	must(t, h(t.Context(), &outbox.Message{Topic: "t", Headers: map[string]string{"traceparent": foreign, "tracestate": "=,=;;\x00" + strings.Repeat("a=1,", 999)}}))
	if links := s.one(t, "process t").Links(); len(links) != 1 || links[0].SpanContext.TraceState().Len() != 0 {
		t.Errorf("links %v", links)
	}
}

// What will be refused gets no span, and headers that have no room are left out:
// tracing refuses nothing that would be fine without it.
func TestRefused(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{})
		seen := p.handles("full", fine)
		p.within(func(ctx context.Context) {
			for _, m := range []outbox.Message{{}, {Topic: strings.Repeat("x", 300)}, {Topic: "t\xff"}, {Topic: "t", CorrelationID: "\x00"}, {Topic: "t", Priority: 101}} {
				if _, err := p.Outbox.Enqueue(ctx, m); err == nil {
					t.Errorf("%+v was taken", m)
				}
			}
			if n := len(p.rec.Ended()); n != 0 {
				t.Errorf("%d spans", n)
			}
			if stamp := traces.Headers(traces.Options{TracerProvider: p.provider}); stamp(ctx, &outbox.Message{Topic: "large", Payload: make([]byte, 2<<20)}) == nil {
				t.Error("a large message, which the outbox may allow, has no headers")
			}
			p.one(t, "create large")
			p.enqueue(ctx, outbox.Message{Topic: "full", Headers: map[string]string{"h": strings.Repeat("x", limits.HeaderBytes-1)}})
		})
		p.run()
		if m := <-seen; len(m.Headers) != 1 {
			t.Errorf("%d headers", len(m.Headers))
		}
	})
}

// In a trace that is not sampled nothing is recorded, but its context is passed on.
func TestSampledOut(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		s := record(sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
		p := on(t, e.Open(t), s, traces.Options{})
		inHandler := make(chan trace.SpanContext, 1)
		seen := p.handles("t", func(ctx context.Context, _ *outbox.Message) error {
			inHandler <- trace.SpanContextFromContext(ctx)
			return nil
		})
		from := elsewhere(t, 0)
		p.enqueue(trace.ContextWithSpanContext(t.Context(), from), outbox.Message{Topic: "t"})
		p.run()
		want := map[string]string{"traceparent": "00-01000000000000000000000000000000-0200000000000000-00", "tracestate": state}
		if m := <-seen; !maps.Equal(m.Headers, want) {
			t.Errorf("headers %v", m.Headers)
		}
		if sc := <-inHandler; !sc.IsValid() || sc.IsSampled() || sc.TraceID() == from.TraceID() {
			t.Errorf("in the handler: %v", sc)
		}
		if n := len(s.rec.Ended()); n != 0 {
			t.Errorf("%d spans", n)
		}
	})
}

// Without a provider nothing is recorded, and contexts are passed on all the same.
func TestNoProvider(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for _, provider := range []trace.TracerProvider{otel.GetTracerProvider(), noop.NewTracerProvider()} {
			p := on(t, e.Open(t), nil, traces.Options{TracerProvider: provider})
			seen := p.handles("t", fine)
			p.enqueue(t.Context(), outbox.Message{Topic: "t"})
			p.enqueue(trace.ContextWithSpanContext(t.Context(), elsewhere(t, trace.FlagsSampled)), outbox.Message{Topic: "t", CorrelationID: "traced"})
			p.run()
			want := map[string]string{"": "", "traced": "00-01000000000000000000000000000000-0200000000000000-01"}
			for range 2 {
				if m := <-seen; m.Headers["traceparent"] != want[m.CorrelationID] {
					t.Errorf("%q: headers %v", m.CorrelationID, m.Headers)
				}
			}
		}
	})
}

// Options.TracerProvider nil is the global one at the time of the call.
func TestGlobalProvider(t *testing.T) {
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) }) // what was there before hands on to the first that is set
	s := record()
	otel.SetTracerProvider(s.provider)
	h := traces.Middleware(traces.Options{})(fine)
	must(t, h(t.Context(), &outbox.Message{Topic: "t"}))
	if got := s.one(t, "process t").InstrumentationScope(); got.Name != "github.com/bravellian/pawl/traces" || got.SchemaURL == "" {
		t.Errorf("scope %+v", got)
	}
}

// Parent and child, in one trace.
func TestChild(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{Child: true})
		p.handles("t", fine)
		p.within(func(ctx context.Context) { p.enqueue(ctx, outbox.Message{Topic: "t"}) })
		p.run()
		create, process := p.one(t, "create t"), p.one(t, "process t")
		wantChild(t, process, create.SpanContext())
		if links := process.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != create.SpanContext().SpanID() {
			t.Errorf("links %v", links)
		}

		// What comes from nowhere is no child of the span in which Run was called.
		p2 := open(t, e, traces.Options{Child: true})
		p2.handles("t", fine)
		p2.enqueue(t.Context(), outbox.Message{Topic: "t"})
		p2.within(func(ctx context.Context) { must(t, p2.Run(ctx)) })
		wantFresh(t, p2.one(t, "process t"))
	})
}

func TestWithoutCreate(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{WithoutCreate: true})
		p.handles("t", fine)
		request := p.within(func(ctx context.Context) { p.enqueue(ctx, outbox.Message{Topic: "t"}) })
		p.run()
		wantLink(t, p.one(t, "process t"), request)
		if n := len(p.named("create t")); n != 0 {
			t.Errorf("%d spans", n)
		}
	})
}

// Baggage is carried if that was asked for, with a span or without.
func TestBaggage(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		member, err := baggage.NewMember("tenant", "acme")
		must(t, err)
		bag, err := baggage.New(member)
		must(t, err)
		for _, on := range []bool{false, true} {
			p := open(t, e, traces.Options{Baggage: on})
			got := make(chan string, 2)
			p.handles("t", func(ctx context.Context, _ *outbox.Message) error {
				got <- baggage.FromContext(ctx).Member("tenant").Value()
				return nil
			})
			ctx := baggage.ContextWithBaggage(t.Context(), bag)
			p.enqueue(ctx, outbox.Message{Topic: "t"})
			p.spans.within(ctx, func(ctx context.Context) { p.enqueue(ctx, outbox.Message{Topic: "t"}) })
			p.run()
			want := map[bool]string{false: "", true: "acme"}[on]
			if a, b := <-got, <-got; a != want || b != want {
				t.Errorf("baggage %v: %q and %q", on, a, b)
			}
		}
	})
}

// D-5: payloads and headers are nobody's business.
func TestSecrets(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{Attributes: []attribute.KeyValue{attribute.String("region", "eu")}})
		p.handles("t", fine)
		p.within(func(ctx context.Context) {
			p.enqueue(ctx, outbox.Message{Topic: "t", Payload: []byte("secret"), Headers: map[string]string{"h": "secret", "secret": "h"}})
		})
		p.run()
		for _, sp := range []sdktrace.ReadOnlySpan{p.one(t, "create t"), p.one(t, "process t")} {
			wantAttrs(t, sp, map[string]string{"region": "eu"})
			if slices.ContainsFunc(sp.Attributes(), func(kv attribute.KeyValue) bool {
				return strings.Contains(string(kv.Key)+kv.Value.String(), "secret")
			}) {
				t.Errorf("%s: %v", sp.Name(), sp.Attributes())
			}
		}
	})
}

// Messages that come from no sampled trace can do without spans, all or most of them.
func TestUntraced(t *testing.T) {
	messages := map[string]*outbox.Message{
		"sampled":     {Topic: "t", Headers: map[string]string{"traceparent": foreign}},
		"not sampled": {Topic: "t", Headers: map[string]string{"traceparent": foreign[:len(foreign)-1] + "0"}},
		"none":        {Topic: "t"},
	}
	const tries = 2000
	for _, c := range []struct {
		part     float64
		from, to int // spans of messages that are in no sampled trace
	}{{0, tries, tries}, {1, tries, tries}, {-1, 0, 0}, {0.1, 1, tries / 2}} {
		for name, m := range messages {
			s := record()
			var inHandler trace.SpanContext
			h := traces.Middleware(traces.Options{TracerProvider: s.provider, Untraced: c.part})(func(ctx context.Context, _ *outbox.Message) error {
				inHandler = trace.SpanContextFromContext(ctx)
				return nil
			})
			for range tries {
				must(t, h(t.Context(), m))
			}
			from, to := c.from, c.to
			if name == "sampled" {
				from, to = tries, tries
			}
			if n := len(s.named("process t")); n < from || n > to {
				t.Errorf("part %v, %s: %d spans of %d", c.part, name, n, tries)
			}
			if c.part < 0 && name == "not sampled" && (inHandler.TraceID().String() != foreign[3:35] || inHandler.IsSampled()) {
				t.Errorf("the handler is in %v", inHandler)
			}
		}
	}
}
