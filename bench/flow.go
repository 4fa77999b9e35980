package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenario N: what each way costs in which messages meet their handlers, and messages with keys.
// Of these River has priorities and unique jobs; of its Pro, which is not free, nothing is here.

func flows(n int) []scenario {
	const title = "scenario A, drained by handlers of other kinds"
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"N", e.engine, title, []string{colDrain}, []system{
			{plain, n, flow(e.open, nil, handle)},
			{"batches of 100", n, flow(e.open, nil, inBatches)},
			{"8 at once", n, flow(e.open, nil, limited)},
			{"256 at once", n, flow(e.open, nil, handle, worker.Options{Concurrency: 256})},
			{"one name for all topics", n, flow(e.open, nil, relay)},
			{"10 000 ordering keys", n, flow(e.open, ordered(10_000), handle)},
			{"100 ordering keys", n, flow(e.open, ordered(100), handle)},
			{"one ordering key", max(n/50/batchSize, 1) * batchSize, flow(e.open, ordered(1), handle)},
			{"5 priorities", n, flow(e.open, prioritized, handle)},
			{"5 priorities and PriorityWait", n, flow(e.open, prioritized, handle, worker.Options{PriorityWait: time.Minute})},
			{"each expires in an hour", n, flow(e.open, expiring(time.Hour), handle)},
			riverSystem("River tuned", n, peers.RiverTuned(e.engine), false),
			riverSystem("River tuned: 4 priorities", n, peers.RiverPriorities(e.engine), false),
		}})
		for _, l := range limitsOfFlow() {
			last := &all[len(all)-1]
			last.systems = append(last.systems, system{l.name, n, under(l, e.open, flow(e.open, nil, handle))})
		}
	}
	return all
}

// uniques are messages with unique keys, beside River's unique jobs.
func uniques(n int) []scenario {
	const title = "scenario A with a unique key for each message; twice: each is enqueued again at once, and a duplicate"
	var all []scenario
	for _, e := range []struct {
		engine string
		open   queueOpener
	}{{"postgres", pawlPostgres}, {"sqlite", pawlSQLite}} {
		keyed := withChange(e.open, func(m *outbox.Message, id int64) { m.UniqueKey = strconv.FormatInt(id, 10) })
		all = append(all, scenario{"N", e.engine, title, []string{colEnqueue, colRate}, []system{
			{plain, n, cycleQueue(e.open)},
			{"unique keys", n / 3, cycleQueue(keyed)},
			{"unique keys twice", n / 3, cycleQueue(twice(keyed))},
			riverSystem("River tuned", n, peers.RiverTuned(e.engine), false),
			riverSystem("River tuned: unique", n, peers.RiverUnique(e.engine), false),
			riverSystem("River tuned: unique twice", n, peers.RiverUnique(e.engine), true),
		}})
	}
	return all
}

// riverSystem is scenario A of River. again: each job is inserted twice.
func riverSystem(name string, n int, p peers.Peer, again bool) system {
	open := openPeer(p)
	if again {
		open = twice(open)
	}
	return system{name, max(n/p.Divisor/batchSize, 1) * batchSize, cycleQueue(open)}
}

// withChange opens a queue of pawl whose messages differ.
func withChange(open queueOpener, change func(m *outbox.Message, id int64)) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		q, err := open(ctx, r)
		if ours, ok := q.(*pawlQueue); ok {
			ours.change = change
		}
		return q, err
	}
}

// twice opens a queue that enqueues each batch again at once.
func twice(open queueOpener) queueOpener {
	return func(ctx context.Context, r *run) (peers.Queue, error) {
		q, err := open(ctx, r)
		return twiceQueue{q}, err
	}
}

type twiceQueue struct{ peers.Queue }

func (q twiceQueue) Enqueue(ctx context.Context, ids []int64) error {
	if err := q.Queue.Enqueue(ctx, ids); err != nil {
		return err
	}
	return q.Queue.Enqueue(ctx, ids)
}

// flow enqueues n messages, which change, if not nil, makes of plain ones, and drains them. change is
// told how many were made before.
func flow(open opener, change func(i int, m *outbox.Message), register func(o pawl.Handlers, note func()), opts ...worker.Options) measurement {
	opts = append(opts, worker.Options{})
	return withOutbox(open, func(ctx context.Context, r *run, db engine.DB, o *parts.Outbox) error {
		return cycle(ctx, r,
			func(n int) error { return produceChanged(ctx, o, n, change) },
			func(n int) error { return drainWith(ctx, db, n, opts[0], register) })
	})
}

// limitOfTopics is a limit that topics have of their own. It keeps nothing waiting.
type limitOfTopics struct {
	name   string
	bounds throttle.Bounds
	topics []string
}

func limitsOfFlow() []limitOfTopics {
	return []limitOfTopics{
		{"a concurrency limit on one topic of 8", throttle.Bounds{Concurrency: 10_000}, topics()[:1]},
		{"a concurrency limit on each topic", throttle.Bounds{Concurrency: 10_000}, topics()},
		{"a rate limit on each topic", throttle.Bounds{Rate: 10_000, Burst: 1_000_000}, topics()},
	}
}

// under is a measurement while there is such a limit.
func under(l limitOfTopics, open opener, m measurement) measurement {
	return func(ctx context.Context, r *run) error {
		db, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		for _, topic := range l.topics {
			if err == nil {
				_, err = throttle.New(db, nil).Set(ctx, throttle.Topic, topic, l.bounds, "")
			}
		}
		if done(); err != nil {
			return err
		}
		return m(ctx, r)
	}
}

// produceChanged is produce of messages that change made.
func produceChanged(ctx context.Context, o *parts.Outbox, n int, change func(i int, m *outbox.Message)) error {
	if change == nil {
		return produce(ctx, o, n)
	}
	var made atomic.Int64
	return parallel(producers, n/batchSize, func(int) error {
		batch := messages(batchSize)
		for i := range batch {
			change(int(made.Add(1)), &batch[i])
		}
		_, err := o.EnqueueBatch(ctx, batch)
		return err
	})
}

// ordered gives messages one of so many ordering keys.
func ordered(keys int) func(i int, m *outbox.Message) {
	return func(i int, m *outbox.Message) { m.OrderingKey = strconv.Itoa(i % keys) }
}

// prioritized gives messages one of five priorities.
func prioritized(i int, m *outbox.Message) { m.Priority = i % 5 }

// expiring lets messages expire after a time.
func expiring(after time.Duration) func(i int, m *outbox.Message) {
	at := time.Now().Add(after)
	return func(_ int, m *outbox.Message) { m.Expires = at }
}

func inBatches(o pawl.Handlers, note func()) {
	for _, t := range topics() {
		o.HandleBatch(t, func(_ context.Context, messages []*outbox.Message) []error {
			for range messages {
				note()
			}
			return make([]error, len(messages))
		}, outbox.BatchOptions{})
	}
}

func limited(o pawl.Handlers, note func()) {
	for _, t := range topics() {
		o.Handle(t, noting(note), outbox.HandlerOptions{Concurrency: 8})
	}
}

func relay(o pawl.Handlers, note func()) { o.Handle("*", noting(note)) }
