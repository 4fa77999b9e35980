package fleet

import (
	"context"

	"github.com/bravellian/pawl"
)

// The router returns the components of a store by its key, the same instance every time
// (OBX-072, OBX-121). An unknown key makes it read the list again, though not more than once
// in a few seconds; then it is ErrUnknownStore. For UUIDs see ID.

// Store returns the store of a key. Errors: ErrUnknownStore; pawl.ErrInvalid for
// a blank key or a database that cannot be opened as configured.
func (f *Fleet) Store(ctx context.Context, key string) (*Store, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	s, err := f.registry.find(ctx, key)
	if err == nil {
		s, err = f.unmoved(ctx, s)
	}
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

// Pawl returns the components of the store of a key; see Store for errors. It waits at
// most for the discovery, and not for long.
func (f *Fleet) Pawl(key string) (*pawl.Pawl, error) {
	s, err := f.routed(key)
	if err != nil {
		return nil, err
	}
	return s.Pawl, nil
}

// Stores returns the stores of the fleet, by key. They may not be open yet.
func (f *Fleet) Stores() []*Store { return f.registry.all() }
