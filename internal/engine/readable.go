package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Any program can write into a table. A row that this one cannot read must neither hide
// others nor end the program that lists it (D-9).

// firstSecond is the first second that JSON and other formats can represent; endOfDue is the
// first that they cannot.
const firstSecond = -62_135_596_800 // 0001-01-01

// ReadableTime reports whether every format can represent a time.
func ReadableTime(t time.Time) bool { return t.Unix() >= firstSecond && t.Unix() < endOfDue }

// CleanTime returns an error for a time of a row that is not readable, and sets it to zero. t
// may be nil.
func CleanTime(field string, t *time.Time) error {
	if t == nil || ReadableTime(*t) {
		return nil
	}
	*t = time.Time{}
	return fmt.Errorf("%s: not within the years 1 to 9999", field)
}

// CleanText returns an error for a text of a row that is not UTF-8, which metrics and JSON
// need, and replaces the invalid bytes.
func CleanText(field string, text *string) error {
	if utf8.ValidString(*text) {
		return nil
	}
	*text = strings.ToValidUTF8(*text, "\uFFFD")
	return fmt.Errorf("%s: not UTF-8", field)
}

// Unreadable joins the errors of a row; it returns nil if there are none.
func Unreadable(faults ...error) error {
	if err := errors.Join(faults...); err != nil {
		return &unreadableError{err}
	}
	return nil
}

// UnreadableText is the text of Unreadable, "" if there are no errors.
func UnreadableText(faults ...error) string {
	if err := Unreadable(faults...); err != nil {
		return err.Error()
	}
	return ""
}

type unreadableError struct{ err error }

func (e *unreadableError) Error() string {
	return "cannot be read: " + strings.ReplaceAll(e.err.Error(), "\n", "; ")
}

func (e *unreadableError) Unwrap() error { return e.err }
