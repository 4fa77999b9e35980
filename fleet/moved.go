package fleet

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// movingDelay is when a store is polled again that nobody can write to because it is being moved.
const movingDelay = time.Second

// moved follows a store that was moved, and reports whether it was. While it is being moved, and
// nobody can write to it, the error is an engine.MovedError.
func (s *Store) moved(ctx context.Context) (bool, error) {
	m, _, err := engine.Get(ctx, s.db, op.MoveRead{})
	if err != nil || m.Phase == nil {
		return false, err
	}
	switch *m.Phase {
	case op.Moved:
		s.fleet.follow(s, Database{Key: s.Key, URL: dsn.WithPassword(*m.Place, s.at.URL), Schema: *m.SchemaName, Prefix: *m.Prefix})
		return true, nil
	case op.Closed:
		return false, engine.NewMovedError(*m.Place)
	case op.Filling:
		return false, engine.NewMovedError("")
	}
	return false, nil
}

// isMoved reports whether the turn of a store is over because it was moved, or is being moved:
// while it has nothing to do its loops do not notice.
func (s *Store) isMoved(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	moved, err := s.moved(ctx)
	return moved || errors.Is(err, engine.ErrMoved)
}

// checkMoved is called for errors of the store's database: one that nobody can write to any more
// is read again before the store is given to anybody.
func (s *Store) checkMoved(err error) error {
	if errors.Is(err, engine.ErrMoved) {
		s.suspect.Store(true)
		s.fleet.pollNow(s)
	}
	return err
}

// unmoved returns the store of a key, or the one that it was moved to. If that cannot be read the
// next caller asks again, and whoever writes to the store learns why. Where ctx has ended that is
// the error: writes in another context would fail, and be repeated, for ever.
func (f *Fleet) unmoved(ctx context.Context, s *Store) (*Store, error) {
	if !s.suspect.Swap(false) {
		return s, nil
	}
	moved, err := s.moved(ctx)
	switch {
	case moved:
		return f.registry.find(ctx, s.Key)
	case err != nil:
		s.suspect.Store(true)
		return s, ctx.Err()
	}
	return s, nil
}

// follow replaces a store by the one that it was moved to. The list of databases may have the old
// address for as long as its owner likes.
func (f *Fleet) follow(s *Store, to Database) {
	if err := to.validate(f.opts.Engines); err != nil {
		s.log.Error("the store was moved to where this program cannot follow", "database", to.Where(access.Key{}), "error", err)
		return
	}
	moved := f.registry.follow(s, to)
	if moved == nil {
		return
	}
	s.log.Info("store was moved: going on in the new database", "database", to.Where(access.Key{}))
	f.leave(s)
	if f.registry.working() {
		f.addNew([]*Store{moved})
	}
}

// follow is Fleet.follow in the registry; nil if the store was replaced already.
func (r *registry) follow(s *Store, to Database) *Store {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.stores[s.Key]; m == nil || m.Store != s {
		return nil
	}
	if r.follows == nil {
		r.follows = map[Database]Database{}
	}
	r.follows[s.at] = to
	delete(r.follows, to) // it was moved back
	s.db.movedTo(to.Where(access.Key{}))
	moved := newStore(r.f, to, r.serverOfLocked(to))
	r.stores[s.Key] = &member{Store: moved}
	return moved
}

// resolve replaces the addresses of stores that were moved.
func (r *registry) resolve(listed map[string]Database) map[string]Database {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.follows) == 0 {
		return listed
	}
	listed = maps.Clone(listed)
	for key, d := range listed {
		for to, ok := r.follows[d]; ok; to, ok = r.follows[d] {
			d = to
		}
		listed[key] = d
	}
	return listed
}

// origin returns the address that a store was moved from.
func (r *registry) origin(at Database) (from Database, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for from, to := range r.follows {
		if to == at {
			return from, true
		}
	}
	return from, false
}

// working reports whether Run is working on the stores.
func (r *registry) working() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}
