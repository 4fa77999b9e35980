package fleet

import (
	"context"
	"time"
)

const (
	// deregisterLimit bounds how long a stopping fleet removes itself from lists of workers.
	deregisterLimit = 3 * time.Second
	// deregisterWorkers is how many stores it does this for at once.
	deregisterWorkers = 16
)

// deregister removes this process from the stores' lists of workers. Stores that fail, or for
// which there is no time, are left out: there the entry expires.
func (f *Fleet) deregister(ctx context.Context) { f.deregisterFrom(ctx, f.registry.all()) }

// deregisterFrom removes this process from the lists of workers of some stores.
func (f *Fleet) deregisterFrom(ctx context.Context, stores []*Store) {
	ctx, cancel := context.WithTimeout(ctx, deregisterLimit)
	defer cancel()
	var named []*Store
	for _, s := range stores {
		if s.takeListed() {
			named = append(named, s)
		}
	}
	parallel(deregisterWorkers, named, func(_ int, s *Store) {
		if ctx.Err() == nil {
			s.fleet.work.leave(ctx, s)
		}
	})
}
