package lease

import (
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Run calls fn while it holds a lease, and releases the lease afterwards, also when fn panics. fn's ctx
// ends when the lease or the caller's context does, and fn must then return.
// It returns [ErrHeld], without calling fn, if another owner holds the lease. It returns fn's
// error, joined with [ErrLost] if the lease was lost before fn returned.
func (s *Leases) Run(ctx context.Context, name string, opts Options, fn func(ctx context.Context, l *Lease) error) error {
	l, err := s.Acquire(ctx, name, opts)
	if err != nil {
		return err
	}
	return l.during(ctx, fn)
}

// during calls fn while the lease is held.
func (l *Lease) during(ctx context.Context, fn func(ctx context.Context, l *Lease) error) error {
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

// Elect keeps one leader among all who call it with this name: it waits for the lease, calls
// fn while it holds it, and waits again when fn returned or the lease was lost. After an error
// it waits, 0.25 s at first and 30 s at most, with jitter; it survives outages of the database.
// fn of a leader that lost the lease must return before Elect continues, and may overlap with
// the next leader's until it does: guard what it writes. Elect returns nil when ctx has ended
// and fn has returned, and an error only for invalid arguments and pawl.ErrInTransaction.
func (s *Leases) Elect(ctx context.Context, name string, opts Options, fn func(ctx context.Context, l *Lease) error) error {
	if _, err := s.complete(name, opts); err != nil {
		return err
	}
	if err := engine.CheckLoop(ctx, s.db, "lease/elect"); err != nil {
		return err
	}
	for pause := backoffMin; ctx.Err() == nil; {
		began := time.Now()
		err := s.lead(ctx, name, opts, fn)
		switch {
		case ctx.Err() != nil:
			continue // the end of the last term does not matter
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
func (s *Leases) lead(ctx context.Context, name string, opts Options, fn func(ctx context.Context, l *Lease) error) error {
	l, err := s.AcquireWait(ctx, name, opts)
	if err != nil {
		return err
	}
	return l.during(ctx, fn)
}
