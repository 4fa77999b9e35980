package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Status is the state of a message.
type Status int

// The states of a message.
const (
	Ready      Status = 0 // waiting: due now, or scheduled
	InProgress Status = 1 // under a lease
	Done       Status = 2 // handled
	Failed     Status = 3 // failed for good: redrive or discard it
	Discarded  Status = 4 // discarded after it failed, cancelled before it ran, or a pending run of a deleted job
	// Scheduled is Ready but not due yet. It is only used in filters.
	Scheduled Status = 5
)

// String returns the status as text.
func (s Status) String() string {
	names := []string{"ready", "in progress", "done", "failed", "discarded", "scheduled"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("status %d", int(s))
	}
	return names[s]
}

// Info is a message with its state.
type Info struct {
	Message
	Status        Status
	NextAttemptAt time.Time   // when it becomes, or became, claimable
	LockedUntil   *time.Time  // end of its lease, if it is in progress
	OwnerToken    *OwnerToken // of its claim, if it is in progress
	ProcessedAt   *time.Time
	ProcessedBy   string
	LastError     string
	// Unreadable describes fields that could not be read, and are missing here, because
	// another program wrote them; "" if there are none.
	Unreadable string
	Redrives   int // how often it was redriven
}

// IsProcessed reports whether the message was handled.
func (i *Info) IsProcessed() bool { return i.Status == Done }

// ErrNotFound is returned when there is no such message, or it was deleted.
var ErrNotFound = errors.New("message not found")

// Get returns the message at a position, or ErrNotFound.
func (o *Outbox) Get(ctx context.Context, id Position) (*Info, error) {
	found, err := o.infos(ctx, op.OutboxGet{ID: int64(id)})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %d", ErrNotFound, id)
	}
	return found[0], nil
}

// Find returns the message with an id, or ErrNotFound. Ids that pawl made carry the position;
// supplied ones are indexed.
func (o *Outbox) Find(ctx context.Context, id MessageID) (*Info, error) {
	if position, _, ok := id.position(); ok {
		found, err := o.infos(ctx, op.OutboxGet{ID: position})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && found[0].ID == id {
			return found[0], nil
		}
	}
	found, err := o.infos(ctx, op.OutboxFind{MessageID: id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return found[0], nil
}

func (o *Outbox) infos(ctx context.Context, read engine.Answering[op.OutboxItem]) (all []*Info, err error) {
	c := engine.Each(read, func(row *op.OutboxItem, unread error) error {
		i, err := infoOf(row, unread)
		all = append(all, i)
		return err
	})
	c.Reset = func() { all = nil }
	err = o.db.Read(ctx, c)
	return all, err
}

func infoOf(row *op.OutboxItem, err error) (*Info, error) {
	if row.ID == 0 && err != nil {
		return nil, err
	}
	i := &Info{NextAttemptAt: row.NextAttemptAt, ProcessedBy: worker.Value(row.ProcessedBy), LastError: worker.Value(row.LastError), Redrives: row.Redrives}
	i.Status, i.LockedUntil, i.ProcessedAt = Status(row.Status), utc(row.LockedUntil), utc(row.ProcessedAt)
	i.NextAttemptAt = i.NextAttemptAt.UTC()
	err = errors.Join(err, engine.CleanTime("next attempt", &i.NextAttemptAt), engine.CleanTime("end of the lease", i.LockedUntil),
		engine.CleanTime("time of processing", i.ProcessedAt))
	if fault := i.fill(&row.OutboxMessage, err); fault != nil {
		i.Unreadable = fault.Error()
	}
	if row.OwnerToken != nil {
		token := OwnerToken(*row.OwnerToken)
		i.OwnerToken = &token
	}
	return i, nil
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Counts are sums over an outbox. They are computed from runs, so they are cheap unless there are
// many single messages.
type Counts struct {
	Ready, Scheduled, InProgress, Done, Failed, Discarded int64
}

// Count returns how many messages are in each state.
func (o *Outbox) Count(ctx context.Context) (Counts, error) {
	c, _, err := engine.Get(ctx, o.db, op.OutboxCounts{})
	return Counts{Ready: c.Ready, Scheduled: c.Scheduled, InProgress: c.Claimed, Done: c.Done, Failed: c.Failed, Discarded: c.Discarded}, err
}
