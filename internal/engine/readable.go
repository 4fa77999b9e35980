package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Any program can write into a table. A row that this one cannot read must neither
// take away those beside it nor end whoever lists it (D-9).

// The first second that JSON and other formats can express; endOfDue is the first
// that they cannot.
const firstSecond = -62_135_596_800 // 0001-01-01

// ReadableTime reports whether every format can express a time.
func ReadableTime(t time.Time) bool { return t.Unix() >= firstSecond && t.Unix() < endOfDue }

// CleanTime refuses a time of a row that is not readable, and makes it zero. t may
// be nil.
func CleanTime(field string, t *time.Time) error {
	if t == nil || ReadableTime(*t) {
		return nil
	}
	*t = time.Time{}
	return fmt.Errorf("%s: not within the years 1 to 9999", field)
}

// CleanText refuses a text of a row that is not UTF-8, which metrics and JSON need,
// and makes it so.
func CleanText(field string, text *string) error {
	if utf8.ValidString(*text) {
		return nil
	}
	*text = strings.ToValidUTF8(*text, "\uFFFD")
	return fmt.Errorf("%s: not UTF-8", field)
}

// Unreadable joins what is wrong with a row; it returns nil if nothing is.
func Unreadable(faults ...error) error {
	if err := errors.Join(faults...); err != nil {
		return &unreadableError{err}
	}
	return nil
}

type unreadableError struct{ err error }

func (e *unreadableError) Error() string {
	return "cannot be read: " + strings.ReplaceAll(e.err.Error(), "\n", "; ")
}

func (e *unreadableError) Unwrap() error { return e.err }
