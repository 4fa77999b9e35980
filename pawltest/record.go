package pawltest

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Execution is one run of a handler.
type Execution struct {
	// Message is what it was given. Of the inbox, it is the message in the queue.
	Message *outbox.Message
	// Err is what it returned; nil: the message is dealt with.
	Err error
}

// errNoReturn says that a handler ended its goroutine instead of returning, as
// FailNow, Fatal and Skip of package testing do: in a handler use Error, and return
// an error.
var errNoReturn = errors.New("handler ended its goroutine: t.Fatal and its like are for the test's own goroutine")

// recorder notes what handlers did.
type recorder struct {
	mu   sync.Mutex
	done []Execution
}

// outbox is a middleware. The first one registered is the outermost, so it sees
// what the program's own middleware made of an error.
func (r *recorder) outbox(next outbox.Handler) outbox.Handler {
	return func(ctx context.Context, m *outbox.Message) error {
		err := contained(ctx, next, m)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done = append(r.done, Execution{m, err})
		return err
	}
}

// take returns what was noted since it was last called.
func (r *recorder) take() []Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.done
	r.done = nil
	return done
}

// contained runs a handler in a goroutine that it may end: it would take one of
// the worker's with it, and the drain would wait for its answer.
func contained(ctx context.Context, next outbox.Handler, m *outbox.Message) error {
	answer := make(chan error, 1)
	go func() {
		err := outbox.Permanent(errNoReturn)
		defer func() {
			if v := recover(); v != nil {
				err = &worker.PanicError{Value: v, Stack: debug.Stack()}
			}
			answer <- err
		}()
		err = next(ctx, m)
	}()
	return <-answer
}
