package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Info is what the inbox knows of a message.
type Info struct {
	Key
	Status      Status
	FirstSeenAt time.Time
	LastSeenAt  time.Time
	ProcessedAt time.Time // zero: not done
	Deliveries  int64     // how often it was delivered
	Attempts    int       // how often it was processed
	Mismatches  int       // deliveries with another hash
	LastError   string
	LockedUntil time.Time // end of the attempt's lease; zero: none
	// Unreadable says what of the message cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string
}

// Get returns a message, or ErrNotFound.
func (i *Inbox) Get(ctx context.Context, source, messageID string) (*Info, error) {
	found, err := i.read(ctx, op.InboxGet{InboxKey: op.InboxKey{Source: source, MessageID: messageID}})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s/%s", ErrNotFound, source, messageID)
	}
	return found[0], nil
}

// Filter selects messages. The zero value lists the first 100.
type ListOptions struct {
	Source string        // "": any
	Status Status        // "": any
	Idle   time.Duration // not seen for so long; 0: any
	After  Key           // only sources and ids above, to page on
	Limit  int           // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

// StuckAfter is how long ago a message that is being processed was last heard of
// when it counts as stuck.
const StuckAfter = time.Hour

// List returns messages by source and id.
func (i *Inbox) List(ctx context.Context, f ListOptions) ([]*Info, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	after, most := f.After.op(), min(f.Limit, maxList)
	status := worker.Optional(string(f.Status))
	var idle *time.Duration
	if f.Idle > 0 {
		idle = &f.Idle
	}
	// What people look for in a large inbox has an index of its own.
	switch {
	case f.Source != "":
		return i.read(ctx, op.InboxListSource{Source: f.Source, Status: status, Idle: idle, After: after, Most: most})
	case f.Status == Dead && idle == nil:
		return i.read(ctx, op.InboxListDead{After: after, Most: most})
	case f.Status == Processing && idle != nil:
		return i.read(ctx, op.InboxListProcessing{Idle: f.Idle, After: after, Most: most})
	}
	return i.read(ctx, op.InboxList{Status: status, Idle: idle, After: after, Most: most})
}

// Stuck returns messages that are being processed and were neither delivered nor
// marked for StuckAfter, at most 100.
func (i *Inbox) Stuck(ctx context.Context) ([]*Info, error) {
	return i.List(ctx, ListOptions{Status: Processing, Idle: StuckAfter})
}

func (i *Inbox) read(ctx context.Context, o engine.Answering[op.InboxMessage]) ([]*Info, error) {
	var all []*Info
	c := engine.Each(o, func(m *op.InboxMessage, unread error) error {
		all = append(all, info(m, unread))
		return nil
	})
	c.Reset = func() { all = nil }
	err := i.db.Read(ctx, c)
	return all, err
}

// info is what is known of a message as it is stored, as far as that could be read.
func info(m *op.InboxMessage, unread error) *Info {
	i := &Info{
		Key: Key{Source: m.Source, MessageID: m.MessageID, Hash: m.Hash}, Status: Status(m.Status), FirstSeenAt: m.FirstSeenUTC.UTC(), LastSeenAt: m.LastSeenUTC.UTC(),
		ProcessedAt: worker.Value(m.ProcessedUTC).UTC(), Deliveries: m.Deliveries, Attempts: m.Attempts, Mismatches: m.Mismatches,
		LastError: worker.Value(m.LastError), LockedUntil: worker.Value(m.LockedUntilUTC).UTC(),
	}
	fault := engine.Unreadable(unread, engine.CleanText("source", &i.Source), engine.CleanText("message id", &i.MessageID),
		engine.CleanTime("first seen", &i.FirstSeenAt), engine.CleanTime("last seen", &i.LastSeenAt), engine.CleanTime("time of processing", &i.ProcessedAt),
		engine.CleanTime("end of the lease", &i.LockedUntil))
	if fault != nil {
		i.Unreadable = fault.Error()
	}
	return i
}
