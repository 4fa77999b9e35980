package worker

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
)

// Errors of handlers that mean something other than "retry with backoff" (D-15).

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent returns an error that fails the item for good, without another attempt.
// Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type retryAfterError struct {
	delay     time.Duration
	err       error
	uncounted bool // within the period of the policy
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// RetryAfter returns an error that fails this attempt with err and has the next one wait for d
// at least: the later of d and the policy's backoff holds. A nil err becomes a plain one.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		err = fmt.Errorf("retry after %v", d)
	}
	return &retryAfterError{delay: bounded(d), err: err}
}

// AskedDelay returns the delay of an error of RetryAfter; nil for others.
func AskedDelay(err error) *time.Duration {
	var after *retryAfterError
	if !errors.As(err, &after) {
		return nil
	}
	return &after.delay
}

// AskForTime is RetryAfter for an answer that says nothing of the item, such as "not now": the
// attempt is not counted, unless the item has been claimable for longer than the attempts of its
// policy would span.
func AskForTime(d time.Duration, err error) error {
	return &retryAfterError{delay: bounded(d), err: err, uncounted: true}
}

type snoozeError struct {
	delay      time.Duration
	unhandled  bool
	notStarted bool // the handler did not start: put back by pawl
}

func (e *snoozeError) Error() string { return "snoozed for " + engine.Exact(e.delay) }

// maxDelay is the longest delay of an item. One of nearly 300 years would overflow where a little
// is added to it.
const maxDelay = 290 * 365 * 24 * time.Hour

func bounded(d time.Duration) time.Duration { return min(max(d, 0), maxDelay) }

// Snooze returns an error that puts the item back for d without counting an attempt.
func Snooze(d time.Duration) error { return &snoozeError{delay: bounded(d)} }

// PutBack is Snooze for a handler that did not start: it is not logged as the handler's
// decision, and a suspect stays one.
func PutBack(d time.Duration) error { return &snoozeError{delay: bounded(d), notStarted: true} }

// Unhandled is Snooze for an item that has no handler in this process (D-17).
func Unhandled(d time.Duration) error {
	return &snoozeError{delay: bounded(d), unhandled: true, notStarted: true}
}

// ErrSettled is returned by a handler that settled its item itself, in a transaction of its
// own and under the claim's owner token: the loop drops the item without settling it.
var ErrSettled = errors.New("settled by its handler")

// SettledAs is ErrSettled for an item that is not over: it was put off, or another one has it.
func SettledAs(o Outcome) error { return &settledError{o} }

type settledError struct{ as Outcome }

func (*settledError) Error() string        { return ErrSettled.Error() }
func (*settledError) Is(target error) bool { return target == ErrSettled }

// settledAs is the outcome that the handler of an item reports which it settled.
func settledAs(err error) Outcome {
	var s *settledError
	if errors.As(err, &s) {
		return s.as
	}
	return OutcomeSettled
}

// ErrExpired is returned for an item whose attempt must not begin any more: it ends, without an
// attempt counted.
var ErrExpired = errors.New("expired")

// ErrLeaseLost is the cause with which a handler's context is cancelled when another owner
// may hold its item.
var ErrLeaseLost = errors.New("lease lost")

// ErrStopping is the cause with which a handler's context is cancelled when the grace
// period of a stop is over.
var ErrStopping = errors.New("worker stopping")

// PanicError is the error of a handler that panicked. Its text has no stack: that is
// logged, not stored.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// maxErrorText is how much of an error is kept with an item (D-7).
const maxErrorText = 2048

// ErrorText returns a text that every engine can store: valid UTF-8 without NUL, at most
// 2 KiB, cut between characters.
func ErrorText(s string) string {
	s = engine.ValidText(s)
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// IsPermanent reports whether err is an error of Permanent.
func IsPermanent(err error) bool {
	var permanent *permanentError
	return errors.As(err, &permanent)
}

// IsSnooze reports whether err only delays the item.
func IsSnooze(err error) bool {
	var snooze *snoozeError
	return errors.As(err, &snooze)
}
