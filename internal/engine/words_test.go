package engine_test

import (
	"errors"
	"testing"

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

func TestListLimit(t *testing.T) {
	for n, want := range map[int]int{-1: 100, 0: 100, 1: 1, 10_000: 10_000, 10_001: 10_000} {
		if got := engine.ListLimit(n); got != want {
			t.Errorf("%d gives %d, want %d", n, got, want)
		}
	}
}
