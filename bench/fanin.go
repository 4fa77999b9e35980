package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// Scenario J: how long after the ack of a join's last step the handler of its
// follow-up begins, with an idle worker.

func fanIns(n int) []scenario {
	const title = "joins one after the other, from the ack of the last step to the start of the follow-up's handler"
	count := max(10, min(n, 60_000)/200)
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"J", e.engine, title, nil, []system{
			{"pawl", count, fanIn(e.open, false)},
			{"pawl, another handle acks", count, fanIn(e.open, true)},
		}})
	}
	return all
}

// apartQueue is where steps lie that only the measuring producer claims.
const apartQueue = "steps"

func fanIn(open opener, apart bool) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		var mu sync.Mutex
		times := make([]moments, r.n)
		register := func(db engine.DB, worker *parts.Outbox) {
			parts.NewJoins(db, worker, join.Options{}, nil)
			worker.Handle("follow-up", starts(&mu, times))
		}
		err := r.idle(ctx, open, apart, register, func(ctx context.Context, from engine.DB) error {
			o := parts.NewOutbox(from, worker.Options{})
			j := parts.NewJoins(from, o, join.Options{}, nil)
			for i := range times {
				if err := lastStep(ctx, o, j, i, &times[i], &mu); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.latencies(times, colAck, colFollowUp)
	}
}

// lastStep makes a join of one step, lets its wait be put aside and the worker
// fall asleep, and acks the step.
func lastStep(ctx context.Context, o *parts.Outbox, j *parts.Joins, i int, t *moments, mu *sync.Mutex) error {
	body := binary.BigEndian.AppendUint64(nil, uint64(i))
	fan, err := j.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "step", Queue: apartQueue}},
		join.Wait{OnComplete: outbox.Message{Topic: "follow-up", Payload: slices.Clone(body)}})
	if err != nil {
		return err
	}
	owner := outbox.NewOwnerToken()
	msgs, err := o.WorkQueue(apartQueue).Claim(ctx, owner, time.Minute, 1)
	if err != nil || len(msgs) != 1 {
		return errors.Join(err, fmt.Errorf("claimed %d steps", len(msgs)))
	}
	for {
		wait, err := o.Get(ctx, fan.Wait)
		if err != nil {
			return err
		}
		if time.Until(wait.NextAttemptAt) > time.Hour {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond) // until the worker sleeps
	mu.Lock()
	t.called = time.Now()
	mu.Unlock()
	if _, err := o.WorkQueue("").Ack(ctx, owner, msgs[0].Position); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	t.returned = time.Now()
	return nil
}

// starts notes when the handler of the message whose payload is its number begins.
func starts(mu *sync.Mutex, times []moments) outbox.Handler {
	return func(_ context.Context, m *outbox.Message) error {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		times[binary.BigEndian.Uint64(m.Payload)].started = now
		return nil
	}
}

// idle measures work beside a worker that has nothing else to do, in the
// worker's own handle or, apart, in another.
func (r *run) idle(ctx context.Context, open opener, apart bool, register func(engine.DB, *parts.Outbox), work func(context.Context, engine.DB) error) error {
	db, done, err := open(ctx, r)
	if err != nil {
		return err
	}
	defer done()
	from := db
	if apart {
		other, done, err := open(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		from = other
	}
	r.written = r.n
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	worker := parts.NewOutbox(db, worker.Options{})
	register(db, worker)
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	time.Sleep(time.Second) // until it listens and sleeps
	if _, err := r.measured(ctx, r.n, func() error { return work(ctx, from) }); err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	stop()
	return <-ended
}
