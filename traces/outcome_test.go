package traces_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/traces"
)

// Each attempt is a span of its own, linked to the same producer.
func TestRetries(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{})
		p.handles("t", func(_ context.Context, m *outbox.Message) error {
			if m.RetryCount < 2 {
				return fmt.Errorf("attempt %d: %w", m.RetryCount+1, errors.ErrUnsupported)
			}
			return nil
		})
		p.within(func(ctx context.Context) { p.enqueue(ctx, outbox.Message{Topic: "t"}) })
		p.run()
		create, attempts := p.one(t, "create t"), p.named("process t")
		if len(attempts) != 3 {
			t.Fatalf("%d attempts", len(attempts))
		}
		for i, sp := range attempts {
			wantLink(t, sp, create.SpanContext())
			want := map[string]string{"pawl.attempt": fmt.Sprint(i + 1), "pawl.outcome": "error", "error.type": "*errors.errorString"}
			status := sdktrace.Status{Code: codes.Error, Description: fmt.Sprintf("attempt %d: unsupported operation", i+1)}
			if i == 2 {
				want["pawl.outcome"], want["error.type"], status = "acked", "", sdktrace.Status{}
			}
			wantAttrs(t, sp, want)
			if sp.Status() != status {
				t.Errorf("attempt %d: status %+v, want %+v", i+1, sp.Status(), status)
			}
		}
		if attempts[0].SpanContext().TraceID() == attempts[1].SpanContext().TraceID() {
			t.Error("two attempts share a trace")
		}
	})
}

type shortage struct{ goods string }

func (s *shortage) Error() string { return "no more " + s.goods }

type coded struct{ error }

func (coded) ErrorType() string { return "E42" }

func (c coded) Unwrap() error { return c.error }

// Spans say of attempts what the loop makes of them.
func TestOutcome(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for name, c := range map[string]struct {
		err           error
		outcome, kind string
		text          string
	}{
		"fine":                {nil, "acked", "", ""},
		"snoozed":             {outbox.Snooze(time.Hour), "snoozed", "", ""},
		"settled":             {worker.ErrSettled, "settled", "", ""},
		"error":               {&shortage{"nails"}, "error", "*traces_test.shortage", "no more nails"},
		"wrapped":             {fmt.Errorf("build: %w", &shortage{"nails"}), "error", "*traces_test.shortage", "build: no more nails"},
		"permanent":           {outbox.Permanent(&shortage{"nails"}), "failed", "*traces_test.shortage", "no more nails"},
		"permanent, wrapped":  {fmt.Errorf("build: %w", outbox.Permanent(&shortage{"nails"})), "failed", "*traces_test.shortage", "build: no more nails"},
		"with a name":         {fmt.Errorf("build: %w", coded{errors.New("x")}), "error", "E42", "build: x"},
		"two":                 {errors.Join(&shortage{"nails"}, errors.New("b")), "error", "*traces_test.shortage", "no more nails\nb"},
		"cancelled by itself": {context.Canceled, "error", "*errors.errorString", "context canceled"},
		"no text":             {errors.New("a\x00b\xff"), "error", "*errors.errorString", "a\uFFFDb\uFFFD"},
		"long":                {errors.New(long), "error", "*errors.errorString", long[:2048]},
	} {
		t.Run(name, func(t *testing.T) {
			s := record()
			h := traces.Middleware(traces.Options{TracerProvider: s.provider})(func(context.Context, *outbox.Message) error { return c.err })
			if err := h(t.Context(), &outbox.Message{Topic: "t"}); !errors.Is(err, c.err) {
				t.Fatalf("the error became %v", err)
			}
			sp := s.one(t, "process t")
			wantAttrs(t, sp, map[string]string{"pawl.outcome": c.outcome, "error.type": c.kind})
			if c.text == "" {
				if sp.Status().Code != codes.Unset || len(sp.Events()) > 0 {
					t.Errorf("status %v, %d events", sp.Status(), len(sp.Events()))
				}
				return
			}
			if sp.Status() != (sdktrace.Status{Code: codes.Error, Description: c.text}) {
				t.Errorf("status %v", sp.Status())
			}
			wantException(t, sp, c.kind, c.text)
		})
	}
}

