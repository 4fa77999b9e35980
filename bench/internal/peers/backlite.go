package peers

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/mikestefanello/backlite"
)

const (
	backliteModule  = "github.com/mikestefanello/backlite"
	backliteSettled = `SELECT NOT EXISTS (SELECT 1 FROM backlite_tasks)`
)

// backliteTask is a task of the one queue; handled tasks are not kept.
type backliteTask task

// Config implements backlite.Task.
func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "bench", MaxAttempts: 5, Timeout: 10 * time.Second}
}

// backliteQueue is backlite. Its dispatcher learns of new tasks from the client that
// adds them, so there is one client for both.
type backliteQueue struct {
	db      *sql.DB
	workers int
	current atomic.Pointer[backlite.Client]
	settled func(context.Context) (bool, error)
}

func openBacklite(workers int) func(context.Context, Place) (Queue, error) {
	return func(_ context.Context, p Place) (Queue, error) {
		db, err := p.database()
		if err != nil {
			return nil, err
		}
		q := &backliteQueue{db: db, workers: workers, settled: asks(db, backliteSettled)}
		client, err := q.client()
		if err != nil {
			return nil, err
		}
		return q, client.Install()
	}
}

// client makes the client that is used from now on.
func (q *backliteQueue) client() (*backlite.Client, error) {
	client, err := backlite.NewClient(backlite.ClientConfig{DB: q.db, NumWorkers: q.workers, ReleaseAfter: 10 * time.Minute, CleanupInterval: time.Hour})
	q.current.Store(client)
	return client, err
}

func (q *backliteQueue) Enqueue(ctx context.Context, ids []int64) error {
	tasks := make([]backlite.Task, len(ids))
	for i, id := range ids {
		tasks[i] = backliteTask(newTask(id))
	}
	_, err := q.current.Load().Add(tasks...).Ctx(ctx).Save()
	return err
}

func (q *backliteQueue) EnqueueTx(ctx context.Context, id int64) error {
	client := q.current.Load()
	err := InTx(ctx, q.db, func(tx *sql.Tx) error {
		_, err := client.Add(backliteTask(newTask(id))).Ctx(ctx).Tx(tx).Save()
		return err
	})
	if err == nil {
		client.Notify()
	}
	return err
}

// Run uses the client that there is: what is added meanwhile must come through the one
// that works.
func (q *backliteQueue) Run(ctx context.Context, handle func(id int64)) error {
	client := q.current.Load()
	client.Register(backlite.NewQueue(func(_ context.Context, t backliteTask) error {
		handle(parse(t.Order))
		return nil
	}))
	going := context.WithoutCancel(ctx)
	client.Start(going)
	<-ctx.Done()
	client.Stop(going)
	_, err := q.client() // one that has stopped does not start again at once
	return err
}

func (q *backliteQueue) Settled(ctx context.Context) (bool, error) { return q.settled(ctx) }

func (q *backliteQueue) Close() { _ = q.db.Close() }
