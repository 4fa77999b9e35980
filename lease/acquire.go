package lease

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// stale is the part of a lease that acquiring it may take before it is renewed
// at once: the acquirer may have waited for a lock, and its trust counts from
// before it asked (D-62, D-63).
const stale = 10

// cleanup bounds what is undone after a failure.
const cleanup = 2 * time.Second

// Acquire takes a lease, or fails with [ErrHeld] if someone has it or others
// stand in line for it: it does not push in (see [Leases.AcquireWait]). It does
// not wait, except that it lets a guarded transaction of the last holder end.
// ctx bounds the call; what it holds and its end do not reach the lease, which
// lasts until Close, or until it is lost.
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

// attempt is one acquisition. Its id is what the database knows it by (D-61),
// so that asking again after an unknown outcome finds what the first one got.
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

// grant is what the database gave.
type grant struct {
	token int64
	sent  time.Time // when it was asked for: the trust counts from there
}

// try asks for the lease, and, with alive, takes or keeps a place in line for so
// long. The error is a *HeldError if it was not to be had.
func (a *attempt) try(ctx context.Context, alive time.Duration) (*Lease, error) {
	for {
		g, err := a.ask(ctx, alive)
		if err != nil {
			return nil, err
		}
		if time.Since(g.sent) > a.opts.Duration/stale {
			sent := time.Now()
			ours, err := a.s.renew(ctx, a.name, a.id, a.opts.Duration)
			if err == nil && !ours {
				continue // it ran out on the way
			}
			if err == nil {
				g.sent = sent
			}
		}
		if time.Since(g.sent) >= a.opts.Duration {
			return nil, lost(a.name, "the database answered too late")
		}
		return a.s.hold(ctx, a, g), nil
	}
}

// ask makes one round trip of everything that asking takes.
func (a *attempt) ask(ctx context.Context, alive time.Duration) (grant, error) {
	var g grant
	var given op.LeaseGrant
	var held op.Lease
	acquire := engine.One(op.LeaseAcquire{Name: a.name, Owner: a.opts.Owner, Holder: a.id, Lease: a.opts.Duration}, &given)
	calls := []*engine.Call{acquire}
	if alive > 0 {
		calls = append(calls,
			engine.Ask(op.LeaseTidy{Name: a.name}),
			engine.Ask(op.LeaseEnrol{Name: a.name, Waiter: a.id, Alive: alive}))
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

// undo leaves the line and gives back what may have been granted unheard.
func (a *attempt) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer cancel()
	err := a.s.give(ctx, a.name,
		engine.Ask(op.LeaseRelease{Name: a.name, Holder: a.id}),
		engine.Ask(op.LeaseLeave{Name: a.name, Waiter: a.id}))
	if err != nil {
		a.s.log.DebugContext(ctx, "could not leave the line for a lease, the place runs out", "lease", a.name, "error", err)
	}
}

// give runs calls that may free a lease, and wakes whoever is next in line.
func (s *Leases) give(ctx context.Context, name string, calls ...*engine.Call) error {
	var next op.LeaseWaiter
	call := engine.One(op.LeaseCall{Name: name}, &next)
	err := s.db.Do(ctx, append(calls, call)...)
	if err == nil && call.N > 0 {
		s.db.Notify(place(next.ID))
	}
	return err
}

// renew asks the database to lengthen a lease, and reports whether it is still
// that acquisition's.
func (s *Leases) renew(ctx context.Context, name string, id [16]byte, d time.Duration) (ours bool, err error) {
	c := engine.One(op.LeaseRenew{Name: name, Holder: id, Lease: d}, new(op.LeaseEnd))
	err = s.db.Do(ctx, c)
	return c.N > 0, err
}

// place is the queue on which a waiter sleeps: its own, so that a release wakes
// the one whose turn it is and nobody else.
func place(id [16]byte) string { return "lease/" + uuid.UUID(id).String() }