func wantException(t *testing.T, sp sdktrace.ReadOnlySpan, kind, text string) (stack string) {
	t.Helper()
	events := sp.Events()
	if len(events) != 1 || events[0].Name != "exception" {
		t.Fatalf("events %v", events)
	}
	got := map[string]string{}
	for _, kv := range events[0].Attributes {
		got[string(kv.Key)] = kv.Value.String()
	}
	if got["exception.type"] != kind || got["exception.message"] != text {
		t.Errorf("exception %v", got)
	}
	return got["exception.stacktrace"]
}

// A handler that is stopped has not failed; one whose message was taken away has.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		cause, err error
		outcome    string
		code       codes.Code
	}{
		"stop":                     {worker.ErrStopping, context.Canceled, "released", codes.Unset},
		"stop, in other words":     {worker.ErrStopping, errors.New("signal: killed"), "released", codes.Unset},
		"stop, but fine":           {worker.ErrStopping, nil, "acked", codes.Unset},
		"stop, but final":          {worker.ErrStopping, outbox.Permanent(errors.New("x")), "failed", codes.Error},
		"stop, taken for final":    {worker.ErrStopping, outbox.Permanent(context.Canceled), "released", codes.Unset},
		"lost":                     {worker.ErrLeaseLost, context.Canceled, "lost", codes.Error},
		"cancelled for no purpose": {nil, context.Canceled, "error", codes.Error},
	} {
		t.Run(name, func(t *testing.T) {
			s := record()
			h := traces.Middleware(traces.Options{TracerProvider: s.provider})(func(context.Context, *outbox.Message) error { return c.err })
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(c.cause)
			_ = h(ctx, &outbox.Message{Topic: "t"})
			sp := s.one(t, "process t")
			wantAttrs(t, sp, map[string]string{"pawl.outcome": c.outcome})
			if sp.Status().Code != c.code {
				t.Errorf("status %v", sp.Status())
			}
		})
	}
}

// stumble is a name to look for in stacks.
func stumble(context.Context, *outbox.Message) error { panic("a stone") }

// A panic is recorded and goes on, with the stack of where it happened.
func TestPanic(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		var logged bytes.Buffer
		o := quiet()
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelError}))
		o.Retry = &outbox.RetryPolicy{MaxAttempts: 1}
		p, err := pawl.New(e.Open(t).DB, o)
		must(t, err)
		s := record()
		must(t, traces.Instrument(p, traces.Options{TracerProvider: s.provider}))
		p.Handle("t", stumble)
		id, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
		must(t, err)
		must(t, p.Run(t.Context()))

		sp := s.one(t, "process t")
		wantAttrs(t, sp, map[string]string{"pawl.outcome": "panic", "error.type": "panic"})
		if stack := wantException(t, sp, "string", "panic: a stone"); !strings.Contains(stack, "stumble") {
			t.Errorf("stack of the span:\n%s", stack)
		}
		if !strings.Contains(logged.String(), "stumble") {
			t.Errorf("log: %s", logged.String())
		}
		if m, err := p.Outbox.GetByPosition(t.Context(), id.Position()); err != nil || !strings.Contains(m.LastError, "panic: a stone") {
			t.Errorf("message %+v, %v", m, err)
		}
	})
}

// fickle panics when it is asked what it means.
type fickle struct{}

func (fickle) Error() string { panic("no words") }

// Whatever an error does, its span ends.
func TestErrorThatPanics(t *testing.T) {
	s := record()
	h := traces.Middleware(traces.Options{TracerProvider: s.provider})(func(context.Context, *outbox.Message) error { return fickle{} })
	func() {
		defer func() { _ = recover() }()
		_ = h(t.Context(), &outbox.Message{Topic: "t"})
	}()
	s.one(t, "process t")
}

// The inbox's own wrapping of errors hides nothing.
func TestInboxFailure(t *testing.T) {
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := open(t, e, traces.Options{})
		p.HandleInbox("hook", func(context.Context, *inbox.Message) error { return outbox.Permanent(&shortage{"nails"}) })
		_, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "hook"})
		must(t, err)
		p.run()
		sp := p.one(t, "process hook")
		wantAttrs(t, sp, map[string]string{"pawl.outcome": "failed", "error.type": "*traces_test.shortage"})
		wantException(t, sp, "*traces_test.shortage", "no more nails\nmessage is dead: s/1")
	})
}
