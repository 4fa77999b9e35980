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
func (f *Fleet) deregister(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, deregisterLimit)
	defer cancel()
	var named []*Store
	for _, s := range f.registry.all() {
		if s.isListed() {
			named = append(named, s)
		}
	}
	stores := make(chan *Store, len(named))
	for _, s := range named {
		stores <- s
	}
	close(stores)
	var leaving sync.WaitGroup
	for range min(deregisterWorkers, len(named)) {
		leaving.Go(func() {
			for s := range stores {
				if ctx.Err() == nil {
					s.process.Leave(ctx)
				}
			}
		})
	}
	leaving.Wait()
}
