package pawltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Drained is what a drain did and what it left.
type Drained struct {
	// Timers is how many timers fired.
	Timers int64
	// Jobs is how many times a recurring job was found due.
	Jobs int64
	// Handled are the executions of handlers, in the order in which they ended.
	Handled []Execution
	// Left are the messages that are not dealt with although they were due, by now
	// or in an earlier drain: failed for good, waiting for another attempt,
	// snoozed, or of a topic that has no handler. Oldest first.
	Left []outbox.Info
}

// Err returns an error that names the messages that are left, without their payloads; nil if there are none.
func (r *Drained) Err() error {
	if len(r.Left) == 0 {
		return nil
	}
	return &leftError{r.Left}
}

// leftError lists messages that were due and are not dealt with.
type leftError struct{ messages []outbox.Info }

// Error names each message, without its payload, and says why it is left.
func (e *leftError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "messages left: %d", len(e.messages))
	for i := range e.messages {
		m := &e.messages[i]
		if i == most {
			fmt.Fprintf(&b, "\n\t… and %d more", len(e.messages)-most)
			break
		}
		fmt.Fprintf(&b, "\n\t%s %s: %s", m.Topic, m.ID, why(m))
	}
	return b.String()
}

// why is what keeps a message.
func why(m *outbox.Info) string {
	text := "failed for good"
	switch {
	case m.Status == outbox.Failed:
	case m.RetryCount > 0:
		text = fmt.Sprintf("failed attempts: %d, the next at %s", m.RetryCount, stamp(m.NextAttemptAt))
	default:
		return fmt.Sprintf("put back until %s: snoozed, or no handler has its topic", stamp(m.NextAttemptAt))
	}
	if m.LastError != "" {
		text += ": " + strings.ReplaceAll(m.LastError, "\n", "\n\t\t")
	}
	return text
}

// drainLimit bounds a drain whose context has no deadline: messages that handlers
// enqueue over and over would keep it busy for ever.
const drainLimit = time.Minute

// Drain does everything that is due now and returns when nothing is: it fires
// timers, makes the runs of jobs, and handles the messages of outbox and inbox,
// those included that handlers enqueue meanwhile. It sleeps for nothing that comes
// later, so a retry has to be brought near by Clock.Advance. It may be called as
// often as you like; not while Run runs.
//
// The error says that draining did not work. What handlers failed to do is in
// Drained.Left; see also Drained.Err and MustDrain.
func (d *DB) Drain(ctx context.Context) (*Drained, error) {
	d.draining.Lock()
	defer d.draining.Unlock()
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, drainLimit)
		defer cancel()
	}
	d.record.take() // of a Run of the test's own
	r := &Drained{}
	err := d.drain(ctx, r)
	r.Handled = d.record.take()
	if err != nil {
		return r, fmt.Errorf("pawltest: drain: %w", err)
	}
	if r.Left, err = d.left(ctx); err != nil {
		return r, fmt.Errorf("pawltest: drain: %w", err)
	}
	return r, nil
}

// MustDrain is Drain that fails the test if it does not work, or if messages are
// left.
func (d *DB) MustDrain(t testing.TB) *Drained {
	t.Helper()
	r, err := d.Drain(t.Context())
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var errDatabase = errors.New("the database failed, and the log says how; is a transaction of the test still open?")

func (d *DB) drain(ctx context.Context, r *Drained) error {
	for {
		fired, err := d.fire(ctx, r)
		if err != nil {
			return err
		}
		before := d.process.Stats()
		if err := d.turn(ctx); err != nil {
			return err
		}
		after := d.process.Stats()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("something was still due: %w", ctx.Err())
		case after.Errors > before.Errors:
			return errDatabase
		case fired == 0 && after.Claimed == before.Claimed:
			return nil
		}
	}
}

// fire moves what is due into the outbox, and does the steps of bulk acts that are due.
func (d *DB) fire(ctx context.Context, r *Drained) (total int64, err error) {
	for _, source := range d.process.Sources() {
		for n := int64(1); n > 0; total += n {
			if n, err = source.Dispatch(ctx); err != nil {
				return total, fmt.Errorf("%s: %w", source.Name(), err)
			}
			switch source.Name() {
			case "timers":
				r.Timers += n
			case "jobs":
				r.Jobs += n
			}
		}
	}
	return total, nil
}

// turn handles the messages that are due, each queue's until it finds none.
func (d *DB) turn(ctx context.Context) error {
	return d.process.RunSlice(ctx, worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }})
}

// left returns what was due and is not dealt with, oldest first.
func (d *DB) left(ctx context.Context) ([]outbox.Info, error) {
	var left []outbox.Info
	for _, status := range []outbox.Status{outbox.Failed, outbox.Retrying, outbox.Scheduled, outbox.Ready} {
		for found, err := range d.Outbox.List(ctx, outbox.ListOptions{Status: status}) {
			if err != nil {
				return nil, err
			}
			if status == outbox.Failed || status == outbox.Retrying || putBack(&found) {
				left = append(left, found)
			}
		}
	}
	slices.SortFunc(left, func(a, b outbox.Info) int { return cmp.Compare(a.Position, b.Position) })
	return slices.CompactFunc(left, func(a, b outbox.Info) bool { return a.Position == b.Position }), nil
}

// putBack tells a message that was due and comes again, which it may have begun to be while the lists
// were read, from one whose time has not come.
func putBack(m *outbox.Info) bool {
	first := m.Due
	if first.IsZero() {
		first = m.CreatedAt
	}
	return m.NextAttemptAt.After(first)
}
