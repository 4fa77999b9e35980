package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

const (
	// discoverLimit is how long a discovery may take.
	discoverLimit = 30 * time.Second
	// rediscoverAfter is the shortest time between reads of the list for unknown keys (D-92).
	rediscoverAfter = 5 * time.Second
	// missingLimit is after how many successful listings in a row without it a store leaves
	// (D-92).
	missingLimit = 2
)

var errEmpty = errors.New("the discovery lists no database")

// registry has the stores of a fleet.
type registry struct {
	f *Fleet

	reading budget    // of one: taken while the list is read
	tried   time.Time // when that was last done

	mu       sync.Mutex
	stores   map[string]*member
	former   map[string]*Store     // left the fleet, kept in case they return
	follows  map[Database]Database // where stores are that were moved
	servers  map[string]*server    // by hosts
	running  bool                  // Run is working on them
	readOnce bool                  // the list was read once
	read     chan struct{}         // closed then
	lastErr  error                 // of the last try
}

// member is a store that belongs to the fleet.
type member struct {
	*Store
	missing int
}

func (r *registry) init(f *Fleet) {
	r.f, r.stores, r.former, r.servers, r.reading, r.read = f, map[string]*member{}, map[string]*Store{}, map[string]*server{}, newBudget(1), make(chan struct{})
}

// all returns the stores by key.
func (r *registry) all() []*Store {
	stores := r.unsorted()
	slices.SortFunc(stores, func(a, b *Store) int { return cmp.Compare(a.Key, b.Key) })
	return stores
}

func (r *registry) unsorted() []*Store {
	r.mu.Lock()
	defer r.mu.Unlock()
	stores := make([]*Store, 0, len(r.stores))
	for _, m := range r.stores {
		stores = append(stores, m.Store)
	}
	return stores
}

// detach detaches the database of a store that is not in the fleet.
func (r *registry) detach(s *Store) engine.DB {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.stores[s.Key]; m != nil && m.Store == s {
		return nil
	}
	return s.db.detach()
}

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.stores)
}

func (r *registry) get(key string) *Store {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.stores[key]; m != nil {
		return m.Store
	}
	return nil
}

// find returns a store. An unknown key makes it read the list again, unless that was done a
// moment ago: once for all concurrent callers.
func (r *registry) find(ctx context.Context, key string) (*Store, error) {
	if s := r.get(key); s != nil {
		return s, nil
	}
	if err := r.reading.acquire(ctx); err != nil {
		return nil, fmt.Errorf("%w: %q (waiting for the list of databases: %w)", ErrUnknownStore, key, err)
	}
	defer r.reading.release()
	if s := r.get(key); s != nil {
		return s, nil
	}
	if r.tried.IsZero() || time.Since(r.tried) >= rediscoverAfter {
		_ = r.refreshLocked(ctx)
	}
	if s := r.get(key); s != nil {
		return s, nil
	}
	if _, err := r.state(); err != nil {
		return nil, fmt.Errorf("%w: %q (the list of databases cannot be read: %w)", ErrUnknownStore, key, err)
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownStore, key)
}

// Refresh reads the list of databases now. Run does so by itself. If the discovery fails or
// lists nothing, nothing changes and the error is returned.
func (f *Fleet) Refresh(ctx context.Context) error {
	if err := f.registry.reading.acquire(ctx); err != nil {
		return err
	}
	defer f.registry.reading.release()
	return f.registry.refreshLocked(ctx)
}

// state returns whether the list was ever read, and the last error.
func (r *registry) state() (read bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readOnce, r.lastErr
}

// refreshLocked reads the list and applies it.
func (r *registry) refreshLocked(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, discoverLimit)
	defer cancel()
	dbs, err := r.f.discovery.Discover(limited)
	var listed map[string]Database
	if err == nil {
		listed, err = r.distinct(dbs)
	}
	if err != nil && ctx.Err() != nil {
		return err // the caller's context ended: the list may be fine
	}
	r.tried = time.Now()
	if err == nil {
		r.apply(r.resolve(listed))
	} else {
		r.f.log.Warn("could not read the list of databases, going on with those known", "error", engine.Line(err.Error()), "count", r.count())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !r.readOnce {
		r.readOnce = true
		close(r.read)
	}
	r.lastErr = err
	return err
}

