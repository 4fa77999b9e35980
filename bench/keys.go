package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/outbox"
)

// Scenario M: what a hostile number of keys costs those that enqueue and claim beside them.

const (
	// keysFor is how many keys lie there for each message that is measured: a million if n is not
	// changed.
	keysFor = 50
	// keyBatch is messages per enqueue, claim and settlement.
	keyBatch = 500
)

func manyKeys(n int) []scenario {
	const title = "a third of n messages enqueued, claimed 500 at a time and acked, beside 50 times as many"
	n = max(n/3/keyBatch, 2) * keyBatch
	var all []scenario
	for _, e := range places() {
		all = append(all,
			scenario{"M", e.engine, title + " ordering keys", []string{colEnqueue, colDrain}, []system{
				{plain, n, besideKeys(e.open, 0, nil, inPairs)},
				{"keys whose messages are not due", n, besideKeys(e.open, keysFor, enqueueKeys(orderingKey, month), inPairs)},
				{"keys that wait for a retry", n, besideKeys(e.open, keysFor, putOffKeys, inPairs)},
				{"keys that wait behind", n, behindKeys(e.open)},
			}},
			scenario{"M", e.engine, title + " unique keys", []string{colEnqueue, colDrain}, []system{
				{plain, n, besideKeys(e.open, 0, nil, newUnique)},
				{"keys whose messages wait", n, besideKeys(e.open, keysFor, enqueueKeys(uniqueKey, month), newUnique)},
			}})
	}
	return all
}

const month = 30 * 24 * time.Hour

type changing = func(i int, m *outbox.Message)

// inPairs gives each two messages an ordering key of their own.
func inPairs(i int, m *outbox.Message) { m.OrderingKey = "pair " + strconv.Itoa(i/2) }

// newUnique gives each message a unique key.
func newUnique(i int, m *outbox.Message) { m.UniqueKey = "new " + strconv.Itoa(i) }

func orderingKey(i int, m *outbox.Message) { m.OrderingKey = "key " + strconv.Itoa(i) }
func uniqueKey(i int, m *outbox.Message)   { m.UniqueKey = "key " + strconv.Itoa(i) }

// storing stores n messages with a key each.
type storing = func(ctx context.Context, o *parts.Outbox, n int) error

// enqueueKeys stores messages that are due after a time.
func enqueueKeys(change changing, after time.Duration) storing {
	return func(ctx context.Context, o *parts.Outbox, n int) error {
		due := time.Now().Add(after)
		return produceChanged(ctx, o, n, func(i int, m *outbox.Message) {
			if change(i, m); after > 0 {
				m.Due = due
			}
		})
	}
}

// putOffKeys stores messages each of which is the head of its line and waits for another attempt.
func putOffKeys(ctx context.Context, o *parts.Outbox, n int) error {
	if err := enqueueKeys(orderingKey, 0)(ctx, o, n); err != nil {
		return err
	}
	for n > 0 {
		owner, ids, err := claimSome(ctx, o)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return fmt.Errorf("%w: %d of those that were to be put off", errLost, n)
		}
		if _, err := o.WorkQueue("").Abandon(ctx, owner, outbox.RetryAfter(month, errors.New("later")), ids...); err != nil {
			return err
		}
		n -= len(ids)
	}
	return nil
}

func claimSome(ctx context.Context, o *parts.Outbox) (owner outbox.OwnerToken, ids []outbox.Position, err error) {
	owner = outbox.NewOwnerToken()
	msgs, err := o.WorkQueue("").Claim(ctx, owner, time.Minute, keyBatch)
	for _, m := range msgs {
		ids = append(ids, m.Position)
	}
	return owner, ids, err
}

// besideKeys stores times as many messages as are measured, and then measures n others.
func besideKeys(open opener, times int, store storing, change changing) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, _ engine.DB, o *parts.Outbox) error {
		if store != nil {
			if err := store(ctx, o, r.n*times); err != nil {
				return err
			}
		}
		d := &drainer{o: o, r: r}
		made := 0
		return cycle(ctx, r,
			func(n int) error {
				from := made
				made += n
				return produceChanged(ctx, o, n, func(i int, m *outbox.Message) { change(from+i, m) })
			}, func(n int) error { return d.drain(ctx, n) })
	})
}

// behindKeys measures the first n of many more messages, each with a key of its own.
func behindKeys(open opener) measurement {
	return withOutbox(open, func(ctx context.Context, r *run, _ engine.DB, o *parts.Outbox) error {
		if err := enqueueKeys(orderingKey, 0)(ctx, o, (keysFor+1)*r.n+r.warm()); err != nil {
			return err
		}
		d := &drainer{o: o, r: r}
		if err := d.drain(ctx, r.warm()); err != nil {
			return err
		}
		took, err := r.measured(ctx, r.n, func() error { return d.drain(ctx, r.n) })
		if err == nil {
			r.rate(colDrain, r.n, took)
		}
		return err
	})
}

// drainer claims and acks.
type drainer struct {
	o    *parts.Outbox
	r    *run
	seen map[outbox.Position]bool
}

// drain claims and acks n messages, and records how long a claim and an ack took.
func (d *drainer) drain(ctx context.Context, n int) error {
	if d.seen == nil {
		d.seen = map[outbox.Position]bool{}
	}
	var claims, acks []float64
	for n > 0 {
		began := time.Now()
		owner, ids, err := claimSome(ctx, d.o)
		if err != nil {
			return err
		}
		claimed := time.Now()
		if len(ids) == 0 {
			return fmt.Errorf("%w: %d of them", errLost, n)
		}
		for _, id := range ids {
			if d.seen[id] {
				return fmt.Errorf("message %d claimed twice", id)
			}
			d.seen[id] = true
		}
		if _, err := d.o.WorkQueue("").Ack(ctx, owner, ids...); err != nil {
			return err
		}
		claims, acks = append(claims, milliseconds(claimed.Sub(began))), append(acks, milliseconds(time.Since(claimed)))
		n -= len(ids)
	}
	d.r.figures[colClaim], d.r.figures[colAck] = quantile(claims, 0.5), quantile(acks, 0.5)
	return nil
}
