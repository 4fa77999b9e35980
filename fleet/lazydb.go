package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// lazyDB is a store's database as its components use it. It opens the database when it is
// first used, and again after the store left the fleet and came back, so that the components
// stay the same. It also notifies the fleet of work that the program adds itself, in case no
// worker listens.
type lazyDB struct {
	s  *Store
	mu sync.Mutex
	db engine.DB
	// closed: the store has left the fleet.
	closed bool
	place  string // where it was moved to
}

var _ engine.DB = (*lazyDB)(nil)

// open returns the database.
func (d *lazyDB) open() (engine.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.place != "" && d.db == nil {
		return nil, &engine.Error{Op: "open", Class: engine.NewMovedError(d.place), Err: fmt.Errorf("store %q: ask the fleet for it again", d.s.Key)}
	}
	if d.closed {
		return nil, fmt.Errorf("store %q left the fleet: %w", d.s.Key, engine.ErrClosed)
	}
	if d.db != nil {
		return d.db, nil
	}
	db, err := d.s.fleet.openAt(d.s.at, gateOf(d.s))
	if err != nil {
		return nil, err
	}
	d.db = db
	return db, nil
}

// Unwrap returns the database, which it opens, or nil if that is not possible.
func (d *lazyDB) Unwrap() engine.DB {
	db, err := d.open()
	if err != nil {
		return nil
	}
	return db
}

// opened returns the database if it is open.
func (d *lazyDB) opened() engine.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.db
}

// detach closes this for further use, and returns the database to be closed.
func (d *lazyDB) detach() engine.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	db := d.db
	d.db, d.closed = nil, true
	return db
}

// movedTo records where the store is now.
func (d *lazyDB) movedTo(place string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.place = place
}

func (d *lazyDB) reopen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = false
}

// Engine returns the engine's name.
func (d *lazyDB) Engine() string { return d.s.at.scheme() }

// Do calls the database's Do.
func (d *lazyDB) Do(ctx context.Context, calls ...*engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return d.s.checkMoved(db.Do(ctx, calls...))
}

// Read calls the database's Read.
func (d *lazyDB) Read(ctx context.Context, call *engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.Read(ctx, call)
}

// DoTx calls the database's DoTx. The time of the commit is unknown, so the store is polled
// soon.
func (d *lazyDB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	d.s.fleet.pollSoon(d.s)
	return d.s.checkMoved(db.DoTx(ctx, tx, call))
}

// Gate returns the gate of all stores, which share the process.
func (d *lazyDB) Gate() *worker.Gate { return &d.s.fleet.gate }

// AdoptTx calls the database's AdoptTx.
func (d *lazyDB) AdoptTx(given any) (engine.Tx, error) {
	db, err := d.open()
	if err != nil {
		return nil, err
	}
	a, ok := engine.As[engine.TxAdopter](db)
	if !ok {
		return nil, engine.NotInTransaction(given)
	}
	return a.AdoptTx(given)
}

// InTx calls the database's InTx.
func (d *lazyDB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	defer d.s.fleet.pollSoon(d.s)
	return d.s.checkMoved(db.InTx(ctx, fn))
}

// ReserveIDs calls the database's ReserveIDs.
func (d *lazyDB) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	db, err := d.open()
	if err != nil {
		return 0, err
	}
	return db.ReserveIDs(ctx, tx, n)
}

// ReserveInOrder calls the database's ReserveInOrder.
func (d *lazyDB) ReserveInOrder(ctx context.Context, tx engine.Tx, n int) ([]int64, error) {
	db, err := d.open()
	if err != nil {
		return nil, err
	}
	return db.ReserveInOrder(ctx, tx, n)
}

// Generation returns the database's generation, a new one each time it is opened; 0 while it
// cannot be opened.
func (d *lazyDB) Generation() int64 {
	db, err := d.open()
	if err != nil {
		return 0
	}
	return db.Generation()
}

// HistoryChanges calls the database's HistoryChanges.
func (d *lazyDB) HistoryChanges() int64 {
	if h, ok := engine.As[engine.HistoryCounter](d.opened()); ok {
		return h.HistoryChanges()
	}
	return 0
}

// Migrate calls the database's Migrate.
func (d *lazyDB) Migrate(ctx context.Context) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.Migrate(ctx)
}

// CheckSchema calls the database's CheckSchema.
func (d *lazyDB) CheckSchema(ctx context.Context) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.CheckSchema(ctx)
}

// Notify wakes the store's workers or, if there are none, the fleet.
func (d *lazyDB) Notify(queue string) {
	if db := d.opened(); db != nil {
		db.Notify(queue)
	}
	d.s.fleet.pollNow(d.s)
}

// Waiter returns the database's waiter.
func (d *lazyDB) Waiter(queue string) engine.Waiter {
	db, err := d.open()
	if err != nil {
		return noWaiter{}
	}
	return db.Waiter(queue)
}

// Close does nothing: the fleet closes the database.
func (d *lazyDB) Close() error { return nil }

// noWaiter is the waiter of a database that cannot be opened.
type noWaiter struct{}

func (noWaiter) Subscribe(context.Context) (bool, error) { return false, engine.ErrClosed }
func (noWaiter) Unsubscribe()                            {}
func (noWaiter) Close()                                  {}

func (noWaiter) Sleep(ctx context.Context, d time.Duration) bool {
	_ = engine.Sleep(ctx, d)
	return false
}
