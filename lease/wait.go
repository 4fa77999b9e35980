package lease

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// alive is how long a place in line is kept for a waiter that is silent, and
	// so how long a crashed one can hold up those behind it.
	alive = 6 * time.Second
	// sign is how often a waiter gives a sign of life.
	sign = 2 * time.Second
	// poll is how long a waiter sleeps at most: the backstop of being woken.
	poll = time.Second
	// deaf is the first pause of a waiter that cannot be woken yet; it doubles.
	deaf = 20 * time.Millisecond
	// backoffMin and backoffMax bound the pauses while the database is away (D-6).
	backoffMin = 250 * time.Millisecond
	backoffMax = 30 * time.Second
)

// AcquireWait takes a lease as soon as it is free and all who came before have
// had it. It waits until ctx ends, whose error it then returns; it leaves the
// line on any error. Once in line it outlasts outages of the database, though
// not its place in line if the outage is longer than a few seconds. As with
// Acquire, the lease outlives ctx.
func (s *Leases) AcquireWait(ctx context.Context, name string, opts Options) (*Lease, error) {
	a, err := s.attempt(name, opts)
	if err != nil {
		return nil, err
	}
	l, err := a.try(ctx, alive)
	if errors.Is(err, ErrHeld) {
		w := &waiter{attempt: a, signed: time.Now(), pause: deaf, backoff: backoffMin}
		l, err = w.wait(ctx)
	}
	if err != nil {
		a.undo(ctx)
	}
	return l, err
}

// waiter is an attempt that stands in line.
type waiter struct {
	*attempt
	signed  time.Time     // last sign of life
	pause   time.Duration // while it cannot be woken
	backoff time.Duration // after the next failure
}

func (w *waiter) wait(ctx context.Context) (*Lease, error) {
	sleeper := w.s.db.Waiter(place(w.id))
	defer sleeper.Close()
	for {
		_, deafness := sleeper.Subscribe(ctx)
		l, nap, err := w.look(ctx)
		switch {
		case ctx.Err() != nil && l == nil:
			return nil, ctx.Err()
		case l != nil || err != nil && !engine.Unavailable(err):
			return l, err
		case err != nil:
			nap = engine.Jitter(w.backoff, 0.2)
			w.backoff = min(2*w.backoff, backoffMax)
			_ = engine.Sleep(ctx, nap) // being rung would not help
			continue
		case deafness != nil:
			nap = min(nap, w.pause)
			w.pause = min(2*w.pause, poll)
		default:
			w.pause = deaf
		}
		w.backoff = backoffMin
		sleeper.Sleep(ctx, nap)
	}
}

// look takes the lease if it is our turn, and otherwise says how long to sleep.
// It writes only if it is our turn or time for a sign of life: on SQLite every
// commit wakes all who sleep.
func (w *waiter) look(ctx context.Context) (*Lease, time.Duration, error) {
	at, _, err := engine.Get(ctx, w.s.db, op.LeaseTurn{Name: w.name, Waiter: w.id})
	if err != nil {
		return nil, 0, err
	}
	due := sign - time.Since(w.signed)
	if at.InLine && due > 0 && (at.Ahead > 0 || at.Micros > 0) {
		nap := min(poll, due)
		if at.Ahead == 0 {
			nap = min(nap, time.Duration(at.Micros+1)*time.Microsecond)
		}
		return nil, nap, nil
	}
	l, err := w.try(ctx, alive)
	if errors.Is(err, ErrHeld) {
		w.signed = time.Now()
		return nil, time.Millisecond, nil // look at once, but let others run
	}
	return l, 0, err
}
