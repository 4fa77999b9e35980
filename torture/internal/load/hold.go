package load

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/torture/internal/quick/history"
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
	p.ended(history.Event{Op: "acquire", Name: name}, history.Began)
	l, err := p.pawl.Leases.Acquire(ctx, name, lease.Options{Duration: Lease})
	if err != nil {
		p.ended(history.Event{Op: "acquire", Name: name}, history.Failed)
		return
	}
	e := history.Event{Op: "acquire", Name: name, Token: l.Token(), Until: l.Deadline().UnixNano()}
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
	e = history.Event{Op: "release", Name: name, Token: l.Token()}
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
	o := history.OK
	if err := l.Renew(ctx); err != nil {
		o = history.Failed
	}
	p.ended(history.Event{Op: "renew", Name: l.Name(), Token: l.Token(), Until: l.Deadline().UnixNano()}, o)
}

// guarded writes a row under the guard of a lease, also when the lease may be lost by now: it
// is the guard that has to find out.
func (p *process) guarded(stop context.Context, l *lease.Lease) {
	ctx, cancel := attempt(stop)
	defer cancel()
	e := history.Event{Op: "guard", Name: l.Name(), Token: l.Token()}
	p.ended(e, history.Began)
	p.ended(e, p.guard(ctx, l))
}

func (p *process) guard(ctx context.Context, l *lease.Lease) history.Outcome {
	tx, err := p.store.Begin(ctx)
	if err != nil {
		return history.Failed
	}
	defer tx.Rollback()
	if err := l.Guard(ctx, tx); err != nil {
		return history.Failed
	}
	if err := p.store.Exec(ctx, tx, `INSERT INTO {s}torture_guard (name, token) VALUES (?, ?)`, l.Name(), l.Token()); err != nil {
		return history.Failed
	}
	if err := tx.Commit(); err != nil {
		return history.Unknown
	}
	return history.OK
}
