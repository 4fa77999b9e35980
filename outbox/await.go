package outbox

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
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
	// Await reads again after awaitSoon, which doubles up to awaitLate, or to awaitAsked while other processes
	// are asked to tell of the end.
	awaitSoon  = 2 * time.Millisecond
	awaitLate  = 250 * time.Millisecond
	awaitAsked = time.Second
	// They are asked before the first wait of askAfter: shorter handlers have ended by then. And again every
	// askEvery: workers may start later, and forget.
	askAfter = 50 * time.Millisecond
	askEvery = 5 * time.Second
	// askEach is how many calls may ask together.
	askEach = 500
)

// Await waits until a message has ended, and returns the result that its handler set, nil for none. A
// message that is redriven later has a result then; this call does not wait for that. Errors: *EndError for a
// message that was not done; ErrNotFound; the error of ctx. What a worker of this Outbox has handled returns
// with the commit of its ack. For others Await reads after 2, 4, 8 ms and so on. On PostgreSQL workers of other
// processes are asked after some 60 ms to tell of the end, over a connection that stays open for a minute after
// the last call, and Await reads at least every second. Elsewhere, for workers in other languages, and where
// notifications do not arrive, it reads every 250 ms, or every second.
func (o *Outbox) Await(ctx context.Context, id MessageID) ([]byte, error) {
	if err := engine.CheckOutside(ctx, o.db, nil, ""); err != nil {
		return nil, err
	}
	var at *awaited
	var ended <-chan struct{}
	for wait := o.awaits.soon; ; wait *= 2 {
		if at != nil { // what ends from now on is noticed
			ended = o.awaits.next(at)
		}
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
		if at == nil {
			at = o.awaits.join(end.ID)
			defer o.awaits.leave(at)
			continue
		}
		most := o.awaits.late
		if wait >= askAfter {
			asked, now := o.awaits.ask(ctx, o.db, at)
			if now {
				continue // it may have ended before
			}
			if asked {
				most = o.awaits.asked
			}
		}
		wait = min(wait, most)
		select {
		case <-ended:
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

// settled notifies those who wait for messages that a worker has settled.
func (o *Outbox) settled(s *worker.Settlement) {
	if o.awaits.n.Load() > 0 {
		o.awaits.notify(s.Ended())
	}
	if others, ok := engine.As[engine.EndTeller](o.db); ok {
		others.TellEnds(s.Ended())
	}
}

// awaiting is who waits for the end of messages.
type awaiting struct {
	soon, late, asked time.Duration
	n                 atomic.Int64 // so that workers need no lock while nobody waits
	asks              coalesce.Group[*asking]

	mu     sync.Mutex
	of     map[int64]*awaited // by position
	others engine.EndTeller   // nil, or who is heard until leave is called
	leaves func()
}

// awaited is a message that some wait for.
type awaited struct {
	position int64
	waiting  int
	ended    chan struct{} // is closed when a worker has settled it, and replaced
	asked    time.Time     // when other processes were asked to tell of its end; zero: not since it was settled
}

// asking is a call that asks, and whom.
type asking struct {
	at     *awaited
	others engine.EndTeller
}

func (a *awaiting) init() {
	a.soon, a.late, a.asked = awaitSoon, awaitLate, awaitAsked
	a.of = map[int64]*awaited{}
	a.asks = coalesce.Group[*asking]{Leaders: 1, Max: askEach, Run: a.askAll}
}

// join adds one who waits for the message at a position.
func (a *awaiting) join(position int64) *awaited {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.of[position]
	if at == nil {
		at = &awaited{position: position, ended: make(chan struct{})}
		a.of[position] = at
	}
	at.waiting++
	a.n.Add(1)
	return at
}

func (a *awaiting) leave(at *awaited) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at.waiting--; at.waiting == 0 {
		delete(a.of, at.position)
	}
	if a.n.Add(-1) == 0 {
		a.hear(nil)
	}
}

// next returns the channel that is closed when a worker settles the message from now on.
func (a *awaiting) next(at *awaited) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.ended
}

// notify wakes who waits for the messages at these positions.
func (a *awaiting) notify(positions iter.Seq[int64]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range positions {
		a.of[p].end()
	}
}

// end wakes who waits for a message. Workers of other processes have forgotten it: it may have been redriven.
func (at *awaited) end() {
	if at != nil {
		close(at.ended)
		at.ended, at.asked = make(chan struct{}), time.Time{}
	}
}

// failedStatus is the first of the states in which a message ends without being done, as a number.
const failedStatus = 3
