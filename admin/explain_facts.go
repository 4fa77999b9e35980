package admin

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// add adds a fact unless its value is "".
func add(f *health.Facts, key, value string) {
	if value != "" {
		*f = append(*f, health.Fact{Key: key, Value: value})
	}
}

func addNumber(f *health.Facts, key string, n int64) { add(f, key, strconv.FormatInt(n, 10)) }

// addTime adds a time unless it is zero.
func (e *explainer) addTime(f *health.Facts, key string, t time.Time) {
	if !t.IsZero() {
		add(f, key, e.when(t))
	}
}

// lifetime bounds how far away a time may be for its distance to be said: times beyond
// it mean never.
const lifetime = 100 * 365 * 24 * time.Hour

// when returns a time for people: absolute and relative.
func (e *explainer) when(t time.Time) string {
	clock, d := t.UTC().Format("2006-01-02 15:04:05Z"), t.Sub(e.now)
	switch {
	case d > lifetime || d < -lifetime:
		return clock
	case d < 0:
		return fmt.Sprintf("%s (%s ago)", clock, engine.Span(-d))
	}
	return fmt.Sprintf("%s (in %s)", clock, engine.Span(d))
}

// after returns ": text", at most 300 characters of it, or "" if there is none.
func after(text string) string {
	const longest = 300
	if text == "" {
		return ""
	}
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return ": " + text
}
