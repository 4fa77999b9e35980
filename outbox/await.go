package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// EndError says how a message ended that was not done.
type EndError struct {
	ID     MessageID
	Status Status // Failed, Discarded or Expired
	Reason string // the last error of its handler, "" for none
}

// Error returns the id, the state and the reason.
func (e *EndError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("message %s: %s", e.ID, e.Status)
	}
	return fmt.Sprintf("message %s: %s: %s", e.ID, e.Status, e.Reason)
}

const (
	// Await reads again after awaitSoon, which doubles up to awaitLate.
	awaitSoon = 2 * time.Millisecond
	awaitLate = 250 * time.Millisecond
)

// Await waits until a message has ended, and returns the result that its handler set, nil for none. A
// message that is redriven later has a result then; this call does not wait for that. Errors: *EndError for a
// message that was not done; ErrNotFound; the error of ctx. It reads every 2 to 250 ms.
func (o *Outbox) Await(ctx context.Context, id MessageID) ([]byte, error) {
	if err := engine.CheckOutside(ctx, o.db, nil, ""); err != nil {
		return nil, err
	}
	position, _, _ := id.position()
	for wait := awaitSoon; ; wait = min(2*wait, awaitLate) {
		ends, err := engine.Query(ctx, o.db, op.OutboxOver{MessageID: id, ID: position})
		if err == nil && len(ends) == 0 {
			err = fmt.Errorf("%w: %s", ErrNotFound, id)
		}
		if err != nil {
			return nil, err
		}
		end := &ends[0]
		switch {
		case end.Done && len(end.Result) == 0:
			return nil, nil
		case end.Done:
			return end.Result, nil
		case end.Status >= failedStatus:
			return nil, &EndError{ID: id, Status: Status(op.OutboxStatuses().Word(int64(end.Status))), Reason: worker.Value(end.LastError)}
		}
		if err := engine.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// failedStatus is the first of the states in which a message ends without being done, as a number.
const failedStatus = 3
