package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Migration is the result of a store's migration.
type Migration struct {
	Key  string
	Err  error // nil: the schema is up to date
	Took time.Duration
}

// String returns the store and what became of it in one line.
func (m Migration) String() string {
	took := m.Took.Round(time.Millisecond)
	if m.Err != nil {
		return fmt.Sprintf("store %s: not migrated, after %v: %v", m.Key, took, m.Err)
	}
	return fmt.Sprintf("store %s: up to date, after %v", m.Key, took)
}

// ErrCanary says that the first store could not be migrated, and so no other was
// touched.
var ErrCanary = errors.New("the canary could not be migrated, the other stores were left alone")

// MigrateOptions adjust a migration of all stores. The zero value is right for
// most fleets.
type MigrateOptions struct {
	// Parallel is how many stores are migrated at once, default 8.
	Parallel int
	// Canary is the key of the store to be migrated first and alone; "": the first
	// by key. If it fails, no other is touched.
	Canary string
	// Each is called for every store when it is done, one at a time; may be nil.
	Each func(Migration)
}

// MigrateAll brings the schemas of all stores up to date and reports on each, by key. The
// error is that of the list of databases, ErrCanary, or the number of stores that failed,
// which are in the report. Stores that failed can be tried again.
func (f *Fleet) MigrateAll(ctx context.Context, o MigrateOptions) ([]Migration, error) {
	if err := engine.CheckOption("Parallel", o.Parallel, 1, 0); err != nil {
		return nil, err
	}
	if o.Parallel == 0 {
		o.Parallel = 8
	}
	if o.Each == nil {
		o.Each = func(Migration) {}
	}
	stores, err := f.listed(ctx, o.Canary)
	if err != nil {
		return nil, err
	}
	report := make([]Migration, 0, len(stores))
	first := stores[0].migrate(ctx)
	o.Each(first)
	report = append(report, first)
	if first.Err != nil {
		return report, fmt.Errorf("%w: store %q: %w", ErrCanary, first.Key, first.Err)
	}
	return f.migrateRest(ctx, stores[1:], o, report)
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

func (f *Fleet) migrateRest(ctx context.Context, stores []*Store, o MigrateOptions, report []Migration) ([]Migration, error) {
	var mu sync.Mutex
	var running sync.WaitGroup
	free := newBudget(o.Parallel)
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
			report = append(report, m)
			o.Each(m)
		})
	}
	running.Wait()
	slices.SortFunc(report, func(a, b Migration) int { return cmp.Compare(a.Key, b.Key) })
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if failed > 0 {
		return report, fmt.Errorf("%d of %d stores could not be migrated", failed, len(report))
	}
	return report, nil
}

func (s *Store) migrate(ctx context.Context) Migration {
	began := time.Now()
	err := s.db.Migrate(ctx) // not through the components: handlers may still be registered
	return Migration{Key: s.Key, Err: err, Took: time.Since(began)}
}
