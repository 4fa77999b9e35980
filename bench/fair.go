package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Scenario fair: 10 000 tenants, one of which has enqueued a great number of messages; how long those of the others wait.

const (
	fairTenants = 10_000
	// fairPerSecond is how many messages the others enqueue a second.
	fairPerSecond = 200
	fairHeader    = "tenant"
	// fairWork is how long a handler waits: 64 of them handle 6 400 messages a second.
	fairWork = 10 * time.Millisecond
	// fairFlood is how many messages one tenant has waiting for each of the others' that is measured.
	fairFlood = 64
)

func fairs(n int) []scenario {
	title := fmt.Sprintf("%d messages a second of %d tenants, handlers of %v, from the call of Enqueue to the handler's start, beside one tenant's flood", fairPerSecond, fairTenants, fairWork)
	count := max(200, n/20)
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"fair", e.engine, title, []string{colP99}, []system{
			{"no flood", count, fair(e.open, true, 0)},
			{"a flood with Fair", count, fair(e.open, true, fairFlood*count)},
			{"a flood", count, fair(e.open, false, fairFlood*count)},
		}})
	}
	return all
}

// fair measures the others' messages, turns being taken or not, beside so many of one tenant.
func fair(open opener, turns bool, flood int) measurement {
	return withDB(open, func(ctx context.Context, r *run, db engine.DB) error {
		opts := worker.Options{}
		if turns {
			opts.Fair = map[string]string{outbox.DefaultQueue: fairHeader}
		}
		o := parts.NewOutbox(db, opts)
		for n := 0; n < flood; n += batchSize {
			batch := messages(batchSize)
			for i := range batch {
				batch[i].Headers = map[string]string{fairHeader: "flood"}
			}
			if _, err := o.EnqueueBatch(ctx, batch); err != nil {
				return err
			}
		}
		return fairBeside(ctx, r, o)
	})
}

// fairBeside works off what there is while the others enqueue.
func fairBeside(ctx context.Context, r *run, o *parts.Outbox) error {
	times := make([]moments, r.n)
	var left sync.WaitGroup
	left.Add(r.n)
	for _, topic := range topics() {
		o.Handle(topic, func(_ context.Context, m *outbox.Message) error {
			if nr, err := strconv.Atoi(m.CorrelationID); err == nil {
				times[nr-1].started = time.Now()
				left.Done()
			}
			time.Sleep(fairWork)
			return nil
		})
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- o.Run(running) }()
	time.Sleep(time.Second)
	_, err := r.measured(ctx, r.n, func() error {
		err := tick(ctx, &tenants{o: o}, pace{fairPerSecond, 1}, times)
		if err == nil {
			left.Wait()
		}
		return err
	})
	stop()
	if err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	return r.latencies(times, colCommit, colP50)
}

// tenants is what tick enqueues into: each message is one of a tenant at random.
type tenants struct {
	peers.Queue
	o *parts.Outbox
}

func (q *tenants) Enqueue(ctx context.Context, ids []int64) error {
	m := messages(1)[0]
	m.CorrelationID, m.Headers = strconv.FormatInt(ids[0], 10), map[string]string{fairHeader: strconv.Itoa(rand.IntN(fairTenants))}
	_, err := q.o.Enqueue(ctx, m)
	return err
}
