package outbox

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/topics"
)

// Retopic says which messages get another topic or queue.
type Retopic struct {
	From string // a topic, or a pattern such as "old.*"
	// Topic is the new topic, "": as it was. Where From is a pattern, one that ends in * keeps what the
	// * of From stands for.
	Topic  string
	Queue  string // the new queue, "": as it was
	DryRun bool   // change nothing: the result is what would have been done
}

// Retopiced is what Retopic did.
type Retopiced struct {
	Moved int64 `json:"moved"`
	// Kept is how many would get another queue and have ordering keys: they stay as they were, because
	// the order of a key holds within a queue.
	Kept int64 `json:"kept"`
	// Running is how many a worker holds: they stay as they were. Those that it puts back wait under
	// the old topic.
	Running int64 `json:"running"`
}

// Retopic gives messages that are ready, scheduled, waiting for a retry or failed another topic or
// queue. They keep ids, places in the order of their keys, due times, attempts and joins. It changes up
// to 1000 in each transaction and leaves a note in the audit trail in each: after an error, which it
// returns with what it did so far, it may be repeated. Timers and jobs keep their topics.
func (o *Outbox) Retopic(ctx context.Context, r Retopic) (done Retopiced, err error) {
	if err := r.validate(); err != nil {
		return done, err
	}
	opts := ListOptions{NoPayload: true}
	if _, pattern := topics.Pattern(r.From); !pattern {
		opts.Topic = r.From
	}
	m := moving{o: o, to: map[place][]int64{}, dry: r.DryRun, note: audit.New(ctx, r.target()).Op()}
	for _, opts.Status = range []Status{Ready, Scheduled, Retrying, Failed, InProgress} {
		for i, err := range o.List(ctx, opts) {
			if err != nil {
				return m.done, err
			}
			if err := m.add(ctx, &r, &i); err != nil {
				return m.done, err
			}
		}
	}
	for to := range m.to {
		if err := m.move(ctx, to); err != nil {
			return m.done, err
		}
	}
	if m.done.Moved > 0 && !r.DryRun {
		o.log.InfoContext(ctx, "moved messages to another topic or queue", "from", r.From, "topic", r.Topic, "queue", r.Queue, "count", m.done.Moved)
	}
	return m.done, nil
}

func (r *Retopic) validate() error {
	if r.Topic == "" && r.Queue == "" {
		return engine.Invalid("topic", "neither another topic nor another queue")
	}
	_, from := topics.Pattern(r.From)
	if _, to := topics.Pattern(r.Topic); to && !from {
		return engine.Invalid("topic", "a pattern, for messages of one topic")
	}
	return cmp.Or(engine.CheckText("from", r.From, limits.Topic, true), engine.CheckText("topic", r.Topic, limits.Topic, false), engine.CheckText("queue", r.Queue, limits.Queue, false))
}

// target says what is moved, for the audit trail.
func (r *Retopic) target() string {
	text := "topic " + r.From
	if r.Topic != "" {
		text += " to topic " + r.Topic
	}
	if r.Queue != "" {
		text += " to queue " + r.Queue
	}
	return text
}

// topic returns the new topic of one, which is a match of From.
func (r *Retopic) topic(was string) string {
	from, _ := topics.Pattern(r.From)
	if prefix, pattern := topics.Pattern(r.Topic); pattern {
		return prefix + was[len(from):]
	}
	return cmp.Or(r.Topic, was)
}

// place is where messages go: a topic and, unless it is nil, a queue with its priority.
type place struct {
	topic    string
	queue    string // "": as it was
	priority int
}

// moving is a Retopic as far as it is done.
type moving struct {
	o    *Outbox
	to   map[place][]int64
	dry  bool
	note op.Note
	done Retopiced
}

// add moves a message, or has it moved with others.
func (m *moving) add(ctx context.Context, r *Retopic, i *Info) error {
	from, pattern := topics.Pattern(r.From)
	if pattern && !strings.HasPrefix(i.Topic, from) {
		return nil
	}
	to := place{topic: r.topic(i.Topic)}
	if r.Queue != "" && r.Queue != i.Queue {
		to.queue, to.priority = r.Queue, i.Priority
	}
	if to.topic == i.Topic && to.queue == "" {
		return nil
	}
	if err := engine.CheckText("topic", to.topic, limits.Topic, true); err != nil {
		return fmt.Errorf("message %d: %w", i.Position, err)
	}
	switch {
	case i.Status == InProgress:
		m.done.Running++
		return nil
	case to.queue != "" && i.OrderingKey != "":
		m.done.Kept++
		return nil
	}
	m.to[to] = append(m.to[to], int64(i.Position))
	if len(m.to[to]) < withdrawChunk {
		return nil
	}
	return m.move(ctx, to)
}

// move moves the messages that go to a place.
func (m *moving) move(ctx context.Context, to place) error {
	ids := m.to[to]
	delete(m.to, to)
	if m.dry {
		m.done.Moved += int64(len(ids))
		return nil
	}
	change := op.OutboxRetopic{IDs: ids, Topic: to.topic, Note: m.note}
	var calls []*engine.Call
	if to.queue != "" {
		lane := op.OutboxLane{ID: engine.LaneID(to.queue, to.priority, engine.Claimable), Queue: to.queue, Priority: to.priority, Kind: int(engine.Claimable)}
		change.Lane = &lane.ID
		calls = append(calls, engine.Ask(lane))
	}
	call := engine.Ask(change)
	if err := m.o.db.Do(ctx, append(calls, call)...); err != nil {
		return err
	}
	m.done.Moved += call.N
	return nil
}
