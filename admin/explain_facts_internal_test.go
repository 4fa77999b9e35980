package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func TestWhen(t *testing.T) {
	e := &explainer{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	for want, at := range map[string]time.Time{
		"2030-01-02 03:04:05Z (in 1ms)": e.now,
		"2030-01-02 04:04:05Z (in 1h)":  e.now.Add(time.Hour).In(time.FixedZone("", 7200)),
		"2030-01-01 03:04:05Z (1d ago)": e.now.Add(-24 * time.Hour),
		"9999-12-31 00:00:00Z":          time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		"0001-01-01 00:00:00Z":          {},
	} {
		if got := e.when(at); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for s, want := range map[string]string{"a.b/c:1": "a.b/c:1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "-x": "'-x'", "$HOME": "'$HOME'", "ü": "'ü'"} {
		if got := engine.Quoted(s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}

func TestAfterIsBounded(t *testing.T) {
	if got := after(strings.Repeat("ü", 5000)); len([]rune(got)) > 310 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d characters", len([]rune(got)))
	}
	if after("") != "" || after("x") != ": x" {
		t.Error("short ones")
	}
}
