package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/torture/internal/history"
)

// leaseNames is how many leases the holders share.
const leaseNames = 3

// hold acquires leases and makes guarded transactions.
func (p *process) hold(ctx context.Context) error {
	for sleep(ctx, p.between(0, 100*time.Millisecond)) {
		p.holdOne(ctx, fmt.Sprintf("lease-%d", p.rand.IntN(leaseNames)))
	}
	return nil
}

func (p *process) holdOne(stop context.Context, name string) {
	ctx, cancel := attempt(stop)
	defer cancel()
	p.ended(history.Event{Op: history.Acquire, Name: name}, history.Began)
	l, err := p.pawl.Leases.Acquire(ctx, name, lease.Options{Duration: Lease})
	switch {
	case errors.Is(err, lease.ErrHeld):
		p.ended(history.Event{Op: history.Acquire, Name: name, Detail: history.Held}, history.Failed)
		return
	case err != nil:
		p.ended(history.Event{Op: history.Acquire, Name: name}, history.Unknown)
		return
	}
	e := history.Event{Op: history.Acquire, Name: name, Token: l.Token(), Until: l.Deadline().UnixNano()}
	p.ended(e, history.OK)
	for range 1 + p.rand.IntN(20) {
		p.guarded(stop, l)
		if p.chance(0.1) {
			p.renew(stop, l)
		}
		if !sleep(stop, p.between(0, 100*time.Millisecond)) {
			break
		}
	}
	e = history.Event{Op: history.Release, Name: name, Token: l.Token()}
	p.ended(e, history.Began)
	ctx, cancel = attempt(stop)
	defer cancel()
	o := history.OK
	if err := l.Close(ctx); err != nil {
		o = history.Unknown
	}
	p.ended(e, o)
}

func (p *process) renew(stop context.Context, l *lease.Lease) {
	ctx, cancel := attempt(stop)
	defer cancel()
	e := history.Event{Op: history.Renew, Name: l.Name(), Token: l.Token()}
	p.ended(e, history.Began)
	o, detail := outcomeOfHolder(l.Renew(ctx))
	e.Until, e.Detail = l.Deadline().UnixNano(), detail
	p.ended(e, o)
}

// guarded writes a row under the guard of a lease, also when the lease may be lost by now: it
// is the guard that has to find out.
func (p *process) guarded(stop context.Context, l *lease.Lease) {
	ctx, cancel := attempt(stop)
	defer cancel()
	e := history.Event{Op: history.Guard, Name: l.Name(), Token: l.Token()}
	p.ended(e, history.Began)
	o, detail := p.guard(ctx, l)
	e.Detail = detail
	p.ended(e, o)
}

// outcomeOfHolder says how a call of a holder ended.
func outcomeOfHolder(err error) (o history.Outcome, detail string) {
	switch {
	case err == nil:
		return history.OK, ""
	case errors.Is(err, lease.ErrLost):
		return history.Failed, history.Lost
	default:
		return history.Unknown, ""
	}
}

func (p *process) guard(ctx context.Context, l *lease.Lease) (history.Outcome, string) {
	tx, err := p.store.Begin(ctx)
	if err != nil {
		return history.Failed, ""
	}
	defer tx.Rollback()
	if err := l.Guard(ctx, tx); err != nil {
		_, detail := outcomeOfHolder(err)
		return history.Failed, detail
	}
	if err := p.store.Exec(ctx, tx, `INSERT INTO {s}torture_guard (name, token) VALUES (?, ?)`, l.Name(), l.Token()); err != nil {
		return history.Failed, ""
	}
	if err := tx.Commit(); err != nil {
		return history.Unknown, ""
	}
	return history.OK, ""
}
