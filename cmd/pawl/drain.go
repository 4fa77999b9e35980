package main

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/outbox"
)

// drained is what "pawl work --drain" leaves behind of the topics and queues that it serves.
type drained struct {
	topics, queues []string

	mu      sync.Mutex
	failed  int64 // for good, in this drain
	waiting map[spot]struct{}
	due     int64
}

// spot is where a message is.
type spot struct {
	store    string
	position outbox.Position
}

// observer counts what becomes of a store's messages.
func (d *drained) observer(store string) pawl.Observer {
	return pawl.Observer{Attempted: func(attempts []pawl.Attempt) {
		d.mu.Lock()
		defer d.mu.Unlock()
		for i := range attempts {
			m := attempts[i].Message
			if m == nil || !d.serves(m.Topic) {
				continue
			}
			at := spot{store, m.Position}
			switch attempts[i].Outcome {
			case pawl.OutcomeRetried, pawl.OutcomeSnoozed, pawl.OutcomeReleased, pawl.OutcomeLost:
				d.waiting[at] = struct{}{}
			case pawl.OutcomeFailed:
				d.failed++
				delete(d.waiting, at)
			default:
				delete(d.waiting, at)
			}
		}
	}}
}

func (d *drained) serves(topic string) bool {
	_, ok := topics.Match(d.topics, topic)
	return ok
}

// lookLimit is how many messages of a queue that are due, or retrying, are read at the end.
const lookLimit = 10_000

// look adds what a store has that was not taken, and what waits for another attempt since before.
func (d *drained) look(ctx context.Context, store string, o *outbox.Outbox) error {
	for _, queue := range d.queues {
		for _, status := range []outbox.Status{outbox.Ready, outbox.Retrying} {
			found, _, err := o.Operator(access.Key{}).ListSome(ctx, outbox.ListOptions{Status: status, Queue: queue, NoPayload: true}, lookLimit, lookLimit)
			if err != nil {
				return err
			}
			d.add(store, status, found)
		}
	}
	return nil
}

func (d *drained) add(store string, status outbox.Status, found []outbox.Info) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range found {
		m, at := &found[i], spot{store, found[i].Position}
		_, tried := d.waiting[at]
		switch {
		case tried || !d.serves(m.Topic):
		case status == outbox.Retrying:
			d.waiting[at] = struct{}{}
		case status == outbox.Ready:
			d.due++
		}
	}
}

// err is nil if nothing is left.
func (d *drained) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	for _, part := range []struct {
		n    int64
		what string
	}{{d.failed, "failed for good"}, {int64(len(d.waiting)), "to be tried again"}, {d.due, "due but paused, limited or behind others"}} {
		if part.n > 0 {
			parts = append(parts, engine.Several(part.n, "message")+" "+part.what)
		}
	}
	if parts == nil {
		return nil
	}
	return &exitError{exitLeft, errors.New("left behind: " + strings.Join(parts, ", "))}
}

// drained begins an account of what is left, nil without --drain.
func (c *workCmd) drained(all []served) *drained {
	if !c.Drain {
		return nil
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.topic
	}
	return &drained{topics: names, queues: c.queues(), waiting: map[spot]struct{}{}}
}

// leftIn looks at a store after a drain of it alone.
func (d *drained) leftIn(ctx context.Context, o *outbox.Outbox) error {
	looking, cancel := engine.Detach(ctx, reachTimeout)
	defer cancel()
	if err := d.look(looking, "", o); err != nil {
		return err
	}
	return d.err()
}
