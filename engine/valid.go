package engine

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrInvalid is what errors.Is finds in every rejected argument; errors.As
// with *InvalidError tells the field.
var ErrInvalid = errors.New("invalid argument")

// InvalidError says which field was refused and why. Nothing was stored.
type InvalidError struct {
	Field  string
	Limit  int // the limit that was passed, or 0
	Reason string
}

// Error names the field, the reason and the limit, never the value.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrInvalid, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Invalid refuses a field for a reason.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// TooLong refuses a field that passes a limit.
func TooLong(field string, limit int, unit string) error {
	return &InvalidError{Field: field, Limit: limit, Reason: fmt.Sprintf("more than %d %s", limit, unit)}
}

// CheckText refuses what some engine could not keep as it is, text that is not
// UTF-8 or holds a NUL character, and what is longer than limit characters.
// Every component uses it, so that all refuse the same (D-2).
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
