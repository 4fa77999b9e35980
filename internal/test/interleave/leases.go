package interleave

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Lease is the name of the scenarios' lease.
const Lease = "lease"

// Acquire takes the lease if it is free.
func Acquire(holder string) Action {
	return Action{"acquire by " + holder, func(ctx context.Context, e *Env) error {
		var grant op.LeaseGrant
		c := engine.One(op.LeaseAcquire{Name: Lease, Owner: holder, Holder: ID(holder), Lease: lease}, &grant)
		err := e.Call(ctx, c)
		e.granted(holder, grant.Token)
		e.Saw(Event{Kind: Granted, Owner: holder, N: grant.Token})
		return err
	}}
}

// Renew extends the lease.
func Renew(holder string) Action {
	return Action{"renew by " + holder, func(ctx context.Context, e *Env) error {
		var end op.LeaseEnd
		c := engine.One(op.LeaseRenew{Name: Lease, Holder: ID(holder), Lease: lease}, &end)
		err := e.Call(ctx, c)
		e.Saw(Event{Kind: Renewed, Owner: holder, N: c.N})
		return err
	}}
}

// Release gives the lease up.
func Release(holder string) Action {
	return ask("release by "+holder, event(Event{Kind: Counted, Owner: "release"}), op.LeaseRelease{Name: Lease, Holder: ID(holder)})
}

// Guard locks the lease for the transaction, with the token that its holder was given.
func Guard(holder string) Action {
	return Action{"guard by " + holder, func(ctx context.Context, e *Env) error {
		token := e.token(holder)
		c := engine.Ask(op.LeaseGuard{Name: Lease, Holder: ID(holder), Token: token})
		if err := e.Call(ctx, c); err != nil {
			return err
		}
		e.Saw(Event{Kind: Guarded, Owner: Lease, N: token * min(c.N, 1)})
		return nil
	}}
}

// ExpireLease lets the lease expire.
func ExpireLease() Action {
	return Action{"expire the lease", func(ctx context.Context, e *Env) error {
		past := "clock_timestamp() - interval '1 hour'"
		if !e.Postgres() {
			past = fmt.Sprint(time.Now().Add(-time.Hour).UnixMicro())
		}
		e.Saw(Event{Kind: Counted, Owner: "expire the lease"})
		return e.Exec(ctx, "UPDATE pawl.lease SET lease_until_utc = "+past+" WHERE holder IS NOT NULL")
	}}
}
