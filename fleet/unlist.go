package fleet

import (
	"context"
	"sync"
	"time"
)

const (
	// unlistLimit bounds how long a fleet that stops goes round to say so.
	unlistLimit = 3 * time.Second
	// unlisters is how many stores are told at once.
	unlisters = 16
)

// unlist takes this process off the stores' lists of workers. Stores that fail are
// left alone, and so are those for which there is no time: there the entry expires.
func (f *Fleet) unlist(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, unlistLimit)
	defer cancel()
	var named []*Store
	for _, s := range f.registry.all() {
		if s.named() {
			named = append(named, s)
		}
	}
	stores := make(chan *Store, len(named))
	for _, s := range named {
		stores <- s
	}
	close(stores)
	var leaving sync.WaitGroup
	for range min(unlisters, len(named)) {
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
