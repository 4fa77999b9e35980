package peers

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"maragu.dev/goqite"
	"maragu.dev/goqite/jobs"
)

const (
	goqiteModule  = "maragu.dev/goqite"
	goqiteSettled = `SELECT NOT EXISTS (SELECT 1 FROM goqite)`
	goqiteJob     = "bench"
	// serializationFailure is what its runner's transactions do to those that enqueue.
	serializationFailure = "40001"
)

// goqiteQueue is goqite with the runner of its package jobs.
type goqiteQueue struct {
	db      *sql.DB
	queue   *goqite.Queue
	limit   int
	poll    time.Duration
	settled func(context.Context) (bool, error)
}

// openGoqite takes how many jobs run at once, how often the runner looks for more, and
// how many connections there are; 0 is what is usual. goqite's transactions are
// serializable, so that on PostgreSQL several connections make each other's fail.
func openGoqite(limit int, poll time.Duration, conns int) func(context.Context, Place) (Queue, error) {
	return func(ctx context.Context, p Place) (Queue, error) {
		schema, flavor := "schema_sqlite.sql", goqite.SQLFlavorSQLite
		if p.URL != "" {
			schema, flavor = "schema_postgres.sql", goqite.SQLFlavorPostgreSQL
		}
		statements, err := moduleFile(ctx, goqiteModule, schema)
		if err != nil {
			return nil, err
		}
		db, err := p.database()
		if err != nil {
			return nil, err
		}
		if conns > 0 {
			db.SetMaxOpenConns(conns)
		}
		q := &goqiteQueue{db: db, limit: limit, poll: poll, settled: asks(db, goqiteSettled)}
		q.queue = goqite.New(goqite.NewOpts{DB: db, Name: "bench", SQLFlavor: flavor})
		_, err = db.ExecContext(ctx, statements)
		return q, err
	}
}

func (q *goqiteQueue) Enqueue(ctx context.Context, ids []int64) error {
	if len(ids) == 1 {
		for {
			_, err := jobs.Create(ctx, q.queue, goqiteJob, goqite.Message{Body: Body(ids[0])})
			var failed *pgconn.PgError
			if !errors.As(err, &failed) || failed.Code != serializationFailure {
				return err
			}
		}
	}
	return q.add(ctx, ids)
}

func (q *goqiteQueue) EnqueueTx(ctx context.Context, id int64) error { return q.add(ctx, []int64{id}) }

func (q *goqiteQueue) add(ctx context.Context, ids []int64) error {
	return InTx(ctx, q.db, func(tx *sql.Tx) error {
		for _, body := range Bodies(ids) {
			if _, err := jobs.CreateTx(ctx, tx, q.queue, goqiteJob, goqite.Message{Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (q *goqiteQueue) Run(ctx context.Context, handle func(id int64)) error {
	r := jobs.NewRunner(jobs.NewRunnerOpts{Queue: q.queue, Limit: q.limit, PollInterval: q.poll})
	r.Register(goqiteJob, func(_ context.Context, body []byte) error {
		handle(ID(body))
		return nil
	})
	r.Start(ctx)
	return nil
}

func (q *goqiteQueue) Settled(ctx context.Context) (bool, error) { return q.settled(ctx) }

func (q *goqiteQueue) Close() { _ = q.db.Close() }
