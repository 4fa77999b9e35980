package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// MigrateAll brings the schemas of all stores up to date, eight at once. The one whose key is canary,
// "" means the first by key, is migrated first and alone: if it fails, no other is touched. The error
// has that of each store that failed; they can be tried again.
func (f *Fleet) MigrateAll(ctx context.Context, canary string) error {
	var failed []error
	err := operator{f}.MigrateEach(ctx, fleetstate.Migrate{Canary: canary, Each: func(m fleetstate.Migration) {
		if m.Err != nil {
			failed = append(failed, fmt.Errorf("store %q: %w", m.Key, m.Err))
		}
	}})
	return errors.Join(err, errors.Join(failed...))
}

// MigrateEach is MigrateAll with options. Its error is that of the list of databases, of the canary, or says how
// many stores failed, which were reported.
func (f operator) MigrateEach(ctx context.Context, o fleetstate.Migrate) error {
	if err := engine.CheckOption("Parallel", o.Parallel, 1, 0); err != nil {
		return err
	}
	stores, err := f.listed(ctx, o.Canary)
	if err != nil {
		return err
	}
	first := stores[0].migrate(ctx)
	o.Each(first)
	if first.Err != nil {
		return fmt.Errorf("%w: store %q: %w", fleetstate.ErrCanary, first.Key, first.Err)
	}
	return f.migrateRest(ctx, stores[1:], o)
}

// listed returns all stores, the canary first.
func (f *Fleet) listed(ctx context.Context, canary string) ([]*Store, error) {
	if err := f.Refresh(ctx); err != nil && f.registry.count() == 0 {
		return nil, err
	}
	stores := f.registry.all()
	if len(stores) == 0 {
		return nil, errEmpty
	}
	if canary == "" {
		return stores, nil
	}
	for i, s := range stores {
		if s.Key == canary {
			stores[0], stores[i] = stores[i], stores[0]
			return stores, nil
		}
	}
	return nil, fmt.Errorf("canary: %w: %q", ErrUnknownStore, canary)
}

func (f *Fleet) migrateRest(ctx context.Context, stores []*Store, o fleetstate.Migrate) error {
	var mu sync.Mutex
	var running sync.WaitGroup
	free := newBudget(cmp.Or(o.Parallel, 8))
	failed := 0
	for _, s := range stores {
		if err := free.acquire(ctx); err != nil {
			break
		}
		running.Go(func() {
			defer free.release()
			m := s.migrate(ctx)
			mu.Lock()
			defer mu.Unlock()
			if m.Err != nil {
				failed++
			}
			o.Each(m)
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d stores could not be migrated", failed, len(stores)+1)
	}
	return nil
}

func (s *Store) migrate(ctx context.Context) fleetstate.Migration {
	began := time.Now()
	err := s.db.Migrate(ctx) // not through the components: handlers may still be registered
	return fleetstate.Migration{Key: s.Key, Err: err, Took: time.Since(began)}
}
