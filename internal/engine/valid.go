package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrInvalid is the error of every rejected argument; errors.As with *InvalidError returns
// the field.
var ErrInvalid = errors.New("invalid argument")

// InvalidError names the field that was refused and why. Nothing was stored.
type InvalidError struct {
	field  string
	limit  int
	reason string
	cause  error // nil: the reason is all
}

// Field returns the name of the field or option.
func (e *InvalidError) Field() string { return e.field }

// Limit returns the limit that was exceeded, or 0.
func (e *InvalidError) Limit() int { return e.limit }

// Reason returns what is wrong with it.
func (e *InvalidError) Reason() string { return e.reason }

// Error names the field, the reason and the limit, never the value.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrInvalid, e.field, e.reason)
}

// Unwrap returns ErrInvalid and the cause.
func (e *InvalidError) Unwrap() []error { return []error{ErrInvalid, e.cause} }

// InvalidBecause returns the error of a field that another error says what is wrong with.
func InvalidBecause(field string, cause error) error {
	return &InvalidError{field: field, reason: cause.Error(), cause: cause}
}

// Invalid returns the error of a field. Durations are in ASCII, as in the words of SQL's routines:
// the encoding of a database may lack the sign.
func Invalid(field, format string, args ...any) error {
	for i, arg := range args {
		if d, ok := arg.(time.Duration); ok {
			args[i] = Exact(d)
		}
	}
	return &InvalidError{field: field, reason: strings.ReplaceAll(fmt.Sprintf(format, args...), "µs", "us")}
}

// Option returns the options of a call that takes none or one. Of several, all but one would be
// ignored: they are refused.
func Option[O any](opts []O) (o O, err error) {
	if len(opts) > 1 {
		return o, Invalid("options", "given %d times", len(opts))
	}
	for _, o = range opts {
	}
	return o, nil
}

// CheckDistinct returns an error that names the first key that two elements of a list have, and
// where they stand. A zero key is none.
func CheckDistinct[E any, K comparable](field string, list []E, key func(*E) K) error {
	var none K
	var at map[K]int
	for i := range list {
		k := key(&list[i])
		if k == none {
			continue
		}
		if first, twice := at[k]; twice {
			return Invalid(field, "%q is given twice, at %d and %d", fmt.Sprint(k), first, i)
		}
		if at == nil {
			at = make(map[K]int, len(list))
		}
		at[k] = i
	}
	return nil
}

// TooLong returns the error of a field that exceeds a limit.
func TooLong(field string, limit int, unit string) error {
	return &InvalidError{field: field, limit: limit, reason: fmt.Sprintf("more than %d %s", limit, unit)}
}

// CheckText returns an error for text that some engine cannot store unchanged, which is not
// UTF-8 or has a NUL character, and for text longer than limit characters. Every component
// uses it, so that all refuse the same (D-2).
func CheckText(field, s string, limit int, required bool) error {
	switch {
	case required && strings.TrimSpace(s) == "":
		return Invalid(field, "empty or blank")
	case !utf8.ValidString(s):
		return Invalid(field, "not valid UTF-8")
	case strings.ContainsRune(s, 0):
		return Invalid(field, "contains a NUL character")
	case len(s) > limit && utf8.RuneCountInString(s) > limit:
		return TooLong(field, limit, "characters")
	}
	return nil
}

// CheckOption returns an error for an option that is negative or not within lo and hi; 0
// means the option's default, and a hi of 0 no upper limit.
func CheckOption[T ~int | ~int64 | ~float64](field string, v, lo, hi T) error {
	switch {
	case v == 0:
		return nil
	case v < 0:
		return Invalid(field, "negative")
	case !(v >= lo): // NaN is not
		return Invalid(field, "less than %v", lo)
	case hi > 0 && v > hi:
		return Invalid(field, "more than %v", hi)
	}
	return nil
}

// InOptions adds the name of the options to an option's error: "Lease" in "Outbox" becomes
// "Outbox.Lease". Other errors are returned unchanged.
func InOptions(of string, err error) error {
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	named := *invalid
	named.field = of + "." + invalid.field
	return &named
}

// endOfDue is the first second that is no due time: 10000-01-01 UTC. Engines and JSON can
// represent what is before it.
const endOfDue = 253_402_300_800

// CheckDue returns an error for a due time after the year 9999. Any time in the past is
// accepted: it means now.
func CheckDue(field string, at time.Time) error {
	// By seconds: Year and Before overflow for the far future.
	if at.Unix() >= endOfDue {
		return Invalid(field, "after the year 9999")
	}
	return nil
}

// Due returns what an engine stores for the due time *at: at itself, or nil, which is the
// database's now, for the zero time and every other time before 1970. All components use
// it, so that the zero dates of other systems, the year 1 for instance, mean the same
// everywhere and neither are claimed first nor overflow microseconds and durations.
func Due(at *time.Time) *time.Time {
	if at.Unix() < 0 {
		return nil
	}
	return at
}
