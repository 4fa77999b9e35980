package main

import (
	"context"
	"errors"
	"sync"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/bench/internal/peers"
	durable "github.com/bravellian/pawl/flow" // flow is what scenario N measures
	"github.com/bravellian/pawl/internal/engine"
)

// Scenario I: flows of three steps, each of which returns a number. What each system has stored when a step
// has run differs: pawl and DBOS every step's result, River the last step's name when a job fails.

// flowSteps is how many steps a flow has.
const flowSteps = 3

func stepFlows(n int) []scenario {
	var all []scenario
	for _, e := range places() {
		systems := []system{{"pawl", n / 2, cycleQueue(openFlows(e.open))}}
		for _, p := range peers.Flows(e.engine, flowSteps) {
			systems = append(systems, system{p.Name, max(n/p.Divisor, fewest), cycleQueue(openPeer(p))})
		}
		all = append(all, scenario{"I", e.engine, "flows of three steps, begun by 2 producers, then worked off", []string{colRate}, systems})
	}
	return all
}

// flowQueue is flows of pawl as a peers.Queue.
type flowQueue struct {
	db      engine.DB
	starter *pawl.Pawl
	fl      *durable.Flow[int64, int64]
	handle  func(id int64)
	close   func()
}

func openFlows(open opener) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		db, done, err := open(ctx, r)
		if err != nil {
			return nil, err
		}
		q := &flowQueue{db: db, close: done}
		q.fl = durable.New("bench", q.work)
		q.starter, err = newPawl(db, false)
		return q, err
	}
}

// work is the function of the flows.
func (q *flowQueue) work(f *durable.Run, id int64) (sum int64, err error) {
	for _, name := range []string{"one", "two", "three"} {
		got, err := durable.Step(f, name, func(context.Context) (int64, error) { return id, nil })
		if err != nil {
			return 0, err
		}
		sum += got
	}
	q.handle(id)
	return sum, nil
}

// Enqueue begins flows at once: they share statements.
func (q *flowQueue) Enqueue(ctx context.Context, ids []int64) error {
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { _, errs[i] = q.fl.Start(ctx, q.starter, id) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (q *flowQueue) EnqueueTx(ctx context.Context, id int64) error {
	_, err := q.fl.Start(ctx, q.starter, id)
	return err
}

func (q *flowQueue) Run(ctx context.Context, handle func(id int64)) error {
	q.handle = handle
	p, err := pawl.New(q.db, pawl.Options{Concurrency: 256})
	if err != nil {
		return err
	}
	q.fl.Handle(p)
	return p.Run(ctx)
}

// Settled asks the database.
func (q *flowQueue) Settled(ctx context.Context) (bool, error) {
	c, err := q.starter.Outbox.Count(ctx)
	return c.Ready+c.InProgress+c.Retrying == 0, err
}

func (q *flowQueue) Close() { q.close() }
