package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
)

// Status is where a message is in its life.
type Status string

// The states of a message, named as in the seed.
const (
	Seen       Status = "Seen"       // known, to be processed
	Processing Status = "Processing" // an attempt is under way
	Done       Status = "Done"
	Dead       Status = "Dead" // given up; see Revive
)

// AlreadyProcessed notes a delivery and reports whether the message is done. It
// is no lock: two deliveries at once both hear false, so prefer Once. Errors:
// ErrHashMismatch, and ErrDead for a message that was given up.
func (i *Inbox) AlreadyProcessed(ctx context.Context, k Key) (bool, error) {
	return i.see(ctx, nil, k)
}

// AlreadyProcessedTx is AlreadyProcessed in the caller's transaction, which holds
// the message until it ends: of two at once the second waits for the first.
func (i *Inbox) AlreadyProcessedTx(ctx context.Context, tx outbox.Tx, k Key) (bool, error) {
	if tx == nil {
		return false, engine.Invalid("transaction", "nil")
	}
	return i.see(ctx, tx, k)
}

func (i *Inbox) see(ctx context.Context, tx outbox.Tx, k Key) (bool, error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	call := &engine.Call{Op: "inbox/see", Args: k.args(k.hash())}
	if err := i.do(ctx, tx, call); err != nil {
		return false, err
	}
	if call.N == verdictInProgress { // it says no more than that it is not done
		return false, nil
	}
	return call.N == verdictDone, judge(&k, call.N)
}

func (i *Inbox) do(ctx context.Context, tx outbox.Tx, call *engine.Call) error {
	if tx == nil {
		return i.db.Do(ctx, call)
	}
	return i.db.DoTx(ctx, tx, call)
}

// MarkProcessing says that an attempt begins, which counts. It returns false for
// a message that was never seen, or is done or dead: marks are final.
func (i *Inbox) MarkProcessing(ctx context.Context, k Key) (bool, error) {
	return i.mark(ctx, nil, k, Processing)
}

// MarkProcessed says that a message is done. See MarkProcessing for the answer.
func (i *Inbox) MarkProcessed(ctx context.Context, k Key) (bool, error) {
	return i.mark(ctx, nil, k, Done)
}

// MarkProcessedTx is MarkProcessed in the caller's transaction.
func (i *Inbox) MarkProcessedTx(ctx context.Context, tx outbox.Tx, k Key) (bool, error) {
	if tx == nil {
		return false, engine.Invalid("transaction", "nil")
	}
	return i.mark(ctx, tx, k, Done)
}

// MarkDead gives a message up. See MarkProcessing for the answer.
func (i *Inbox) MarkDead(ctx context.Context, k Key) (bool, error) {
	return i.mark(ctx, nil, k, Dead)
}

func (i *Inbox) mark(ctx context.Context, tx outbox.Tx, k Key, s Status) (bool, error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	call := &engine.Call{Op: "inbox/mark", Args: k.args(string(s))}
	err := i.do(ctx, tx, call)
	return err == nil && call.N > 0, err
}

// Revive gives a dead message a fresh start: its next delivery is processed, and
// one that was enqueued is handled again at once. It returns false for a message
// that is not dead.
func (i *Inbox) Revive(ctx context.Context, k Key) (bool, error) {
	if err := k.validate(); err != nil {
		return false, err
	}
	call := &engine.Call{Op: "inbox/revive", Args: k.args()}
	if err := i.db.Do(ctx, call); err != nil || call.N == 0 {
		return false, err
	}
	info, err := i.queue.Find(ctx, messageID(&k))
	if errors.Is(err, outbox.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("%s is revived, but whether it waits in the queue is unknown: %w", &k, err)
	}
	_, err = i.queue.Redrive(ctx, outbox.FailedFilter{IDs: []outbox.WorkItemID{info.WorkItemID}})
	return true, err
}

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
	stuckAfter  = time.Hour
)

// List returns messages by source and id.
func (i *Inbox) List(ctx context.Context, f Filter) ([]*Info, error) {
	var source, status, idle any
	if f.Source != "" {
		source = f.Source
	}
	if f.Status != "" {
		status = string(f.Status)
	}
	if f.Idle > 0 {
		idle = f.Idle
	}
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	return i.read(ctx, "inbox/list", source, status, idle, f.After.Source, f.After.MessageID, min(f.Limit, maxList))
}

// Stuck returns messages that have been processing for over an hour, at most 100.
func (i *Inbox) Stuck(ctx context.Context) ([]*Info, error) {
	return i.List(ctx, Filter{Status: Processing, Idle: stuckAfter})
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
		all = append(all, &m)
		return err
	}})
	return all, err
}
