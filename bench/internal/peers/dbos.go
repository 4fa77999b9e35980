package peers

import (
	"context"
	"database/sql"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // its dialect
	"github.com/jackc/pgx/v5"
)

const (
	dbosModule = "github.com/dbos-inc/dbos-transact-golang"
	dbosQueue  = "bench"
	dbosName   = "bench"
	// The schema is the one that is dropped before every repetition.
	dbosSchema          = "pawl_bench"
	dbosSettledPostgres = `SELECT NOT EXISTS (SELECT FROM pawl_bench.workflow_status WHERE status <> 'SUCCESS')`
	dbosSettledSQLite   = `SELECT NOT EXISTS (SELECT 1 FROM workflow_status WHERE status <> 'SUCCESS')`
)

// dbosRunner is DBOS: a message is a workflow on a queue. DBOS closes its connections
// when it shuts down, so each of its contexts has its own, beside those of the program.
type dbosRunner struct {
	place    Place
	poll     time.Duration
	steps    int // of each workflow
	client   dbos.Client
	transact func(ctx context.Context, f func(tx any) error) error
	settled  func(context.Context) (bool, error)
	close    func()
}

// openDBOSPostgres takes how often the queue is polled; 0 is DBOS's default.
func openDBOSPostgres(poll time.Duration, steps int) func(context.Context, Place) (Queue, error) {
	return func(ctx context.Context, p Place) (Queue, error) {
		pool, err := p.pool(ctx)
		if err != nil {
			return nil, err
		}
		q := &dbosRunner{place: p, poll: poll, steps: steps, close: pool.Close}
		q.transact = func(ctx context.Context, f func(tx any) error) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return f(tx) })
		}
		q.settled = func(ctx context.Context) (settled bool, err error) {
			err = pool.QueryRow(ctx, dbosSettledPostgres).Scan(&settled)
			return settled, err
		}
		return q, q.connect(ctx)
	}
}

func openDBOSSQLite(poll time.Duration, steps int) func(context.Context, Place) (Queue, error) {
	return func(ctx context.Context, p Place) (Queue, error) {
		db, err := p.database()
		if err != nil {
			return nil, err
		}
		q := &dbosRunner{place: p, poll: poll, steps: steps, settled: asks(db, dbosSettledSQLite), close: func() { _ = db.Close() }}
		q.transact = func(ctx context.Context, f func(tx any) error) error {
			return InTx(ctx, db, func(tx *sql.Tx) error { return f(tx) })
		}
		return q, q.connect(ctx)
	}
}

// context makes a context of DBOS, which migrates the database.
func (q *dbosRunner) context(ctx context.Context) (dbos.Context, error) {
	config := dbos.Config{AppName: dbosName, ApplicationVersion: "1", Logger: quiet}
	if q.place.URL != "" {
		config.DatabaseURL, config.DatabaseSchema = q.place.URL, dbosSchema
		return dbos.NewContext(ctx, config)
	}
	db, err := q.place.database()
	if err != nil {
		return nil, err
	}
	config.SQLiteSystemDB = db
	c, err := dbos.NewContext(ctx, config)
	if err != nil {
		return nil, err
	}
	// NewContext sets NORMAL on the one connection that there is.
	_, err = db.ExecContext(ctx, `PRAGMA synchronous = `+q.place.synchronous())
	return c, err
}

// connect makes the context that enqueues.
func (q *dbosRunner) connect(ctx context.Context) error {
	c, err := q.context(ctx)
	q.client = c
	return err
}

func (q *dbosRunner) enqueue(id int64, opts ...dbos.EnqueueOption) error {
	_, err := dbos.Enqueue[bool](q.client, dbosQueue, dbosName, newTask(id), append(opts, dbos.WithEnqueueApplicationVersion("1"))...)
	return err
}

func (q *dbosRunner) Enqueue(ctx context.Context, ids []int64) error {
	if len(ids) == 1 {
		return q.enqueue(ids[0])
	}
	return q.transact(ctx, func(tx any) error {
		for _, id := range ids {
			if err := q.enqueue(id, dbos.WithEnqueueTransaction(tx)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *dbosRunner) EnqueueTx(ctx context.Context, id int64) error {
	return q.transact(ctx, func(tx any) error { return q.enqueue(id, dbos.WithEnqueueTransaction(tx)) })
}

func (q *dbosRunner) Run(ctx context.Context, handle func(id int64)) error {
	c, err := q.context(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	dbos.RegisterWorkflow(c, func(c dbos.Context, t task) (bool, error) {
		for i := range q.steps {
			if _, err := dbos.RunAsStep(c, func(context.Context) (int, error) { return i, nil }, dbos.WithStepName(stepNames[i])); err != nil {
				return false, err
			}
		}
		handle(parse(t.Order))
		return true, nil
	}, dbos.WithWorkflowName(dbosName))
	var opts []dbos.QueueOption
	if q.poll > 0 {
		opts = append(opts, dbos.WithQueueBasePollingInterval(q.poll))
	}
	if _, err := dbos.RegisterQueue(c, dbosQueue, opts...); err != nil {
		return err
	}
	if err := dbos.Launch(c); err != nil {
		return err
	}
	<-ctx.Done()
	dbos.Shutdown(c, 5*time.Second)
	return nil
}

func (q *dbosRunner) Settled(ctx context.Context) (bool, error) { return q.settled(ctx) }

func (q *dbosRunner) Close() {
	dbos.Shutdown(q.client, time.Second)
	q.close()
}
