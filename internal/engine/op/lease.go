package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func leases() []engine.Operation {
	return []engine.Operation{
		LeaseAcquire{}, LeaseCall{}, LeaseEnrol{}, LeaseForce{}, LeaseGet{}, LeaseGuard{}, LeaseLeave{}, LeaseList{}, LeaseRelease{},
		LeaseRenew{}, LeaseTidy{}, LeaseTurn{},
	}
}

// Lease is a lease as it is stored.
type Lease struct {
	Name           string
	Owner          *string
	Token          int64
	LeaseUntilUTC  *time.Time
	LastGrantedUTC *time.Time
	Held           bool
	Waiting        int // in line for it
}

// LeaseAcquire takes a lease if it is free and nobody waits in front. One row, or
// none. Asking again as the same holder finds the lease it already has.
type LeaseAcquire struct {
	engine.Rows[LeaseGrant]
	Name   string
	Owner  string
	Holder [16]byte // the acquisition's own id
	Lease  time.Duration
}

// LeaseGrant is what an acquisition got.
type LeaseGrant struct {
	Token         int64
	LeaseUntilUTC time.Time
}

// LeaseCall wakes the first in line if the lease is free. At most one row: who it is.
type LeaseCall struct {
	engine.Rows[LeaseWaiter]
	Name string
}

// LeaseWaiter is who waits for a lease.
type LeaseWaiter struct{ ID [16]byte }

// LeaseEnrol enters the line or stays in it, unless the lease is the waiter's by now.
type LeaseEnrol struct {
	engine.Changes
	Name   string
	Waiter [16]byte
	Alive  time.Duration // how long the place is kept
}

// LeaseForce takes a lease from whoever has it and raises the token. It changes one
// row if anyone had it.
type LeaseForce struct {
	engine.Changes
	Name string
	Note Note
}

// LeaseGet reads a lease. One row, or none.
type LeaseGet struct {
	engine.Rows[Lease]
	Name string
}

// LeaseGuard keeps a lease from changing hands until the transaction ends. It changes
// one row, or none: it is not the holder's.
type LeaseGuard struct {
	engine.Changes
	Name   string
	Holder [16]byte
	Token  int64
}

// LeaseLeave leaves the line.
type LeaseLeave struct {
	engine.Changes
	Name   string
	Waiter [16]byte
}

// LeaseList reads leases in order of their names.
type LeaseList struct {
	engine.Rows[Lease]
	After string  // only names behind this one
	State *string // only those that are held, expired or free; nil: any
	Most  int
}

// LeaseRelease gives a lease back if it is still the holder's.
type LeaseRelease struct {
	engine.Changes
	Name   string
	Holder [16]byte
}

// LeaseRenew lengthens a lease. One row, the new end, or none: it is not the holder's.
type LeaseRenew struct {
	engine.Rows[LeaseEnd]
	Name   string
	Holder [16]byte
	Lease  time.Duration
}

// LeaseEnd is when a lease ends.
type LeaseEnd struct{ LeaseUntilUTC time.Time }

// LeaseTidy drops from the line whoever was served or died.
type LeaseTidy struct {
	engine.Changes
	Name string
}

// LeaseTurn asks whether a waiter may go. One row. It locks nothing.
type LeaseTurn struct {
	engine.Rows[LeasePlace]
	Name   string
	Waiter [16]byte
}

// LeasePlace is a place in line.
type LeasePlace struct {
	InLine bool
	Ahead  int64
	Micros int64 // for which the lease is still held
}
