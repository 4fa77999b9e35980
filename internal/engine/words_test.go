package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func TestWords(t *testing.T) {
	w := engine.Words{"a", "b"}
	for n, want := range map[int64]string{0: "a", 1: "b", 2: "unknown 2", -1: "unknown -1"} {
		if got := w.Word(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if n, err := w.Number("status", "b"); n != 1 || err != nil {
		t.Errorf("b is %d, %v", n, err)
	}
	for _, none := range []string{"", "c", "A"} {
		var refused *engine.InvalidError
		if _, err := w.Number("status", none); !errors.As(err, &refused) || refused.Field() != "status" {
			t.Errorf("%q: %v", none, err)
		}
	}
}

func TestSeveral(t *testing.T) {
	for want, got := range map[string]string{
		"1 worker": engine.Several(1, "worker"), "2 workers": engine.Several(2, "worker"), "0 workers": engine.Several(0, "worker"), "1 delivery": engine.Several(1, "delivery"), "3 deliveries": engine.Several(int64(3), "delivery"),
		"3": engine.AtLeast(3, false), "at least 3": engine.AtLeast(3, true),
		"a": engine.Listed([]string{"a"}, 1, 2), "a, b": engine.Listed([]string{"a", "b"}, 2, 2), "a, b and 1 more": engine.Listed([]string{"a", "b", "c"}, 3, 2), "a and 4 more": engine.Listed([]string{"a"}, 5, 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "1ms", 0: "1ms", 999 * time.Millisecond: "999ms", time.Second: "1s", 59 * time.Second: "59s", time.Minute: "1m", 61 * time.Second: "1m1s",
		time.Hour: "1h", time.Hour + 59*time.Second: "1h", 3*time.Hour + 12*time.Minute: "3h12m", 24 * time.Hour: "1d", 25 * time.Hour: "1d1h",
		240 * time.Hour: "10d", 1000*24*time.Hour + time.Hour: "1000d",
	} {
		if got := engine.Span(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// D-720: a duration that somebody set, or that bounds others, is said exactly and without zeros at its end.
func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 200 * time.Millisecond: "200ms", 10 * time.Second: "10s", 30 * time.Second: "30s", 90 * time.Second: "1m30s", 10 * time.Minute: "10m",
		time.Hour: "1h", 6*time.Hour + 30*time.Minute: "6h30m", time.Hour + 30*time.Second: "1h0m30s", 1500 * time.Millisecond: "1.5s",
	} {
		if got := engine.Exact(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// D-709: an error that says a duration says it without zeros at its end.
func TestInvalidDuration(t *testing.T) {
	const day, minute = 24 * time.Hour, time.Minute
	for got, want := range map[error]string{
		engine.CheckOption("period", 2*day, 1, day): "period: more than 24h", engine.CheckOption("lease", time.Second, minute, 0): "lease: less than 1m",
		engine.Invalid("x", "%v to %v of %d", minute, 90*minute, 7): "x: 1m to 1h30m of 7",
	} {
		if !strings.HasSuffix(got.Error(), want) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
