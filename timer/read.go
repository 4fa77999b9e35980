package timer

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Status is where a timer is in its life.
type Status string

// The states of a timer. The last three are final.
const (
	Scheduled Status = "scheduled"
	Claimed   Status = "claimed"   // being fired by a program that does so itself
	Fired     Status = "fired"     // its message is in the outbox, or Ack was called
	Failed    Status = "failed"    // given up by a program that fires timers itself
	Cancelled Status = "cancelled" // or replaced by another of its key
)

// Info is a timer with its state. The payload of a fired timer is in its message,
// which has the same id.
type Info struct {
	Timer
	Position      outbox.Position   `json:"id"` // of the message that it becomes
	Status        Status            `json:"status"`
	NextAttemptAt time.Time         `json:"next_attempt_at,omitzero"` // when it can be taken: Due or, after a failed attempt, later
	RetryCount    int               `json:"retry_count"`              // failed attempts of those who fire it themselves
	LastError     string            `json:"last_error,omitempty"`
	Owner         outbox.OwnerToken `json:"owner_token,omitzero"`  // of the claim; zero: none
	LockedUntil   time.Time         `json:"locked_until,omitzero"` // end of the claim's lease
	CreatedAt     time.Time         `json:"created_at,omitzero"`
	EndedAt       time.Time         `json:"ended_at,omitzero"` // when it fired, failed or was cancelled; zero: not yet
	// Unreadable says what of the timer cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string `json:"unreadable,omitempty"`
}

// Get returns a timer, or ErrNotFound.
func (t *Timers) Get(ctx context.Context, id ID) (*Info, error) {
	found, err := t.infos(ctx, op.TimerGet{TimerRef: ref(id)})
	if err == nil && len(found) == 0 {
		err = notFound(id)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// GetKey returns the timer of a key that has not fired yet, or ErrNotFound.
func (t *Timers) GetKey(ctx context.Context, key string) (*Info, error) {
	found, err := t.infos(ctx, op.TimerFind{Key: key})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: key %q", ErrNotFound, key)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// ListOptions select timers. The zero value lists all.
type ListOptions struct {
	Status Status // "": any
	Topic  string // "": any

	After *Info // only timers that follow this one; nil: from the beginning
}

// List returns timers by status: those that are scheduled and those that are claimed in
// the order in which they fire, then those that fired, failed and were cancelled, each
// latest first. They are read while they are iterated over; an error is the last item.
func (t *Timers) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Pages(opts.After, func(after *Info, most int) ([]Info, error) { return t.list(ctx, &opts, after, most) })
}

// list reads a page of a list.
func (t *Timers) list(ctx context.Context, opts *ListOptions, after *Info, most int) (all []Info, err error) {
	statuses := op.TimerStatuses()
	switch {
	case opts.Status != "":
		if _, err := statuses.Number("status", string(opts.Status)); err != nil {
			return nil, err
		}
		statuses = engine.Words{string(opts.Status)}
	case after != nil:
		at, err := statuses.Number("status", string(after.Status))
		if err != nil {
			return nil, err
		}
		statuses = statuses[at:]
	}
	for _, status := range statuses {
		found, err := t.infos(ctx, page(Status(status), opts.Topic, after, most-len(all)))
		if err != nil {
			return nil, err
		}
		if all = append(all, found...); len(all) == most {
			break
		}
		after = nil // of the next status all
	}
	return all, nil
}

// page reads timers of a status behind one of them.
func page(status Status, topic string, after *Info, most int) engine.Answering[op.Timer] {
	p := op.TimerPage{At: time.Unix(0, 0), Topic: worker.Optional(topic), Most: most}
	switch status {
	case Scheduled, Claimed:
		if after != nil {
			p.At, p.ID = after.NextAttemptAt, int64(after.Position)
		}
		if status == Scheduled {
			return op.TimerListPending{TimerPage: p}
		}
		return op.TimerListClaimed{TimerPage: p}
	}
	p.At, p.ID = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), math.MaxInt64
	if after != nil {
		p.At, p.ID = after.EndedAt, int64(after.Position)
	}
	return op.TimerListOver{TimerPage: p, Status: slices.Index(op.TimerStatuses(), string(status))}
}

func (t *Timers) infos(ctx context.Context, ask engine.Answering[op.Timer]) ([]Info, error) {
	return engine.QueryAs(ctx, t.db, ask, info)
}

// info is what is known of a timer as it is stored; unread is why not all of it can be
// read. It is an error if nothing can.
func info(t *op.Timer, unread error) (Info, error) {
	if unread != nil && t.ID == 0 {
		return Info{}, unread
	}
	i := Info{
		Timer: Timer{
			ID: t.TimerID, Key: worker.Value(t.Key), Due: t.DueTime.UTC(), Topic: t.Topic, Payload: t.Payload, CorrelationID: worker.Value(t.CorrelationID),
			Queue: t.Queue, Priority: t.Priority,
		},
		Position: outbox.Position(t.ID), Status: Status(op.TimerStatuses().Word(int64(t.Status))), NextAttemptAt: t.At.UTC(), RetryCount: t.RetryCount, LastError: worker.Value(t.LastError),
		Owner: worker.Value(t.Owner), LockedUntil: worker.Value(t.LockedUntil).UTC(), CreatedAt: t.CreatedAt.UTC(), EndedAt: worker.Value(t.ProcessedAt).UTC(),
	}
	i.Unreadable = engine.UnreadableText(unread, engine.CleanText("topic", &i.Topic), engine.CleanText("correlation id", &i.CorrelationID), engine.CleanText("key", &i.Key),
		engine.CleanTime("due time", &i.Due), engine.CleanTime("next attempt", &i.NextAttemptAt), engine.CleanTime("time of creation", &i.CreatedAt),
		engine.CleanTime("end of the lease", &i.LockedUntil), engine.CleanTime("end", &i.EndedAt))
	if t.Headers != nil && json.Unmarshal([]byte(*t.Headers), &i.Headers) != nil {
		i.Headers = map[string]string{"": *t.Headers} // another program's
	}
	i.Headers, i.OrderingKey = ordering.Take(i.Headers)
	if rest, at, err := expiry.Take(i.Headers); err == nil {
		i.Headers, i.Expires = rest, at
	}
	return i, nil
}
