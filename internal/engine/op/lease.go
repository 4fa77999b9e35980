package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Lease is a lease as it is stored.
type Lease struct {
	Name           string
	Owner          *string
	Token          int64
	LeaseUntilUTC  *time.Time
	LastGrantedUTC *time.Time
	Held           bool
	Waiting        int // how many wait for it
}

// LeaseAcquire takes a lease if it is free and nobody waits before the caller. One row, or
// none. A repeated call by the same holder returns the lease it already has.
type LeaseAcquire struct {
	engine.Rows[LeaseGrant]
	Name   string
	Owner  string   `text:"any"`
	Holder [16]byte // the acquisition's own id
	Lease  time.Duration
}

// LeaseGrant is a lease that was acquired.
type LeaseGrant struct {
	Token         int64
	LeaseUntilUTC time.Time
}

// LeaseWake notifies the first waiter if the lease is free. At most one row: the waiter.
type LeaseWake struct {
	engine.Rows[LeaseWaiter]
	Name string
}

// LeaseWaiter is a waiter for a lease.
type LeaseWaiter struct{ ID [16]byte }

// LeaseJoin adds a waiter to the line or extends its place, unless it holds the lease.
type LeaseJoin struct {
	engine.Changes `call:"lease_enrol"`
	Name           string
	Waiter         [16]byte
	Alive          time.Duration // how long the place is kept
}

// LeaseForce ends a lease, whoever holds it, and raises the token. It changes one row if it
// was held.
type LeaseForce struct {
	engine.Changes `call:"act_release"`
	Name           string
	Note           Note
}

// LeaseGet reads a lease. One row, or none.
type LeaseGet struct {
	engine.Rows[Lease]
	Name string
}

// LeaseGuard locks a lease until the transaction ends. It changes one row, or none: the
// caller does not hold it.
type LeaseGuard struct {
	engine.Changes `call:"lease_guard_row"`
	Name           string
	Holder         [16]byte
	Token          int64
}

// LeaseLeave removes a waiter from the line.
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

// LeaseRelease releases a lease if the holder still has it.
type LeaseRelease struct {
	engine.Changes `call:"lease_give"`
	Name           string
	Holder         [16]byte
}

// LeaseRenew extends a lease. One row, the new end, or none: the caller does not hold it.
type LeaseRenew struct {
	engine.Rows[LeaseEnd]
	Name   string
	Holder [16]byte
	Lease  time.Duration
}

// LeaseEnd is when a lease ends.
type LeaseEnd struct{ LeaseUntilUTC time.Time }

// LeasePrune deletes waiters that hold the lease now or whose places expired.
type LeasePrune struct {
	engine.Changes `call:"lease_tidy"`
	Name           string
}

// LeaseTurn reads whether it is a waiter's turn. One row. It locks nothing.
type LeaseTurn struct {
	engine.Rows[LeasePlace]
	Name   string
	Waiter [16]byte
}

// LeasePlace is a place in line.
type LeasePlace struct {
	InLine bool
	Ahead  int64
	Micros int64 // how long the lease is still held
}
