// Package traces shows the work of a Pawl in OpenTelemetry: where a message was
// enqueued, and every attempt to handle it.
//
//	err := traces.Instrument(p, traces.Options{})
//
// A message that is enqueued within a span carries that span's W3C trace context
// in its headers, through the database, to whichever process handles it. There each
// attempt is a span of its own, in a trace of its own, with a link to where the
// message came from: a message may be handled hours later, and a trace that stays
// open for hours helps nobody. Names and attributes are those of OpenTelemetry's
// conventions for messaging; what they have no word for begins with "pawl.".
//
// A flow is one trace: attempts at it, at its parts and at flows that it calls are children of the span
// that it began in, and each step that runs is a span within its attempt.
//
// Spans have no payloads and no headers. They have the text of handlers' errors.
package traces

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Options say what is traced, and how. The zero value is right for most programs.
type Options struct {
	// TracerProvider makes the spans, default otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// Propagator writes contexts into headers and reads them, default W3C's trace
	// context. It is not otel's global one: that does nothing unless somebody has set
	// it, and then it may well store in the database what was never meant to last.
	Propagator propagation.TextMapPropagator
	// Baggage has messages carry W3C's baggage, too. It lies in the database as long
	// as its message does.
	Baggage bool
	// Child makes a handler's span the child of the span that its message came from,
	// in the same trace. For messages that are handled at once, and few; the link is
	// there all the same. Whoever may write headers then also decides what is sampled.
	Child bool
	// WithoutCreate leaves out the span "create <topic>", one for each message that is
	// enqueued in a trace that is sampled. Messages then carry the caller's span. A flow that
	// begins in no trace has one all the same: it begins its trace.
	WithoutCreate bool
	// Untraced is the part of the attempts that get a span at messages which come from
	// no trace, or from one that is not sampled: 0.01 is one in a hundred. 0 means all
	// of them, as far as the provider's sampler agrees; negative none. The sampler can
	// thin them out as well, but it is asked when the span is being made: that is 1 µs
	// and more for each message, which workers that do 100 000 a second notice (bench,
	// scenario Z). Messages from a sampled trace always get their spans.
	Untraced float64
	// Attributes are put on every span.
	Attributes []attribute.KeyValue
}

// Validate returns a pawl.InvalidError that names the first invalid field. Instrument calls it.
func (o *Options) Validate() error {
	if !(o.Untraced <= 1) { // NaN is not
		return engine.Invalid("Untraced", "more than 1, which is all of them")
	}
	return nil
}

// Instrument traces what p enqueues and handles, the inbox included. Call it before
// Run, and before adding middleware that is to be seen in the span. An error says
// which option cannot be; then nothing is traced.
func Instrument(p *pawl.Pawl, opts Options) error {
	if err := opts.Validate(); err != nil {
		return fmt.Errorf("traces: options: %w", err)
	}
	instrument(p, opts)
	return nil
}

func instrument(p *pawl.Pawl, opts Options) {
	t := newTracing(opts)
	p.AddHeaders(t.stamp)
	p.Use(t.wrap)
	p.Internal(access.Key{}).Observe(&worker.Observer{Step: t.step})
}

// InstrumentFleet is Instrument for every store of a fleet. Spans have the store's
// key as pawl.store.
func InstrumentFleet(f *fleet.Fleet, opts Options) error {
	if err := opts.Validate(); err != nil {
		return fmt.Errorf("traces: options: %w", err)
	}
	opts.defaults()
	f.Setup(func(s *fleet.Store) {
		own := opts
		own.Attributes = append(slices.Clone(opts.Attributes), attribute.String(keyStore, s.Key))
		instrument(s.Pawl, own)
	})
	return nil
}

// Headers is the half of Instrument that enqueues; see pawl.Pawl.AddHeaders.
func Headers(opts Options) func(ctx context.Context, m *outbox.Message) map[string]string {
	return newTracing(opts).stamp
}

// Middleware is the half of Instrument that handles; see pawl.Pawl.Use.
func Middleware(opts Options) outbox.Middleware { return newTracing(opts).wrap }

// scope names this package as the one that makes the spans.
const scope = "github.com/bravellian/pawl/traces"

// defaults takes what is global at this moment; nothing here asks later.
func (o *Options) defaults() {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
}

// tracing is Options made ready.
type tracing struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	fields     []string // the headers that the propagator uses
	opts       Options
	last       atomic.Pointer[glance]
}

func newTracing(opts Options) *tracing {
	opts.defaults()
	t := &tracing{
		tracer:     opts.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		propagator: opts.Propagator, opts: opts,
	}
	if opts.Baggage {
		t.propagator = propagation.NewCompositeTextMapPropagator(opts.Propagator, propagation.Baggage{})
	}
	t.fields = t.propagator.Fields()
	return t
}
