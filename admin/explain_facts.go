package admin

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bravellian/pawl/health"
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
		return fmt.Sprintf("%s (%s ago)", clock, roughly(-d))
	}
	return fmt.Sprintf("%s (in %s)", clock, roughly(d))
}

// roughly returns a duration in its one or two largest units.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "less than 1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return two(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	case d < 10*day:
		return two(d/day, "d", d%day/time.Hour, "h")
	}
	return fmt.Sprintf("%dd", d/day)
}

func two(large time.Duration, unit string, small time.Duration, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smallUnit)
}

// several returns a number of things in words.
func several(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
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
