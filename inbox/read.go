package inbox

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Info is a message of the inbox with its state.
type Info struct {
	Key
	Status      Status    `json:"status"`
	FirstSeenAt time.Time `json:"first_seen_at,omitzero"`
	LastSeenAt  time.Time `json:"last_seen_at,omitzero"`
	ProcessedAt time.Time `json:"processed_at,omitzero"` // zero: not done
	Deliveries  int64     `json:"deliveries"`            // how often it was delivered
	Attempts    int       `json:"attempts"`              // how often it was processed
	Mismatches  int       `json:"mismatches"`            // deliveries with another hash
	LastError   string    `json:"last_error,omitempty"`
	LockedUntil time.Time `json:"locked_until,omitzero"` // end of the attempt's lease; zero: none
	// Unreadable says what of the message cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string `json:"unreadable,omitempty"`
}

// Get returns the message with the source and id of a key, or ErrNotFound.
func (i *Inbox) Get(ctx context.Context, k Key) (*Info, error) {
	found, err := i.read(ctx, op.InboxGet{InboxKey: k.op()})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, &k)
	}
	return &found[0], nil
}

// ListOptions select messages. The zero value lists all.
type ListOptions struct {
	Status Status        // "": any
	Source string        // "": any
	Idle   time.Duration // not seen for so long; 0: any

	After *Info // only messages that follow this one: its Key counts; nil: from the beginning
}

// List returns messages by source and id, which it reads while they are iterated over. An error is
// the last item.
func (i *Inbox) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Pages(opts.After, func(last *Info, most int) ([]Info, error) {
		if s := opts.Status; s != "" && s != Seen && s != Processing && s != Done && s != Dead {
			return nil, engine.Invalid("status", "not one of %q", []Status{Seen, Processing, Done, Dead})
		}
		var after op.InboxKey
		if last != nil {
			after = last.op()
		}
		status := worker.Optional(string(opts.Status))
		idle := worker.Optional(max(opts.Idle, 0))
		// The usual filters of a large inbox have indexes.
		switch {
		case opts.Source != "":
			return i.read(ctx, op.InboxListSource{Source: opts.Source, Status: status, Idle: idle, After: after, Most: most})
		case opts.Status == Dead && idle == nil:
			return i.read(ctx, op.InboxListDead{After: after, Most: most})
		case opts.Status == Processing && idle != nil:
			return i.read(ctx, op.InboxListProcessing{Idle: opts.Idle, After: after, Most: most})
		}
		return i.read(ctx, op.InboxList{Status: status, Idle: idle, After: after, Most: most})
	})
}

func (i *Inbox) read(ctx context.Context, o engine.Answering[op.InboxMessage]) ([]Info, error) {
	return engine.QueryAs(ctx, i.db, o, func(m *op.InboxMessage, unread error) (Info, error) { return info(m, unread), nil })
}

// info is what is known of a message as it is stored, as far as that could be read.
func info(m *op.InboxMessage, unread error) Info {
	i := Info{
		Key: Key{Source: m.Source, MessageID: m.MessageID, Hash: m.Hash}, Status: Status(m.Status), FirstSeenAt: m.FirstSeenUTC.UTC(), LastSeenAt: m.LastSeenUTC.UTC(),
		ProcessedAt: worker.Value(m.ProcessedUTC).UTC(), Deliveries: m.Deliveries, Attempts: m.Attempts, Mismatches: m.Mismatches,
		LastError: worker.Value(m.LastError), LockedUntil: worker.Value(m.LockedUntilUTC).UTC(),
	}
	i.Unreadable = engine.UnreadableText(unread, engine.CleanText("source", &i.Source), engine.CleanText("message id", &i.MessageID),
		engine.CleanTime("first seen", &i.FirstSeenAt), engine.CleanTime("last seen", &i.LastSeenAt), engine.CleanTime("time of processing", &i.ProcessedAt),
		engine.CleanTime("end of the lease", &i.LockedUntil))
	return i
}
