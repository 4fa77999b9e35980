package lease

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// staleShare is the part of a lease that acquiring it may take before it is renewed at once:
// the acquirer may have waited for a lock, and the lease counts from before the request
// (D-62, D-63).
const staleShare = 10

// cleanupLimit bounds what is undone after a failure.
const cleanupLimit = 2 * time.Second

// Acquire takes a lease, or returns [ErrHeld] if another owner holds it or others wait for it
// (see [Leases.AcquireWait]). It does not wait, except for the end of a guarded transaction
// of the last holder. ctx bounds only the call: the lease has its values but not its
// cancellation, and lasts until Close, or until it is lost.
func (s *Leases) Acquire(ctx context.Context, name string, opts Options) (*Lease, error) {
	a, err := s.attempt(name, opts)
	if err != nil {
		return nil, err
	}
	l, err := a.try(ctx, 0)
	if err != nil && !errors.Is(err, ErrHeld) {
		a.undo(ctx)
	}
	return l, err
}

// attempt is one acquisition. Its id identifies it in the database (D-61), so that a repeated
// call after an unknown outcome returns what the first one got.
type attempt struct {
	s    *Leases
	name string
	opts Options
	id   [16]byte
}

func (s *Leases) attempt(name string, opts Options) (*attempt, error) {
	opts, err := s.complete(name, opts)
	if err != nil {
		return nil, err
	}
	return &attempt{s: s, name: name, opts: opts, id: uuid.New()}, nil
}

// grant is a lease as the database granted it.
type grant struct {
	token int64
	sent  time.Time // when the request was sent: the lease counts from there
}

// try requests the lease and, with alive, takes or keeps a place in line for so long. The
// error is a *HeldError if another owner holds it.
func (a *attempt) try(ctx context.Context, alive time.Duration) (*Lease, error) {
	for {
		g, err := a.ask(ctx, alive)
		if err != nil {
			return nil, err
		}
		if time.Since(g.sent) > a.opts.Duration/staleShare {
			sent := time.Now()
			ours, err := a.renew(ctx)
			if err == nil && !ours {
				continue // it expired before the answer arrived
			}
			if err == nil {
				g.sent = sent
			}
		}
		if time.Since(g.sent) >= a.opts.Duration {
			return nil, lost(a.name, "the database answered too late")
		}
		return a.s.newLease(ctx, a, g), nil
	}
}

// renew extends a lease that took long to grant. It waits no longer than the lease lasts: a later
// answer would be of no use.
func (a *attempt) renew(ctx context.Context) (ours bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.opts.Duration)
	defer cancel()
	return a.s.renew(ctx, a.name, a.id, a.opts.Duration)
}

// ask makes one round trip with all statements of the request.
func (a *attempt) ask(ctx context.Context, alive time.Duration) (grant, error) {
	var g grant
	var given op.LeaseGrant
	var held op.Lease
	acquire := engine.One(op.LeaseAcquire{Name: a.name, Owner: a.opts.Owner, Holder: a.id, Lease: a.opts.Duration}, &given)
	calls := []*engine.Call{acquire}
	if alive > 0 {
		calls = append(calls,
			engine.Ask(op.LeasePrune{Name: a.name}),
			engine.Ask(op.LeaseJoin{Name: a.name, Waiter: a.id, Alive: alive}))
	}
	calls = append(calls, engine.One(op.LeaseGet{Name: a.name}, &held))
	g.sent = time.Now()
	if err := a.s.db.Do(ctx, calls...); err != nil {
		return g, err
	}
	if g.token = given.Token; acquire.N > 0 {
		return g, nil
	}
	e := &HeldError{Name: a.name, Waiting: held.Waiting}
	if held.Held {
		known := info(&held)
		e.Owner, e.Until = known.Owner, known.Until
	}
	return g, e
}

// undo leaves the line and releases what may have been granted without an answer.
func (a *attempt) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
	defer cancel()
	err := a.s.releaseAndWake(ctx, a.name,
		engine.Ask(op.LeaseRelease{Name: a.name, Holder: a.id}),
		engine.Ask(op.LeaseLeave{Name: a.name, Waiter: a.id}))
	if err != nil {
		a.s.log.DebugContext(ctx, "could not leave the line for a lease, the place runs out", "lease", a.name, "error", err)
	}
}

// releaseAndWake runs calls that may free a lease, and wakes the next waiter.
func (s *Leases) releaseAndWake(ctx context.Context, name string, calls ...*engine.Call) error {
	var next op.LeaseWaiter
	call := engine.One(op.LeaseWake{Name: name}, &next)
	err := s.db.Do(ctx, append(calls, call)...)
	if err == nil && call.N > 0 {
		s.db.Notify(waiterQueue(next.ID))
	}
	return err
}

// renew extends a lease in the database, and reports whether that acquisition still holds it.
func (s *Leases) renew(ctx context.Context, name string, id [16]byte, d time.Duration) (ours bool, err error) {
	c := engine.One(op.LeaseRenew{Name: name, Holder: id, Lease: d}, new(op.LeaseEnd))
	err = s.db.Do(ctx, c)
	return c.N > 0, err
}

// waiterQueue is the queue on which a waiter sleeps: its own, so that a release wakes only
// the next one.
func waiterQueue(id [16]byte) string { return "lease/" + uuid.UUID(id).String() }
