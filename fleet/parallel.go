package fleet

import (
	"sync"
	"sync/atomic"
)

// closeWorkers is how many databases are closed at once: one whose server does not answer takes
// seconds, and thousands may leave together.
const closeWorkers = 16

// parallel calls f for each store with its index, for at most so many at once, and returns when all
// are done.
func parallel(workers int, stores []*Store, f func(i int, s *Store)) {
	var taken atomic.Int64
	var running sync.WaitGroup
	for range min(workers, len(stores)) {
		running.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(stores); i = int(taken.Add(1)) - 1 {
				f(i, stores[i])
			}
		})
	}
	running.Wait()
}
