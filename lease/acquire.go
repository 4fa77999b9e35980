package lease

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/engine"
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
	var got bool
	var held Info
	acquire := &engine.Call{
		Op: "lease/acquire", Args: []any{a.name, a.opts.Owner, a.id, a.opts.Duration},
		Reset: func() { got = false },
		Each: func(r engine.Row) error {
			var until time.Time
			got = true
			return r.Scan(&g.token, &until)
		},
	}
	calls := []*engine.Call{acquire}
	if alive > 0 {
		calls = append(calls,
			&engine.Call{Op: "lease/tidy", Args: []any{a.name}},
			&engine.Call{Op: "lease/enrol", Args: []any{a.name, a.id, alive}})
	}
	calls = append(calls, &engine.Call{Op: "lease/get", Args: []any{a.name}, Each: held.scan})
	g.sent = time.Now()
	if err := a.s.db.Do(ctx, calls...); err != nil {
		return g, err
	}
	if got {
		return g, nil
	}
	e := &HeldError{Name: a.name, Waiting: held.Waiting}
	if held.Held {
		e.Owner, e.Until = held.Owner, held.Until
	}
	return g, e
}

// undo leaves the line and gives back what may have been granted unheard.
func (a *attempt) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer cancel()
	err := a.s.give(ctx, a.name,
		&engine.Call{Op: "lease/release", Args: []any{a.name, a.id}},
		&engine.Call{Op: "lease/leave", Args: []any{a.name, a.id}})
	if err != nil {
		a.s.log.DebugContext(ctx, "could not leave the line for a lease, the place runs out", "lease", a.name, "error", err)
	}
}

// give runs calls that may free a lease, and wakes whoever is next in line.
func (s *Leases) give(ctx context.Context, name string, calls ...*engine.Call) error {
	var next [16]byte
	var someone bool
	call := &engine.Call{
		Op: "lease/call", Args: []any{name}, Reset: func() { someone = false },
		Each: func(r engine.Row) error {
			someone = true
			return r.Scan(&next)
		},
	}
	err := s.db.Do(ctx, append(calls, call)...)
	if err == nil && someone {
		s.db.Ring(place(next))
	}
	return err
}

// renew asks the database to lengthen a lease, and reports whether it is still
// that acquisition's.
func (s *Leases) renew(ctx context.Context, name string, id [16]byte, d time.Duration) (ours bool, err error) {
	err = s.db.Do(ctx, &engine.Call{
		Op: "lease/renew", Args: []any{name, id, d}, Reset: func() { ours = false },
		Each: func(engine.Row) error { ours = true; return nil },
	})
	return ours, err
}

// place is the queue on which a waiter sleeps: its own, so that a release wakes
// the one whose turn it is and nobody else.
func place(id [16]byte) string { return "lease/" + uuid.UUID(id).String() }
