package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Status is where a message is in its life.
type Status string

// The states of a message.
const (
	Ready      Status = "ready"     // waiting: due now, scheduled or retrying
	InProgress Status = "running"   // under a lease
	Done       Status = "done"      // handled
	Failed     Status = "failed"    // failed for good: redrive or discard it
	Discarded  Status = "discarded" // given up after it failed, cancelled before it ran, or a pending run of a job that was removed
	Expired    Status = "expired"   // not handled before the time at which it expired
	// Scheduled is Ready but not due yet, and no attempt counts as failed. It is only used to list.
	Scheduled Status = "scheduled"
	// Retrying is Ready but not due yet after an attempt that failed. It is only used to list.
	Retrying Status = "retrying"
)

// Info is a message with its state. Owner is that of its claim, if it is in progress.
type Info struct {
	Message
	Status        Status    `json:"status"`
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"` // when it may be, or became, claimable
	LockedUntil   time.Time `json:"locked_until,omitzero"`    // end of its lease, if it is in progress
	ProcessedAt   time.Time `json:"processed_at,omitzero"`    // when it was handled
	ProcessedBy   string    `json:"processed_by,omitempty"`
	LastError     string    `json:"last_error,omitempty"`
	// Unreadable says what of the message cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string `json:"unreadable,omitempty"`
	Redrives   int    `json:"redrives,omitempty"` // how often it was redriven
	// UniqueUntil is when the period of UniqueKey ends, if it has one: until then at least the key is
	// remembered. Get and Find read it and UniqueKey, lists do not; UniqueKey is "" when a later
	// message has taken the key.
	UniqueUntil time.Time `json:"unique_until,omitzero"`
}

// ErrNotFound is returned when there is no such message, or it was deleted.
var ErrNotFound = errors.New("message not found")

// GetByPosition returns the message at a position, or ErrNotFound.
func (o *Outbox) GetByPosition(ctx context.Context, id Position) (*Info, error) {
	i, err := o.read(ctx, op.OutboxGet{ID: int64(id)})
	if err == nil && i == nil {
		err = fmt.Errorf("%w: %d", ErrNotFound, id)
	}
	return i, err
}

// Get returns the message with an id, or ErrNotFound. Ids that pawl made carry the position;
// supplied ones are indexed.
func (o *Outbox) Get(ctx context.Context, id MessageID) (*Info, error) {
	if position, _, ok := id.position(); ok {
		i, err := o.read(ctx, op.OutboxGet{ID: position})
		if err != nil || i != nil && i.ID == id {
			return i, err
		}
	}
	i, err := o.read(ctx, op.OutboxFind{MessageID: id})
	if err == nil && i == nil {
		err = fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return i, err
}

// read returns the message that was found; nil if there is none.
func (o *Outbox) read(ctx context.Context, find engine.Answering[op.OutboxFound]) (found *Info, err error) {
	c := engine.Each(find, func(row *op.OutboxFound, unread error) error {
		i, err := infoOf(&row.OutboxItem, unread)
		i.UniqueKey, i.UniqueUntil = worker.Value(row.UniqueKey), worker.Value(row.UniqueUntil).UTC()
		found = &i
		return err
	})
	c.Reset = func() { found = nil }
	if err = o.db.Read(ctx, c); err != nil {
		return nil, err
	}
	return found, nil
}

func (o *Outbox) infos(ctx context.Context, read engine.Answering[op.OutboxItem]) ([]Info, error) {
	return engine.QueryAs(ctx, o.db, read, infoOf)
}

// infoOf is what is known of a message as it is stored; unread is why not all of it can
// be read. It is an error if nothing can.
func infoOf(row *op.OutboxItem, unread error) (Info, error) {
	if row.ID == 0 && unread != nil {
		return Info{}, unread
	}
	i := Info{
		Status: Status(op.OutboxStatuses().Word(row.Status)), NextAttemptAt: row.NextAttemptAt.UTC(), LockedUntil: worker.Value(row.LockedUntil).UTC(),
		ProcessedAt: worker.Value(row.ProcessedAt).UTC(), ProcessedBy: worker.Value(row.ProcessedBy), LastError: worker.Value(row.LastError), Redrives: row.Redrives,
	}
	unread = errors.Join(unread, engine.CleanTime("next attempt", &i.NextAttemptAt), engine.CleanTime("end of the lease", &i.LockedUntil),
		engine.CleanTime("time of processing", &i.ProcessedAt))
	if fault := i.fill(&row.OutboxMessage, unread); fault != nil {
		i.Unreadable = fault.Error()
	}
	i.Owner = worker.Value(row.OwnerToken)
	return i, nil
}

// Attempts returns the failed attempts of a message that are kept, oldest first: the last
// Options.KeptAttempts ones. There are none of a message that succeeded at once, and of one that
// does not exist.
func (o operator) Attempts(ctx context.Context, id Position) ([]acts.Attempt, error) {
	return engine.QueryAs(ctx, o.db, op.OutboxAttempts{ID: int64(id)}, func(row *op.OutboxAttempt, unread error) (acts.Attempt, error) {
		return acts.Attempt{Number: row.Attempt, EndedAt: row.EndedAt.UTC(), Worker: worker.Value(row.Worker), Error: worker.Value(row.Error)}, unread
	})
}

// Counts are sums over an outbox. They are computed from runs, so they are cheap unless there are
// many single messages.
type Counts struct {
	Ready      int64 `json:"ready"` // due now
	Scheduled  int64 `json:"scheduled"`
	Retrying   int64 `json:"retrying"`
	InProgress int64 `json:"running"`
	Done       int64 `json:"done"`
	Failed     int64 `json:"failed"`
	Discarded  int64 `json:"discarded"`
	Expired    int64 `json:"expired"`
}

// Count returns how many messages are in each state.
func (o *Outbox) Count(ctx context.Context) (Counts, error) {
	c, _, err := engine.Get(ctx, o.db, op.OutboxCounts{})
	return Counts{Ready: c.Ready, Scheduled: c.Scheduled, Retrying: c.Retrying, InProgress: c.Claimed, Done: c.Done, Failed: c.Failed, Discarded: c.Discarded, Expired: c.Expired}, err
}
