package lease

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Func is work that is done under a lease. ctx ends when the lease or the
// caller's context does, and work must then stop.
type Func func(ctx context.Context, l *Lease) error

// Run does fn while it holds a lease, and gives the lease back afterwards, also
// when fn panics. It fails with [ErrHeld], without doing fn, if someone else has
// the lease. It returns what fn returns, joined with [ErrLost] if the lease was
// lost before fn returned.
func (s *Leases) Run(ctx context.Context, name string, opts Options, fn Func) error {
	l, err := s.Acquire(ctx, name, opts)
	if err != nil {
		return err
	}
	return l.during(ctx, fn)
}

// during does fn while the lease is held.
func (l *Lease) during(ctx context.Context, fn Func) error {
	defer func() {
		if err := l.Close(ctx); err != nil {
			l.s.log.Warn("could not give a lease back, it runs out", "lease", l.name, "owner", l.opts.Owner, "error", err)
		}
	}()
	work, cancel := context.WithCancelCause(l.Context())
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	err := fn(work, l)
	if ended := l.Err(); ended != nil && !errors.Is(err, ErrLost) {
		err = errors.Join(err, ended)
	}
	return err
}

// Elect keeps one leader among all who call it with this name: it waits in line
// for the lease, does fn while it holds it, steps down when fn returns or the
// lease is lost, and stands again. After an error it pauses, 0.25 s at first and
// 30 s at most, with jitter; it outlasts outages of the database. fn of a leader
// that lost the lease must return for Elect to go on, and may overlap with the
// next leader's until it does: guard what it writes. Elect returns nil when ctx
// has ended and fn has returned, and an error only for arguments that cannot be.
func (s *Leases) Elect(ctx context.Context, name string, opts Options, fn Func) error {
	if _, err := s.complete(name, opts); err != nil {
		return err
	}
	for pause := backoffMin; ctx.Err() == nil; {
		began := time.Now()
		err := s.lead(ctx, name, opts, fn)
		switch {
		case ctx.Err() != nil:
			continue // how the last term ended does not matter any more
		case err == nil || time.Since(began) > backoffMax:
			pause = backoffMin
		}
		if err != nil {
			s.log.WarnContext(ctx, "leadership ended with an error, standing again", "lease", name, "error", engine.Line(err.Error()))
		}
		_ = engine.Sleep(ctx, engine.Jitter(pause, 0.2))
		if err != nil {
			pause = min(2*pause, backoffMax)
		}
	}
	return nil
}

// lead is one term.
func (s *Leases) lead(ctx context.Context, name string, opts Options, fn Func) error {
	l, err := s.AcquireWait(ctx, name, opts)
	if err != nil {
		return err
	}
	return l.during(ctx, fn)
}
