package fleet

import (
	"context"
	"sync"
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
	queue := make(chan *Store, len(named))
	for _, s := range named {
		queue <- s
	}
	close(queue)
	var leaving sync.WaitGroup
	for range min(deregisterWorkers, len(named)) {
		leaving.Go(func() {
			for s := range queue {
				if ctx.Err() == nil {
					s.fleet.work.leave(ctx, s)
				}
			}
		})
	}
	leaving.Wait()
}
