package lease

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrHeld is returned when another owner holds the lease. errors.As with *HeldError
	// returns the owner.
	ErrHeld = errors.New("lease is held")
	// ErrLost is returned when a lease expired or was released by force. It is the cause of
	// the end of [Lease.Context].
	ErrLost = errors.New("lease lost")
	// ErrClosed is returned after [Lease.Close].
	ErrClosed = errors.New("lease closed")
	// ErrNotFound is returned when no lease of that name was ever acquired.
	ErrNotFound = errors.New("lease not found")
)

// HeldError says who has a lease, as the database saw it.
type HeldError struct {
	Name  string
	Owner string    // who holds it; "" if it is free but others wait for it
	Until time.Time // when it ends unless it is renewed; zero if it is free
	// Waiting is how many waited for it. While someone waits, [Leases.Acquire] does not get
	// the lease even if it is free.
	Waiting int
}

// Error names the owner of the lease.
func (e *HeldError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("%v: %q: others wait for it: %d", ErrHeld, e.Name, e.Waiting)
	}
	return fmt.Sprintf("%v: %q: by %s until %s", ErrHeld, e.Name, e.Owner, e.Until.UTC().Format(time.RFC3339Nano))
}

// Unwrap returns ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// lost returns an ErrLost with the name and the reason.
func lost(name, reason string) error { return fmt.Errorf("%w: %q: %s", ErrLost, name, reason) }
