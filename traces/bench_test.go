package traces_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

func providers() map[string]trace.TracerProvider {
	return map[string]trace.TracerProvider{
		"none":       otel.GetTracerProvider(),
		"sampledOut": sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		"sampled":    sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample())), // and exported to nowhere
	}
}

// What an enqueue pays: in no span, in one that is sampled out, and in one that is
// sampled.
func BenchmarkStamp(b *testing.B) {
	m := outbox.Message{Topic: "order.created", Payload: make([]byte, 200), CorrelationID: "c-7"}
	stamp := func(b *testing.B, o traces.Options, sc trace.SpanContext) {
		f, ctx := traces.Headers(o), trace.ContextWithSpanContext(b.Context(), sc)
		b.ReportAllocs()
		for b.Loop() {
			f(ctx, &m)
		}
	}
	ps := providers()
	b.Run("no span", func(b *testing.B) {
		stamp(b, traces.Options{TracerProvider: ps["sampled"]}, trace.SpanContext{})
	})
	b.Run("sampled out", func(b *testing.B) {
		stamp(b, traces.Options{TracerProvider: ps["sampled"]}, elsewhere(b, 0))
	})
	b.Run("sampled", func(b *testing.B) {
		stamp(b, traces.Options{TracerProvider: ps["sampled"]}, elsewhere(b, trace.FlagsSampled))
	})
	b.Run("sampled without create", func(b *testing.B) {
		stamp(b, traces.Options{TracerProvider: ps["sampled"], WithoutCreate: true}, elsewhere(b, trace.FlagsSampled))
	})
}

// What an attempt pays, for a message with a context and one without.
func BenchmarkMiddleware(b *testing.B) {
	for name, provider := range providers() {
		for what, h := range map[string]map[string]string{"plain": nil, "linked": {"traceparent": foreign}} {
			b.Run(name+"/"+what, func(b *testing.B) {
				f := traces.Middleware(traces.Options{TracerProvider: provider})(fine)
				m := &outbox.Message{ID: outbox.MessageID{1}, Topic: "order.created", Payload: make([]byte, 200), CorrelationID: "c-7", Headers: h}
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					if err := f(ctx, m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
