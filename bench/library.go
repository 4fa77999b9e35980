package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// opener opens pawl's door to the repetition's database. Every call opens
// another handle, as another process would.
type opener func(ctx context.Context, r *run) (engine.DB, func(), error)

// place is where pawl's door opens on an engine.
type place struct {
	engine string
	open   opener
}

func places() []place {
	return []place{{"postgres", openPostgres}, {"sqlite", openSQLite(false)}}
}

// withDB measures with a handle of its own, which it closes.
func withDB(open opener, measure func(context.Context, *run, engine.DB) error) measurement {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		return measure(ctx, r, db)
	}
}

// withOutbox is withDB with an outbox.
func withOutbox(open opener, measure func(context.Context, *run, engine.DB, *parts.Outbox) error) measurement {
	return withDB(open, func(ctx context.Context, r *run, db engine.DB) error {
		return measure(ctx, r, db, parts.NewOutbox(db, worker.Options{}))
	})
}

// withPawl is withDB with all of pawl.
func withPawl(open opener, measure func(context.Context, *run, engine.DB, *pawl.Pawl) error) measurement {
	return withDB(open, func(ctx context.Context, r *run, db engine.DB) error {
		p, err := newPawl(db, false)
		if err != nil {
			return err
		}
		return measure(ctx, r, db, p)
	})
}

// openPostgres is postgres.Open but for the schema and the application's name.
func openPostgres(ctx context.Context, r *run) (engine.DB, func(), error) {
	pool, err := r.server.pool(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	return openPostgresOn(ctx, pool)
}

// openPostgresOn closes the pool when it is done.
func openPostgresOn(ctx context.Context, pool *pgxpool.Pool) (engine.DB, func(), error) {
	db, err := postgres.New(pool, postgres.Options{Schema: schema})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	done := func() {
		_ = db.Close()
		pool.Close()
	}
	return db, done, db.Migrate(ctx)
}

func openSQLite(relaxed bool) opener {
	return func(ctx context.Context, r *run) (engine.DB, func(), error) {
		db, err := sqlite.Open(filepath.Join(r.dir, "bench.db"), sqlite.Options{Relaxed: relaxed})
		if err != nil {
			return nil, nil, err
		}
		return db, func() { _ = db.Close() }, db.Migrate(ctx)
	}
}

// produce enqueues n messages in batches by several producers.
func produce(ctx context.Context, o *parts.Outbox, n int) error {
	batch := messages(batchSize)
	return parallel(producers, n/batchSize, func(int) error {
		_, err := o.EnqueueBatch(ctx, batch)
		return err
	})
}

// parallel calls f total times from so many goroutines. i is the goroutine's.
func parallel(goroutines, total int, f func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, goroutines)
	for i := range goroutines {
		all.Go(func() {
			for errs[i] == nil && next.Add(1) <= int64(total) {
				errs[i] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// drain handles everything there is with handlers that do nothing.
func drain(ctx context.Context, db engine.DB, n int, opts worker.Options) error {
	return drainWith(ctx, db, n, opts, handle)
}

// drainWith is drain with the handlers that register registers.
func drainWith(ctx context.Context, db engine.DB, n int, opts worker.Options, register func(o pawl.Handlers, note func())) error {
	opts.StopWhenEmpty = true
	var handled atomic.Int64
	o := parts.NewOutbox(db, opts)
	register(o, func() { handled.Add(1) })
	if err := o.Run(ctx); err != nil {
		return err
	}
	return exactly(n, handled.Load(), o.Component().Stats().Acked)
}

// handle registers a handler for every topic.
func handle(o pawl.Handlers, note func()) {
	for _, t := range topics() {
		o.Handle(t, noting(note))
	}
}

// noting is a handler that notes each message.
func noting(note func()) outbox.Handler {
	return func(context.Context, *outbox.Message) error {
		note()
		return nil
	}
}

func exactly(n int, handled, acked int64) error {
	if handled != int64(n) || acked != int64(n) {
		return fmt.Errorf("%d messages: %d handled, %d acked", n, handled, acked)
	}
	return nil
}

// stall is how long nothing may happen before a repetition is given up.
const stall = 30 * time.Second

// acked returns when n messages are acked.
func acked(stats func() worker.Counts, n int) error {
	last, since := int64(0), time.Now()
	for {
		acked := stats().Acked
		if acked >= int64(n) {
			return nil
		}
		if acked != last {
			last, since = acked, time.Now()
		}
		if time.Since(since) > stall {
			return fmt.Errorf("stalled: of %d messages %d acked", n, acked)
		}
		time.Sleep(500 * time.Microsecond)
	}
}
