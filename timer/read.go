package timer

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Status is where a timer is in its life (D-70).
type Status int

// The states of a timer. The last three are final.
const (
	Scheduled Status = 0
	Claimed   Status = 1 // being fired by a program that does so itself
	Fired     Status = 2 // its message is in the outbox, or Ack was called
	Failed    Status = 3 // given up by a program that fires timers itself
	Cancelled Status = 4 // or replaced by another of its key
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case Scheduled:
		return "scheduled"
	case Claimed:
		return "claimed"
	case Fired:
		return "fired"
	case Failed:
		return "failed"
	case Cancelled:
		return "cancelled"
	}
	return fmt.Sprintf("status %d", int(s))
}

// Info is a timer with its state. The payload of a fired timer is in its message,
// which has the same id.
type Info struct {
	Timer
	Position    outbox.Position // of the message that it becomes
	Status      Status
	NextAttemptAt time.Time // when it can be taken: Due or, after a failed attempt, later
	RetryCount  int       // failed attempts of those who fire it themselves
	LastError   string
	Owner       outbox.OwnerToken // of the claim; zero: none
	LockedUntil time.Time         // end of the claim's lease
	CreatedAt   time.Time
	EndedAt     time.Time // when it fired, failed or was cancelled; zero: not yet
	// Unreadable says what of the timer cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string
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
	return found[0], nil
}

// Find returns the timer of a key that has not fired yet, or ErrNotFound.
func (t *Timers) Find(ctx context.Context, key string) (*Info, error) {
	found, err := t.infos(ctx, op.TimerFind{Key: key})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: key %q", ErrNotFound, key)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// ListFilter selects timers. The zero value lists the 100 that fire next.
type ListOptions struct {
	Status Status
	Topic  string // "": any
	After  *Info  // behind this one in the list, to page on; nil: from the beginning
	Limit  int    // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

// List returns timers of a status: those that are over latest first, the others
// in the order in which they fire.
func (t *Timers) List(ctx context.Context, f ListOptions) ([]*Info, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	var topic *string
	if f.Topic != "" {
		topic = &f.Topic
	}
	page := op.TimerPage{At: time.Unix(0, 0), Topic: topic, Most: min(f.Limit, maxList)}
	if f.After != nil {
		page.At, page.ID = f.After.NextAttemptAt, int64(f.After.Position)
	}
	switch f.Status {
	case Scheduled:
		return t.infos(ctx, op.TimerListPending{TimerPage: page})
	case Claimed:
		return t.infos(ctx, op.TimerListClaimed{TimerPage: page})
	case Fired, Failed, Cancelled:
		page.At, page.ID = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), math.MaxInt64
		if f.After != nil {
			page.At, page.ID = f.After.EndedAt, int64(f.After.Position)
		}
		return t.infos(ctx, op.TimerListOver{TimerPage: page, Status: int(f.Status)})
	}
	return nil, engine.Invalid("status", "%v is none", f.Status)
}

func (t *Timers) infos(ctx context.Context, ask engine.Answering[op.Timer]) (found []*Info, err error) {
	err = t.db.Read(ctx, infoCall(&found, ask))
	return found, err
}

// infoCall collects the timers that an operation answers with.
func infoCall(found *[]*Info, ask engine.Answering[op.Timer]) *engine.Call {
	c := engine.Each(ask, func(row *op.Timer, unread error) error {
		if unread != nil && row.ID == 0 {
			return unread
		}
		*found = append(*found, info(row, unread))
		return nil
	})
	c.Reset = func() { *found = (*found)[:0] }
	return c
}

// info is what is known of a timer as it is stored; unread is why not all of it can be
// read.
func info(t *op.Timer, unread error) *Info {
	i := &Info{
		Timer: Timer{
			ID: t.TimerID, Key: worker.Value(t.Key), Due: t.DueTime.UTC(), Topic: t.Topic, Payload: t.Payload, CorrelationID: worker.Value(t.CorrelationID),
			Queue: t.Queue, Priority: t.Priority,
		},
		Position: outbox.Position(t.ID), Status: Status(t.Status), NextAttemptAt: t.At.UTC(), RetryCount: t.RetryCount, LastError: worker.Value(t.LastError),
		Owner: worker.Value(t.Owner), LockedUntil: worker.Value(t.LockedUntil).UTC(), CreatedAt: t.CreatedAt.UTC(), EndedAt: worker.Value(t.ProcessedAt).UTC(),
	}
	fault := engine.Unreadable(unread, engine.CleanText("topic", &i.Topic), engine.CleanText("correlation id", &i.CorrelationID), engine.CleanText("key", &i.Key),
		engine.CleanTime("due time", &i.Due), engine.CleanTime("next attempt", &i.NextAttemptAt), engine.CleanTime("time of creation", &i.CreatedAt),
		engine.CleanTime("end of the lease", &i.LockedUntil), engine.CleanTime("end", &i.EndedAt))
	if fault != nil {
		i.Unreadable = fault.Error()
	}
	if t.Headers != nil && json.Unmarshal([]byte(*t.Headers), &i.Headers) != nil {
		i.Headers = map[string]string{"": *t.Headers} // another program's
	}
	return i
}
