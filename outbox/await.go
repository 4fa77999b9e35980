package outbox

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
// message that was not done; ErrNotFound; the error of ctx. What a worker of this Outbox has handled returns
// with the commit of its ack; for others Await reads every 2 to 250 ms.
func (o *Outbox) Await(ctx context.Context, id MessageID) ([]byte, error) {
	if err := engine.CheckOutside(ctx, o.db, nil, ""); err != nil {
		return nil, err
	}
	var ended <-chan struct{}
	for wait := o.awaits.soon; ; wait = min(2*wait, o.awaits.late) {
		end, err := o.end(ctx, id)
		if err != nil {
			return nil, err
		}
		switch {
		case end.Done && len(end.Result) == 0:
			return nil, nil
		case end.Done:
			return end.Result, nil
		case end.Status >= failedStatus:
			return nil, &EndError{ID: id, Status: Status(op.OutboxStatuses().Word(int64(end.Status))), Reason: worker.Value(end.LastError)}
		}
		if ended == nil { // what ends from now on is noticed: it has to be read once more
			var leave func()
			ended, leave = o.awaits.join(end.ID)
			defer leave()
			continue
		}
		select {
		case <-ended:
			ended = nil // a failed message may have been redriven meanwhile
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// end reads whether a message has ended.
func (o *Outbox) end(ctx context.Context, id MessageID) (*op.OutboxEnd, error) {
	position, _, _ := id.position()
	ends, err := engine.Query(ctx, o.db, op.OutboxOver{MessageID: id, ID: position})
	if err != nil {
		return nil, err
	}
	if len(ends) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return &ends[0], nil
}

// awaiting is who waits for the end of messages.
type awaiting struct {
	soon, late time.Duration
	n          atomic.Int64 // so that workers need no lock while nobody waits
	mu         sync.Mutex
	of         map[int64]map[chan struct{}]struct{} // by position
}

// join returns a channel that is closed when a worker has settled the message at a position.
func (a *awaiting) join(position int64) (ended <-chan struct{}, leave func()) {
	c := make(chan struct{})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[int64]map[chan struct{}]struct{}{}
	}
	if a.of[position] == nil {
		a.of[position] = map[chan struct{}]struct{}{}
	}
	a.of[position][c] = struct{}{}
	a.n.Add(1)
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.n.Add(-1)
		if delete(a.of[position], c); len(a.of[position]) == 0 {
			delete(a.of, position)
		}
	}
}

// settled notifies those who wait for messages that a worker has settled.
func (a *awaiting) settled(s *worker.Settlement) {
	if a.n.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range s.Acks {
		a.notify(h.ID)
	}
	for i := range s.Failures {
		a.notify(s.Failures[i].ID)
	}
}

func (a *awaiting) notify(position int64) {
	for c := range a.of[position] {
		close(c)
	}
	delete(a.of, position)
}

// failedStatus is the first of the states in which a message ends without being done, as a number.
const failedStatus = 3
