package fleet

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// work is what timetable and turns have done in the databases of stores. It is the seam at
// which tests put a million stores without databases below the schedule of a fleet.
type work interface {
	// poll returns when something is due, and whether others work on a store.
	poll(ctx context.Context, s *Store) (pollResult, error)
	// slice works on a store until its time slice is over.
	slice(ctx context.Context, s *Store, t worker.TimeSlice) error
	// stats returns what slices of a store did so far.
	stats(s *Store) worker.Counts
	// cleanUp deletes what is past its retention.
	cleanUp(ctx context.Context, s *Store) error
	// closeIdle closes the connections that a store does not need now.
	closeIdle(s *Store)
	// moved reports whether nobody can write to a store's database any more because the store
	// was moved, or is being moved.
	moved(ctx context.Context, s *Store) bool
	// leave removes this process from a store's list of workers.
	leave(ctx context.Context, s *Store)
}

// pollResult is what a poll found.
type pollResult struct {
	due  time.Duration // until something is due
	ok   bool          // something will be due
	busy bool          // another process works on the store
	idle time.Duration // how long ago it last did something
}

// databaseWork is work in databases, by the components of a store. All but poll and
// closeIdle are for stores that were polled before, which opens them.
type databaseWork struct{}

func (databaseWork) poll(ctx context.Context, s *Store) (pollResult, error) {
	return s.poll(ctx)
}

func (databaseWork) slice(ctx context.Context, s *Store, t worker.TimeSlice) error {
	return s.process.Slice(ctx, t)
}

func (databaseWork) stats(s *Store) worker.Counts { return s.process.Stats() }

func (databaseWork) cleanUp(ctx context.Context, s *Store) error { return s.process.CleanUp(ctx) }

func (databaseWork) closeIdle(s *Store) {
	if db, ok := engine.As[engine.IdleCloser](s.db.opened()); ok {
		db.CloseIdle()
	}
}

func (databaseWork) moved(ctx context.Context, s *Store) bool { return s.isMoved(ctx) }

func (databaseWork) leave(ctx context.Context, s *Store) { s.process.Leave(ctx) }
