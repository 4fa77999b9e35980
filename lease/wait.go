package lease

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// placeKept is how long a place in line is kept without a heartbeat, and so how long a
	// crashed waiter can block those after it.
	placeKept = 6 * time.Second
	// heartbeatEvery is how often a waiter sends a heartbeat.
	heartbeatEvery = 2 * time.Second
	// pollMax is how long a waiter sleeps at most, if no notification arrives.
	pollMax = time.Second
	// unsubscribedDelay is the first delay of a waiter that could not subscribe; it doubles.
	unsubscribedDelay = 20 * time.Millisecond
	// backoffMin and backoffMax bound the delays while the database does not answer (D-6).
	backoffMin = 250 * time.Millisecond
	backoffMax = 30 * time.Second
)

// AcquireWait takes a lease as soon as it is free and all who came before have had it. It
// waits until ctx ends, whose error it then returns; it leaves the line on any error. While
// waiting it survives outages of the database, but loses its place in line if the outage is
// longer than a few seconds. As with Acquire, the lease does not end with ctx.
func (s *Leases) AcquireWait(ctx context.Context, name string, opts Options) (*Lease, error) {
	a, err := s.attempt(name, opts)
	if err != nil {
		return nil, err
	}
	sent := time.Now()
	l, err := a.try(ctx, placeKept)
	if errors.Is(err, ErrHeld) {
		w := &waiter{attempt: a, heartbeat: sent, pollDelay: unsubscribedDelay, backoff: backoffMin}
		l, err = w.wait(ctx)
	}
	if err != nil {
		a.undo(ctx)
	}
	return l, err
}

// waiter is an attempt that waits in line.
type waiter struct {
	*attempt
	heartbeat time.Time     // when the last one was sent
	pollDelay time.Duration // while it is not subscribed
	backoff   time.Duration // after the next failure
}

func (w *waiter) wait(ctx context.Context) (*Lease, error) {
	waiter := w.s.db.Waiter(waiterQueue(w.id))
	defer waiter.Close()
	for {
		_, notSubscribed := waiter.Subscribe(ctx)
		l, delay, err := w.poll(ctx)
		switch {
		case ctx.Err() != nil && l == nil:
			return nil, ctx.Err()
		case l != nil || err != nil && !engine.Unavailable(err):
			return l, err
		case err != nil:
			delay = engine.Jitter(w.backoff, 0.2)
			w.backoff = min(2*w.backoff, backoffMax)
			_ = engine.Sleep(ctx, delay) // a notification would not help
			continue
		case notSubscribed != nil:
			delay = min(delay, w.pollDelay)
			w.pollDelay = min(2*w.pollDelay, pollMax)
		default:
			w.pollDelay = unsubscribedDelay
		}
		w.backoff = backoffMin
		waiter.Sleep(ctx, delay)
	}
}

// poll takes the lease if it is this waiter's turn, and otherwise returns how long to sleep.
// It writes only in that case or for a heartbeat: on SQLite every commit wakes all waiters.
func (w *waiter) poll(ctx context.Context) (*Lease, time.Duration, error) {
	at, _, err := engine.Get(ctx, w.s.db, op.LeaseTurn{Name: w.name, Waiter: w.id})
	if err != nil {
		return nil, 0, err
	}
	due := heartbeatEvery - time.Since(w.heartbeat)
	if at.InLine && due > 0 && (at.Ahead > 0 || at.Micros > 0) {
		delay := min(pollMax, due)
		if at.Ahead == 0 {
			delay = min(delay, time.Duration(at.Micros+1)*time.Microsecond)
		}
		return nil, delay, nil
	}
	sent := time.Now()
	l, err := w.try(ctx, placeKept)
	if errors.Is(err, ErrHeld) {
		w.heartbeat = sent
		return nil, time.Millisecond, nil // poll at once, but let others run
	}
	return l, 0, err
}
