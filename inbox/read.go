package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/engine"
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
	found, err := i.read(ctx, "inbox/get", source, messageID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s/%s", ErrNotFound, source, messageID)
	}
	return found[0], nil
}

// Filter selects messages. The zero value lists the first 100.
type Filter struct {
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
func (i *Inbox) List(ctx context.Context, f Filter) ([]*Info, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	args := []any{f.After.Source, f.After.MessageID, min(f.Limit, maxList)}
	var status, idle any
	if f.Status != "" {
		status = string(f.Status)
	}
	if f.Idle > 0 {
		idle = f.Idle
	}
	// What people look for in a large inbox has an index of its own.
	switch {
	case f.Source != "":
		return i.read(ctx, "inbox/list_source", append(args, status, idle, f.Source)...)
	case f.Status == Dead && idle == nil:
		return i.read(ctx, "inbox/list_dead", args...)
	case f.Status == Processing && idle != nil:
		return i.read(ctx, "inbox/list_processing", append(args, idle)...)
	}
	return i.read(ctx, "inbox/list", append(args, status, idle)...)
}

// Stuck returns messages that are being processed and were neither delivered nor
// marked for StuckAfter, at most 100.
func (i *Inbox) Stuck(ctx context.Context) ([]*Info, error) {
	return i.List(ctx, Filter{Status: Processing, Idle: StuckAfter})
}

func (i *Inbox) read(ctx context.Context, op string, args ...any) ([]*Info, error) {
	var all []*Info
	err := i.db.Read(ctx, &engine.Call{Op: op, Args: args, Reset: func() { all = nil }, Each: func(r engine.Row) error {
		var m Info
		var status string
		var processed, locked *time.Time
		var lastError *string
		err := r.Scan(&m.Source, &m.MessageID, &m.Hash, &m.FirstSeenAt, &m.LastSeenAt, &processed, &m.Deliveries, &m.Attempts, &m.Mismatches,
			&status, &lastError, &locked)
		m.Status, m.FirstSeenAt, m.LastSeenAt = Status(status), m.FirstSeenAt.UTC(), m.LastSeenAt.UTC()
		if processed != nil {
			m.ProcessedAt = processed.UTC()
		}
		if locked != nil {
			m.LockedUntil = locked.UTC()
		}
		if lastError != nil {
			m.LastError = *lastError
		}
		fault := engine.Unreadable(err, engine.CleanText("source", &m.Source), engine.CleanText("message id", &m.MessageID),
			engine.CleanTime("first seen", &m.FirstSeenAt), engine.CleanTime("last seen", &m.LastSeenAt), engine.CleanTime("time of processing", &m.ProcessedAt),
			engine.CleanTime("end of the lease", &m.LockedUntil))
		if fault != nil {
			m.Unreadable = fault.Error()
		}
		all = append(all, &m)
		return nil
	}})
	return all, err
}
