package outbox

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/topics"
)

// Retopic gives messages that are ready, scheduled, waiting for a retry or failed another topic or
// queue. They keep ids, places in the order of their keys, due times, attempts and joins. It changes up
// to 1000 in each transaction and leaves a note in the audit trail in each: after an error, which it
// returns with what it did so far, it may be repeated. Timers and jobs keep their topics.
func (o operator) Retopic(ctx context.Context, r acts.Retopic) (done acts.Retopiced, err error) {
	if err := checkRetopic(&r); err != nil {
		return done, err
	}
	opts := ListOptions{NoPayload: true}
	if r.ID != 0 {
		opts.After = &Info{Message: Message{Position: Position(r.ID) + 1}}
	}
	if _, pattern := topics.Pattern(r.From); !pattern {
		opts.Topic = r.From
	}
	m := moving{o: o.Outbox, to: map[place][]int64{}, dry: r.DryRun, note: audit.New(ctx, retopicTarget(&r)).Op()}
	for _, opts.Status = range []Status{Ready, Scheduled, Retrying, Failed, InProgress} {
		for i, err := range o.List(ctx, opts) {
			if err != nil {
				return m.done, err
			}
			if r.ID != 0 && int64(i.Position) != r.ID {
				break
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

func checkRetopic(r *acts.Retopic) error {
	if r.Topic == "" && r.Queue == "" {
		return engine.Invalid("topic", "neither another topic nor another queue")
	}
	_, from := topics.Pattern(r.From)
	if _, to := topics.Pattern(r.Topic); to && !from {
		return engine.Invalid("topic", "a pattern, for messages of one topic")
	}
	return cmp.Or(engine.CheckText("from", r.From, limits.Topic, true), engine.CheckText("topic", r.Topic, limits.Topic, false), engine.CheckText("queue", r.Queue, limits.Queue, false))
}

// retopicTarget says what is moved, for the audit trail.
func retopicTarget(r *acts.Retopic) string {
	text := "topic " + r.From
	if r.ID != 0 {
		text = fmt.Sprintf("message %d of topic %s", r.ID, r.From)
	}
	if r.Topic != "" {
		text += " to topic " + r.Topic
	}
	if r.Queue != "" {
		text += " to queue " + r.Queue
	}
	return text
}

// newTopic returns the new topic of one, which is a match of From.
func newTopic(r *acts.Retopic, was string) string {
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
	done acts.Retopiced
}

// add moves a message, or has it moved with others.
func (m *moving) add(ctx context.Context, r *acts.Retopic, i *Info) error {
	from, pattern := topics.Pattern(r.From)
	if pattern && !strings.HasPrefix(i.Topic, from) {
		return nil
	}
	to := place{topic: newTopic(r, i.Topic)}
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
