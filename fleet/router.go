package fleet

import (
	"context"

	"github.com/bravellian/pawl"
)

// The router returns the components of a store by its key, the same instance every time
// (OBX-072, OBX-121). An unknown key makes it read the list again, though not more than once
// in a few seconds; then it is ErrUnknownStore. The key of a UUID is its text in lower case.

// Store returns the store of a key; see Pawl for errors.
func (f operator) Store(ctx context.Context, key string) (*Store, error) {
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

// Pawl returns the components of the store of a key. For a key that it does not know it waits
// for the discovery, and for a store that was moved until it knows where it is. Errors:
// ErrUnknownStore; pawl.ErrInvalid for a blank key or a database that cannot be opened as
// configured; that of a context that ends meanwhile.
func (f *Fleet) Pawl(ctx context.Context, key string) (*pawl.Pawl, error) {
	s, err := operator{f}.Store(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.Pawl, nil
}

// Stores returns the stores of the fleet, by key. They may not be open yet.
func (f *Fleet) Stores() []*Store { return f.registry.all() }
