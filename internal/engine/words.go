package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Words are the names of what a table stores as a number: the place in the list is the
// number.
type Words []string

// Word returns the name of a number, or "unknown 9" for one that has none: another
// program, or a newer one, wrote it.
func (w Words) Word(n int64) string {
	if n < 0 || n >= int64(len(w)) {
		return fmt.Sprintf("unknown %d", n)
	}
	return w[n]
}

// Number returns the number of a name in a field. It fails with ErrInvalid for a name that
// has none.
func (w Words) Number(field, word string) (int, error) {
	n := slices.Index(w, word)
	if n < 0 {
		return 0, Invalid(field, "not one of %q", []string(w))
	}
	return n, nil
}

// Plural returns what so many things are called: "store", "stores", "deliveries".
func Plural[N int | int64](n N, what string) string {
	stem, y := strings.CutSuffix(what, "y")
	switch {
	case n == 1:
		return what
	case y:
		return stem + "ies"
	}
	return what + "s"
}

// Several returns a number of things: "1 store", "2 stores".
func Several[N int | int64](n N, what string) string { return fmt.Sprintf("%d %s", n, Plural(n, what)) }

// AtLeast returns a number in words: "at least 100" where there are more than were counted.
func AtLeast(n int64, more bool) string {
	if more {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// Mapped returns what of makes of each item of a list, nil of none.
func Mapped[T, U any](list []T, of func(item *T) U) (all []U) {
	all = slices.Grow(all, len(list))
	for i := range list {
		all = append(all, of(&list[i]))
	}
	return all
}

// Listed returns at most so many of n things: "a, b and 3 more". Those that are not in some are more.
func Listed(some []string, n, most int) string {
	some = some[:min(len(some), most)]
	text := strings.Join(some, ", ")
	if more := n - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Span returns a duration in its one or two largest units, and at least a millisecond: 350ms, 2m10s, 3d4h.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return max(d, time.Millisecond).Truncate(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return units(d, time.Hour, "h", time.Minute, "m")
	case d < 10*day:
		return units(d, day, "d", time.Hour, "h")
	}
	return fmt.Sprintf("%dd", d/day)
}

// Exact returns a duration as Go writes it, without the zeros at its end: 5m, 30s, 200ms.
func Exact(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}

func units(d, large time.Duration, unit string, small time.Duration, smallUnit string) string {
	text := fmt.Sprintf("%d%s", d/large, unit)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf("%d%s", rest, smallUnit)
	}
	return text
}

// Quoted returns s as one word of a shell's command line.
func Quoted(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
