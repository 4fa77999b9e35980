package traces_test

import (
	"context"
	"errors"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

// D-785: all attempts at a flow are in one trace, whether it begins in a span or in none, with those of its parts and of
// flows that it calls; each step that runs is a span within its attempt.
func TestFlow(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for _, within := range []bool{true, false} {
			p := open(t, e, traces.Options{})
			soon := flow.StepOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}}
			child := flow.New("ship", func(f *flow.Run, _ int) (int, error) {
				return flow.Step(f, "pack", func(ctx context.Context) (int, error) {
					_, span := p.provider.Tracer("test").Start(ctx, "call")
					span.End()
					return 1, nil
				})
			})
			tries := 0
			parent := flow.New("checkout", func(f *flow.Run, _ int) (int, error) {
				if _, err := flow.Step(f, "charge", func(context.Context) (int, error) {
					if tries++; tries == 1 {
						return 0, errors.New("refused")
					}
					return 1, nil
				}, soon); err != nil {
					return 0, err
				}
				if err := f.Sleep("nap", time.Millisecond); err != nil {
					return 0, err
				}
				if _, err := flow.All(f, "parts", []int{1, 2}, func(_ context.Context, n int) (int, error) { return n, nil }); err != nil {
					return 0, err
				}
				return flow.Call(f, "ship", child, 1)
			})
			child.Handle(p.Pawl)
			parent.Handle(p.Pawl)
			var id outbox.MessageID
			start := func(ctx context.Context) {
				var err error
				id, err = parent.Start(ctx, p.Pawl, 1)
				must(t, err)
			}
			var request trace.SpanContext
			if within {
				request = p.within(start)
			} else {
				start(t.Context())
			}
			dbtest.Until(t, "the flow has ended", func() bool { // a run ends before the nap is over, or after it
				p.run()
				m, err := p.Outbox.Get(t.Context(), id)
				must(t, err)
				return m.Status == outbox.Done
			})

			creates := p.named("create flow.checkout")
			begun := creates[0].SpanContext()
			if within != (begun.TraceID() == request.TraceID()) {
				t.Errorf("begun in %v, want as %v", begun, request)
			}
			attempts := append(p.named("process flow.checkout"), p.named("process flow.ship")...)
			if len(attempts) != 8 { // one fails, three park, one ends, two are parts, and one is the child's
				t.Errorf("%d attempts", len(attempts))
			}
			spans := map[trace.SpanID]sdktrace.ReadOnlySpan{}
			for _, a := range attempts {
				if a.SpanContext().TraceID() != begun.TraceID() || len(a.Links()) != 1 {
					t.Errorf("%s is in trace %v, want %v; links %v", a.Name(), a.SpanContext().TraceID(), begun.TraceID(), a.Links())
				}
				spans[a.SpanContext().SpanID()] = a
			}
			for name, n := range map[string]int{"step charge": 2, "step parts": 2, "step pack": 1} {
				steps := p.named(name)
				if len(steps) != n {
					t.Errorf("%d spans %q, want %d", len(steps), name, n)
				}
				for _, s := range steps {
					if spans[s.Parent().SpanID()] == nil {
						t.Errorf("%s is no child of an attempt", name)
					}
				}
			}
			charge := p.named("step charge")
			wantAttrs(t, charge[0], map[string]string{"pawl.flow.step": "charge", "pawl.attempt": "1", "pawl.outcome": "retried", "error.type": "*errors.errorString", "messaging.destination.name": "flow.checkout"})
			wantAttrs(t, charge[1], map[string]string{"pawl.attempt": "2", "pawl.outcome": "done", "error.type": ""})
			if call := p.one(t, "call"); call.Parent().SpanID() != p.one(t, "step pack").SpanContext().SpanID() {
				t.Error("what a step calls is not within its span")
			}
		}
		none := open(t, e, traces.Options{Untraced: -1})
		fl := flow.New("quiet", func(f *flow.Run, _ int) (int, error) {
			return flow.Step(f, "step", func(context.Context) (int, error) { return 1, nil })
		})
		fl.Handle(none.Pawl)
		_, err := fl.Start(t.Context(), none.Pawl, 1)
		must(t, err)
		none.run()
		if spans := none.rec.Ended(); len(spans) > 0 {
			t.Errorf("%d spans of what is not to be traced", len(spans))
		}
	})
}
