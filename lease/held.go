package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Lease is a lease that was acquired. It is renewed in the background until Close, or until
// it is lost. Call Close before the database is closed. It is safe for concurrent use.
type Lease struct {
	s     *Leases
	name  string
	opts  Options
	id    [16]byte
	token int64

	ctx     context.Context //nolint:containedctx // it lives as long as the lease
	cancel  context.CancelCauseFunc
	renewed chan struct{} // a call of Renew succeeded
	tasks   sync.WaitGroup

	mu       sync.Mutex
	sent     time.Time // when the last renewal that succeeded was sent
	lostInDB bool      // the database reported that it is lost
	err      error     // why it ended, nil while it is held

	closing  sync.Mutex
	released bool
}

// newLease starts the renewals of a lease.
func (s *Leases) newLease(ctx context.Context, a *attempt, g grant) *Lease {
	l := &Lease{s: s, name: a.name, opts: a.opts, id: a.id, token: g.token, sent: g.sent, renewed: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.observers.Each(func(o *worker.Observer) {
		if o.LeaseAcquired != nil {
			o.LeaseAcquired(l.name, l.token)
		}
	})
	l.tasks.Go(l.keep)
	s.log.DebugContext(ctx, "lease acquired", "lease", l.name, "owner", l.opts.Owner, "token", l.token)
	return l
}

// Name returns the lease's name.
func (l *Lease) Name() string { return l.name }

// Owner returns who holds the lease, as others read it.
func (l *Lease) Owner() string { return l.opts.Owner }

// Token returns the fencing token: greater than that of every earlier
// acquisition of the name, and the same for as long as this one lasts (D-60).
func (l *Lease) Token() int64 { return l.token }

// Context returns a context that lives as long as the lease is held. It has the values of
// the context that the lease was acquired with, but not its cancellation. Its cause is
// [ErrLost] or [ErrClosed]. It ends soon after a lease is lost, but only [Lease.Guard]
// prevents later writes from taking effect.
func (l *Lease) Context() context.Context { return l.ctx }

// Deadline returns until when the lease is held if no further renewal succeeds,
// by this process's monotonic clock.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadlineLocked()
}

// deadlineLocked counts from before the request: the database counts from later, so that it
// still keeps the lease when this process gives it up (D-62).
func (l *Lease) deadlineLocked() time.Time { return l.sent.Add(l.opts.Duration) }

// Err returns nil while the lease is held, and then [ErrLost] or [ErrClosed]. It reads the
// clock itself, so that it is right at once after the process was stopped.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && time.Now().Before(l.deadlineLocked()) {
		return nil
	}
	l.endLocked(lost(l.name, "not renewed in time"))
	return l.err
}

// Guard makes sure that tx commits only while the lease is held: it fails with
// [ErrLost] unless the lease is ours by the database's clock, and until tx ends
// nobody else can take it (D-64). Several guarded transactions may be open at
// once, and renewals pass them. If Guard fails, roll back. tx must be a
// transaction on the same database, and read committed: on PostgreSQL any other
// fails with pawl.ErrIsolation.
func (l *Lease) Guard(ctx context.Context, tx any) error {
	own, err := engine.TxOf(l.s.db, tx)
	if err != nil {
		return err
	}
	call := engine.Ask(op.LeaseGuard{Name: l.name, Holder: l.id, Token: l.token})
	if err := l.s.db.DoTx(ctx, own, call); err != nil {
		return err
	}
	if call.N == 0 {
		return l.markLost()
	}
	return nil
}

// markLost records that the database reported the lease as lost: that is final.
func (l *Lease) markLost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lostInDB = true
	l.endLocked(lost(l.name, "no longer ours"))
	return l.err
}

// endLocked ends the lease, once.
func (l *Lease) endLocked(why error) {
	if l.err != nil {
		return
	}
	l.err = why
	l.cancel(why)
	l.s.observers.Each(func(o *worker.Observer) {
		if o.LeaseEnded != nil {
			o.LeaseEnded(l.name, errors.Is(why, ErrLost))
		}
	})
	if errors.Is(why, ErrLost) {
		l.s.log.Warn("lease lost", "lease", l.name, "owner", l.opts.Owner, "token", l.token, "error", why)
	}
}

// releaseLimit bounds how long Close tries to reach the database.
const releaseLimit = 5 * time.Second

// Close ends the lease's context and releases the lease, if it is still held, so that the
// next waiter has it at once (D-61). It works also when ctx has ended, taking a few seconds
// at most. Closing again does nothing. After an error the lease was not released and
// expires by itself; Close may be called again.
func (l *Lease) Close(ctx context.Context) error {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.released {
		return nil
	}
	l.mu.Lock()
	l.endLocked(ErrClosed)
	gone := l.lostInDB
	l.mu.Unlock()
	defer l.tasks.Wait()
	if !gone {
		ctx, cancel := engine.Detach(ctx, releaseLimit)
		defer cancel()
		if err := l.s.releaseAndWake(ctx, l.name, engine.Ask(op.LeaseRelease{Name: l.name, Holder: l.id})); err != nil {
			return err
		}
	}
	l.released = true
	if !gone {
		l.s.log.DebugContext(ctx, "lease released", "lease", l.name, "owner", l.opts.Owner, "token", l.token)
	}
	return nil
}