// distinct removes invalid databases. A key that is listed with two different databases, or
// with none that can be opened, keeps its current store; a new one is no store. An empty
// result counts as an empty list.
func (r *registry) distinct(dbs []Database) (map[string]Database, error) {
	listed, torn := map[string]Database{}, map[string]bool{}
	for _, d := range dbs {
		if err := d.Refused(access.Key{}); err != nil { // counts as not listed: it may be a link in a store's place
			r.f.log.Error("ignoring a database of the list", "store", d.Key, "error", err)
			continue
		}
		if err := d.validate(r.f.opts.Engines); err != nil {
			r.f.log.Error("ignoring a database of the list", "store", d.Key, "error", err)
			if s := r.get(d.Key); s != nil { // it is not missing
				if _, twice := listed[d.Key]; !twice {
					listed[d.Key] = s.at
				}
			}
			continue
		}
		if first, twice := listed[d.Key]; twice && first != d {
			torn[d.Key] = true
			continue
		}
		listed[d.Key] = d
	}
	for key := range torn {
		r.f.log.Error("the list names two different databases by one key", "store", key)
		delete(listed, key)
		if s := r.get(key); s != nil {
			listed[key] = s.at
		}
	}
	if len(listed) == 0 {
		return nil, errEmpty
	}
	return listed, nil
}

// apply adds new stores, replaces those whose address changed, and removes those that have
// been missing for long enough.
func (r *registry) apply(listed map[string]Database) {
	r.mu.Lock()
	var come, leave []*Store
	for key, m := range r.stores {
		d, there := listed[key]
		switch {
		case there && d == m.at:
			m.missing = 0
		case there:
			leave = append(leave, m.Store)
			delete(r.stores, key)
		default:
			if m.missing++; m.missing >= missingLimit {
				leave = append(leave, m.Store)
				r.former[key] = m.Store
				delete(r.stores, key)
			}
		}
	}
	for key, d := range listed {
		if r.stores[key] == nil {
			s := r.addLocked(key, d)
			r.stores[key] = &member{Store: s}
			come = append(come, s)
		}
	}
	working := r.running
	r.mu.Unlock()
	parallel(closeWorkers, leave, func(_ int, s *Store) {
		s.log.Info("store leaves the fleet")
		r.f.leave(s)
	})
	for _, s := range come {
		s.log.Info("store joins the fleet", "database", s.at.Where(access.Key{}))
	}
	if working {
		r.f.addNew(come)
	}
}

// firstPollCost is what the first poll of a store costs, opening it included. A thousand at
// once reduced the throughput of a busy store to 6 %.
const firstPollCost = 3 * time.Millisecond

// addNew schedules the first polls of those stores that this process works on, one after the
// other.
func (f *Fleet) addNew(stores []*Store) {
	f.share.mu.Lock()
	defer f.share.mu.Unlock()
	f.gainLocked(slices.DeleteFunc(slices.Clone(stores), func(s *Store) bool { return !f.share.ownsLocked(s.Key) }))
}

// addLocked returns a new store, or the former one if its address is the same (D-92).
func (r *registry) addLocked(key string, d Database) *Store {
	s := r.former[key]
	delete(r.former, key)
	if s == nil || s.at != d {
		return newStore(r.f, d, r.serverOfLocked(d))
	}
	s.db.reopen()
	return s
}

// refreshUntil reads the list now and repeatedly until ctx ends, more often as long as it was
// never read.
func (r *registry) refreshUntil(ctx context.Context) {
	r.mu.Lock()
	r.running = true
	r.mu.Unlock()
	r.f.addNew(r.all())
	for failures := 0; ctx.Err() == nil; {
		err := r.f.Refresh(ctx)
		pause := r.f.opts.Refresh
		if err != nil {
			pause = min(pause, time.Second<<min(failures, 6))
			failures++
		} else {
			failures = 0
		}
		_ = engine.Sleep(ctx, engine.Jitter(pause, 0.1))
	}
}
