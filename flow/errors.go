package flow

import (
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

var (
	// ErrSuspended is returned by a step, wait or call whose outcome is not known yet: the function has
	// to return, with any result, and runs again later.
	ErrSuspended = errors.New("the flow is suspended")
	// ErrTimeout is returned by Wait when the time of Within has passed without a signal.
	ErrTimeout = errors.New("no signal came in time")
	// ErrCancelled is returned by what a cancelled flow has not done yet, and is the reason with which
	// it ends. It is outbox.ErrCancelled.
	ErrCancelled = outbox.ErrCancelled
	// ErrOver is returned for a signal to a flow that has ended.
	ErrOver = errors.New("the flow is over")
	// ErrTooLarge is returned for a result of more than 64 KiB, which ends the flow. Store it elsewhere,
	// and return where.
	ErrTooLarge = errors.New("larger than 64 KiB")
	// ErrTooMany is returned for more than 10 000 steps of a run, or parts of All, which ends the flow.
	// See Continue.
	ErrTooMany = errors.New("more than 10000")
)

// StepError is returned by a step, a call, or parts of All that failed for good. A later run of the
// function gets the same one, so it has a text and no cause.
type StepError struct {
	Step   string // its name
	Reason string
}

// Error returns the step and the reason.
func (e *StepError) Error() string { return fmt.Sprintf("step %q: %s", e.Step, e.Reason) }

// Final returns an error that fails a step or a flow without another attempt. Final(nil) is nil.
func Final(err error) error { return worker.Permanent(err) }
