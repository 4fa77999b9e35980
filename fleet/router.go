package fleet

import (
	"context"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// The router returns the components of a store by its key, the same instance every time
// (OBX-072, OBX-121). An unknown key makes it read the list again, though not more than once
// in a few seconds; then it is ErrUnknownStore. For UUIDs see ID.

// Store returns the store of a key. Errors: ErrUnknownStore; engine.ErrInvalid for
// a blank key or a database that cannot be opened as configured.
func (f *Fleet) Store(ctx context.Context, key string) (*Store, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	s, err := f.registry.find(ctx, key)
	if err != nil {
		return nil, err
	}
	return s, s.open()
}

// routed returns a store without a context of the caller's: it waits at most for the
// discovery, with a limit.
func (f *Fleet) routed(key string) (*Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), discoverLimit)
	defer cancel()
	return f.Store(ctx, key)
}

// Outbox returns a store's outbox; see Store for errors.
func (f *Fleet) Outbox(key string) (*outbox.Outbox, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Outbox, nil
}

// Inbox returns a store's inbox.
func (f *Fleet) Inbox(key string) (*inbox.Inbox, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Inbox, nil
}

// Joins returns a store's joins.
func (f *Fleet) Joins(key string) (*join.Joins, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Joins, nil
}

// Leases returns a store's leases.
func (f *Fleet) Leases(key string) (*lease.Leases, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Leases, nil
}

// Timers returns a store's timers.
func (f *Fleet) Timers(key string) (*timer.Timers, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Timers, nil
}

// Jobs returns a store's jobs.
func (f *Fleet) Jobs(key string) (*job.Jobs, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Jobs, nil
}

// Stores returns the stores of the fleet, by key. They may not be open yet.
func (f *Fleet) Stores() []*Store { return f.registry.all() }
