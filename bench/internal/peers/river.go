package peers

import (
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

const riverModule = "github.com/riverqueue/river"

// riverSettings are what a program chooses; 0 is River's default.
type riverSettings struct {
	workers        int
	cooldown, poll time.Duration
	fast           bool                             // InsertManyFast instead of InsertMany
	opts           func(id int64) *river.InsertOpts // nil: none
	steps          int                              // resumable ones in each job
}

var (
	riverDefaults = riverSettings{workers: 100}
	riverTuned    = riverSettings{workers: 1000, cooldown: 2 * time.Millisecond, poll: pollEvery, fast: true}
)

const riverTunedText = "MaxWorkers 1000, FetchCooldown 2 ms, FetchPollInterval 20 ms, InsertManyFast"

// RiverUnique is River tuned whose jobs are unique by their arguments.
func RiverUnique(engine string) Peer {
	s := riverTuned
	s.fast = false // it fails where a job is there already
	s.opts = func(int64) *river.InsertOpts { return &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}} }
	return riverPeer(engine, s)
}

// RiverPriorities is River tuned whose jobs have one of its four priorities each.
func RiverPriorities(engine string) Peer {
	s := riverTuned
	s.opts = func(id int64) *river.InsertOpts { return &river.InsertOpts{Priority: 1 + int(id%4)} }
	return riverPeer(engine, s)
}

// Flows are the peers whose messages have steps.
func Flows(engine string, steps int) []Peer {
	s := riverTuned
	s.steps = steps
	river := riverPeer(engine, s)
	river.Settings = "resumable steps, stored when a job fails; " + river.Settings
	of, divisor := openDBOSPostgres(pollEvery, steps), 120
	if engine == "sqlite" {
		of, divisor = openDBOSSQLite(pollEvery, steps), 240
	}
	return []Peer{river, {"DBOS tuned", dbosModule, "a workflow with steps per message; polling interval 20 ms", divisor, of}}
}

// RiverTuned is River as the scenarios that peers take part in have it.
func RiverTuned(engine string) Peer { return riverPeer(engine, riverTuned) }

func riverPeer(engine string, s riverSettings) Peer {
	if engine == "sqlite" {
		return Peer{"River tuned", riverModule, riverTunedText, 30, openRiverSQLite(s)}
	}
	return Peer{"River tuned", riverModule, riverTunedText, 6, openRiverPostgres(s)}
}

// riverTask is a job's arguments.
type riverTask task

// Kind implements river.JobArgs.
func (riverTask) Kind() string { return "bench" }

// riverQueue is River with a driver whose transactions are of type T. Inserts go through
// the client that works, if one does: on SQLite it knows of new jobs only so.
type riverQueue[T any] struct {
	settings riverSettings
	driver   riverdriver.Driver[T]
	inserter *river.Client[T]
	current  atomic.Pointer[river.Client[T]]
	transact func(ctx context.Context, f func(tx T) error) error
	settled  func(context.Context) (bool, error)
	close    func()
}

const riverSettled = `SELECT NOT EXISTS (SELECT 1 FROM river_job WHERE state <> 'completed')`

func openRiverPostgres(s riverSettings) func(context.Context, Place) (Queue, error) {
	return func(ctx context.Context, p Place) (Queue, error) {
		pool, err := p.pool(ctx)
		if err != nil {
			return nil, err
		}
		q := &riverQueue[pgx.Tx]{settings: s, driver: riverpgxv5.New(pool), close: pool.Close}
		q.transact = func(ctx context.Context, f func(tx pgx.Tx) error) error { return pgx.BeginFunc(ctx, pool, f) }
		q.settled = func(ctx context.Context) (settled bool, err error) {
			err = pool.QueryRow(ctx, riverSettled).Scan(&settled)
			return settled, err
		}
		return q, q.migrate(ctx)
	}
}

func openRiverSQLite(s riverSettings) func(context.Context, Place) (Queue, error) {
	return func(ctx context.Context, p Place) (Queue, error) {
		db, err := p.database()
		if err != nil {
			return nil, err
		}
		q := &riverQueue[*sql.Tx]{settings: s, driver: riversqlite.New(db), settled: asks(db, riverSettled)}
		q.close = func() { _ = db.Close() }
		q.transact = func(ctx context.Context, f func(tx *sql.Tx) error) error { return InTx(ctx, db, f) }
		return q, q.migrate(ctx)
	}
}

// quiet drops what peers log.
var quiet = slog.New(slog.DiscardHandler)

func (q *riverQueue[T]) migrate(ctx context.Context) error {
	m, err := rivermigrate.New(q.driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	q.inserter, err = river.NewClient(q.driver, &river.Config{Logger: quiet})
	q.current.Store(q.inserter)
	return err
}

func (q *riverQueue[T]) Enqueue(ctx context.Context, ids []int64) (err error) {
	client := q.current.Load()
	if len(ids) == 1 {
		_, err = client.Insert(ctx, riverTask(newTask(ids[0])), nil)
		return err
	}
	params := make([]river.InsertManyParams, len(ids))
	for i, id := range ids {
		params[i].Args = riverTask(newTask(id))
		if q.settings.opts != nil {
			params[i].InsertOpts = q.settings.opts(id)
		}
	}
	if q.settings.fast {
		_, err = client.InsertManyFast(ctx, params)
	} else {
		_, err = client.InsertMany(ctx, params)
	}
	return err
}

func (q *riverQueue[T]) EnqueueTx(ctx context.Context, id int64) error {
	return q.transact(ctx, func(tx T) error {
		_, err := q.current.Load().InsertTx(ctx, tx, riverTask(newTask(id)), nil)
		return err
	})
}

func (q *riverQueue[T]) Run(ctx context.Context, handle func(id int64)) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[riverTask]) error {
		for i := range q.settings.steps {
			river.ResumableStep(ctx, stepNames[i], nil, func(context.Context) error { return nil })
		}
		handle(parse(job.Args.Order))
		return nil
	}))
	client, err := river.NewClient(q.driver, &river.Config{
		Logger:            quiet,
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.settings.workers}},
		FetchCooldown:     q.settings.cooldown,
		FetchPollInterval: q.settings.poll,
	})
	if err != nil {
		return err
	}
	going := context.WithoutCancel(ctx)
	if err := client.Start(going); err != nil {
		return err
	}
	q.current.Store(client)
	<-ctx.Done()
	q.current.Store(q.inserter)
	return client.Stop(going)
}

func (q *riverQueue[T]) Settled(ctx context.Context) (bool, error) { return q.settled(ctx) }

func (q *riverQueue[T]) Close() { q.close() }
