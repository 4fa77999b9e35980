package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenario X: stores that fail, hang or are slow, between healthy ones.

const (
	healthyStores = 8
	sickStores    = 3
	// manyStores is more than the fleet keeps warm.
	manyStores = 40
)

func sickFleets(n int) []scenario {
	var all []scenario
	for _, size := range []int{healthyStores, manyStores} {
		all = append(all, scenario{"X", "sqlite", fmt.Sprintf("%d files with a backlog to drain, between them one that fails, one that hangs, one that is slow", size), []string{colDrain}, []system{
			{"beside the sick ones", n * healthyStores, sickFleet(size, true)},
			{"the healthy ones alone", n * healthyStores, sickFleet(size, false)},
		}})
	}
	return all
}

// sickFleet measures how long a fleet takes for a backlog in the healthy stores.
func sickFleet(size int, sick bool) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		e := &ensemble{dir: r.dir}
		if err := e.makeFiles(ctx, size+sickStores); err != nil {
			return err
		}
		per := r.n / size / batchSize * batchSize
		spots := map[int]string{1: fails, size / 2: hangs, size: slow}
		w := &ward{kinds: map[string]string{}, cured: make(chan struct{})}
		healthy := 0
		var dbs []fleet.Database
		for i, d := range e.files {
			if kind := spots[i]; kind != "" {
				if !sick {
					continue
				}
				if err := fillStore(ctx, d, 100*batchSize); err != nil {
					return err
				}
				w.kinds[d.URL] = kind
			} else {
				if err := fillStore(ctx, d, per); err != nil {
					return err
				}
				healthy++
			}
			dbs = append(dbs, d)
		}
		return drainFleet(ctx, r, dbs, w, per*healthy)
	}
}

func fillStore(ctx context.Context, d fleet.Database, n int) error {
	db, err := handleOf(d)
	if err != nil {
		return err
	}
	defer db.Close()
	return produce(ctx, parts.NewOutbox(db, worker.Options{}), n)
}

func drainFleet(ctx context.Context, r *run, dbs []fleet.Database, w *ward, n int) error {
	opens := engines()
	opens["sqlite"] = w.open
	done := make(chan struct{})
	var handled atomic.Int64
	end := func() error { return nil }
	took, err := r.measured(ctx, n, func() (err error) {
		_, end, err = runFleet(ctx, dbs, opens, func(f *fleet.Fleet) {
			for _, t := range topics() {
				f.Handle(t, func(ctx context.Context, _ *outbox.Message) error {
					s := fleet.StoreOf(ctx)
					if w.kinds[s.Database().URL] != "" {
						return engine.Sleep(ctx, slowness)
					}
					if handled.Add(1) == int64(n) {
						close(done)
					}
					return nil
				})
			}
		})
		if err != nil {
			return err
		}
		select {
		case <-done:
		case <-time.After(4 * stall):
			return fmt.Errorf("stalled: %d of %d handled", handled.Load(), n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.rate(colDrain, n, took)
	close(w.cured)
	return end()
}

// The kinds of sickness.
const (
	fails = "fails"
	hangs = "hangs"
	slow  = "slow"
)

const (
	// lag is how late a slow database answers.
	lag = 50 * time.Millisecond
	// slowness is how long a sick store's handlers take.
	slowness = time.Second
	// hangsAfter is after how many calls the one that hangs begins to: it has
	// claimed messages then.
	hangsAfter = 20
)

var errSick = errors.New("sick")

// ward knows which stores are sick.
type ward struct {
	kinds map[string]string // by URL
	cured chan struct{}     // what hangs does so no more
}

func (w *ward) open(o engine.OpenOptions) (engine.DB, error) {
	db, err := sqlite.OpenURL(o)
	if kind := w.kinds[o.URL]; kind != "" {
		db = &sickDB{DB: db, kind: kind, cured: w.cured}
	}
	return db, err
}

// sickDB is a file whose database does not do what it should.
type sickDB struct {
	engine.DB
	kind  string
	calls atomic.Int64
	cured chan struct{}
}

func (d *sickDB) suffer(ctx context.Context) error {
	switch d.kind {
	case fails:
		return errSick
	case hangs:
		if d.calls.Add(1) > hangsAfter {
			select {
			case <-ctx.Done():
			case <-d.cured:
			}
		}
	case slow:
		_ = engine.Sleep(ctx, lag)
	}
	return ctx.Err()
}

func (d *sickDB) Do(ctx context.Context, calls ...*engine.Call) error {
	if err := d.suffer(ctx); err != nil {
		return err
	}
	return d.DB.Do(ctx, calls...)
}

func (d *sickDB) Read(ctx context.Context, call *engine.Call) error {
	if err := d.suffer(ctx); err != nil {
		return err
	}
	return d.DB.Read(ctx, call)
}

func (d *sickDB) InTx(ctx context.Context, fn func(context.Context, engine.Tx) error) error {
	if err := d.suffer(ctx); err != nil {
		return err
	}
	return d.DB.InTx(ctx, fn)
}

func (d *sickDB) CheckSchema(ctx context.Context) error {
	if err := d.suffer(ctx); err != nil {
		return err
	}
	return d.DB.CheckSchema(ctx)
}
