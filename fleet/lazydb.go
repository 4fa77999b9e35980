package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// door is a store's database as its components see it. It opens the database when
// it is first used, and again after the store left the fleet and came back, so
// that the components stay the same. And it tells the fleet of work that the
// program makes itself: nobody may be listening.
type lazyDB struct {
	s  *Store
	mu sync.Mutex
	db engine.DB
	// shut: the store has left.
	shut bool
}

var _ engine.DB = (*lazyDB)(nil)

// open returns the database.
func (d *lazyDB) open() (engine.DB, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return nil, fmt.Errorf("store %q left the fleet: %w", d.s.Key, engine.ErrClosed)
	}
	if d.db != nil {
		return d.db, nil
	}
	f, at := d.s.fleet, d.s.at
	db, err := f.opts.Engines[at.scheme()](engine.OpenOptions{
		URL: at.URL, Schema: at.Schema, Prefix: at.Prefix, Connections: f.opts.ConnectionsPerStore, Gate: f.conns, Logger: d.s.log,
	})
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", d.s.Key, err)
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

// take has the database opened no more, and returns it to be closed.
func (d *lazyDB) take() engine.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	db := d.db
	d.db, d.shut = nil, true
	return db
}

func (d *lazyDB) reopen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = false
}

// Engine names the engine.
func (d *lazyDB) Engine() string { return d.s.at.scheme() }

// Do is the database's.
func (d *lazyDB) Do(ctx context.Context, calls ...*engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.Do(ctx, calls...)
}

// Read is the database's.
func (d *lazyDB) Read(ctx context.Context, call *engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.Read(ctx, call)
}

// DoTx is the database's. When the transaction commits is the caller's business:
// it is looked for soon.
func (d *lazyDB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	d.s.fleet.soon(d.s)
	return db.DoTx(ctx, tx, call)
}

// Gate is one for all stores, which share the process.
func (d *lazyDB) Gate() *worker.Gate { return &d.s.fleet.gate }

// AdoptTx is the database's.
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

// InTx is the database's.
func (d *lazyDB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	defer d.s.fleet.soon(d.s)
	return db.InTx(ctx, fn)
}

// ReserveIDs is the database's.
func (d *lazyDB) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (int64, error) {
	db, err := d.open()
	if err != nil {
		return 0, err
	}
	return db.ReserveIDs(ctx, tx, n)
}

// Generation is the database's, and another one each time it is opened; 0 while it
// cannot be.
func (d *lazyDB) Generation() int64 {
	db, err := d.open()
	if err != nil {
		return 0
	}
	return db.Generation()
}

// HistoryChanges is the database's.
func (d *lazyDB) HistoryChanges() int64 {
	if h, ok := engine.As[engine.HistoryCounter](d.opened()); ok {
		return h.HistoryChanges()
	}
	return 0
}

// Migrate is the database's.
func (d *lazyDB) Migrate(ctx context.Context) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.Migrate(ctx)
}

// CheckSchema is the database's.
func (d *lazyDB) CheckSchema(ctx context.Context) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	return db.CheckSchema(ctx)
}

// Ring wakes the store's workers and, should there be none, the fleet.
func (d *lazyDB) Notify(queue string) {
	if db := d.opened(); db != nil {
		db.Notify(queue)
	}
	d.s.fleet.now(d.s)
}

// Waiter is the database's.
func (d *lazyDB) Waiter(queue string) engine.Waiter {
	db, err := d.open()
	if err != nil {
		return noWaiter{}
	}
	return db.Waiter(queue)
}

// Close leaves the database to the fleet.
func (d *lazyDB) Close() error { return nil }

// deaf is the sleeper of a database that is not there.
type noWaiter struct{}

func (noWaiter) Subscribe(context.Context) (bool, error) { return false, engine.ErrClosed }
func (noWaiter) Unsubscribe()                            {}
func (noWaiter) Close()                                  {}

func (noWaiter) Sleep(ctx context.Context, d time.Duration) bool {
	_ = engine.Sleep(ctx, d)
	return false
}
