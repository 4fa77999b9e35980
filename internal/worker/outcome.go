package worker

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// What a handler's error can say besides "try again later" (D-15).

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent says that trying again is pointless: the item fails for good now.
// Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type retryAfterError struct {
	delay time.Duration
	err   error
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// RetryAfter fails this attempt with err and says when to try again, in place
// of the policy's backoff. A nil err becomes a plain one.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		err = fmt.Errorf("retry after %v", d)
	}
	return &retryAfterError{max(d, 0), err}
}

type snoozeError struct {
	delay     time.Duration
	unhandled bool
	ours      bool // pawl's doing, not the handler's wish: the handler did not begin
}

func (e *snoozeError) Error() string { return fmt.Sprintf("snoozed for %v", e.delay) }

// Snooze puts the item back for d without counting an attempt.
func Snooze(d time.Duration) error { return &snoozeError{delay: max(d, 0)} }

// PutBack is Snooze where no handler began: it is not logged as a handler's wish,
// and a suspect stays one.
func PutBack(d time.Duration) error { return &snoozeError{delay: max(d, 0), ours: true} }

// Unhandled is Snooze for an item that nobody here can handle (D-17).
func Unhandled(d time.Duration) error {
	return &snoozeError{delay: max(d, 0), unhandled: true, ours: true}
}

// ErrSettled is what a handler returns that settled its item itself, in a
// transaction of its own and under the claim's owner token: the loop drops
// the item without a word to the database.
var ErrSettled = errors.New("settled by its handler")

// ErrLeaseLost is the cause with which a handler's context is cancelled when
// its item may belong to someone else by now.
var ErrLeaseLost = errors.New("lease lost")

// ErrStopping is the cause with which a handler's context is cancelled when
// the grace period of a stop is over.
var ErrStopping = errors.New("worker stopping")

// PanicError is what a handler's panic becomes. Its text has no stack: that
// goes to the log, not into the database.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// maxErrorText is how much of an error is kept with an item (D-7).
const maxErrorText = 2048

// ErrorText makes a text that every engine can keep: valid UTF-8 without NUL,
// at most 2 KiB, cut between characters.
func ErrorText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// IsPermanent reports whether err says that trying again is pointless.
func IsPermanent(err error) bool {
	var permanent *permanentError
	return errors.As(err, &permanent)
}

// IsSnooze reports whether err only puts the item off.
func IsSnooze(err error) bool {
	var snooze *snoozeError
	return errors.As(err, &snooze)
}
