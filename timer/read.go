package timer

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/work"
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
	Position    outbox.WorkItemID // of the message that it becomes
	Status      Status
	NextAttempt time.Time // when it can be taken: Due or, after a failed attempt, later
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
	found, err := t.infos(ctx, "timer/get", ref(id)...)
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
	found, err := t.infos(ctx, "timer/find", key)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: key %q", ErrNotFound, key)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// ListFilter selects timers. The zero value lists the 100 that fire next.
type ListFilter struct {
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
func (t *Timers) List(ctx context.Context, f ListFilter) ([]*Info, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	var topic *string
	if f.Topic != "" {
		topic = &f.Topic
	}
	args := []any{time.Unix(0, 0), int64(0), topic, min(f.Limit, maxList)}
	if f.After != nil {
		args[0], args[1] = f.After.NextAttempt, int64(f.After.Position)
	}
	switch f.Status {
	case Scheduled:
		return t.infos(ctx, "timer/list_pending", args...)
	case Claimed:
		return t.infos(ctx, "timer/list_claimed", args...)
	case Fired, Failed, Cancelled:
		args[0], args[1] = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), int64(math.MaxInt64)
		if f.After != nil {
			args[0], args[1] = f.After.EndedAt, int64(f.After.Position)
		}
		return t.infos(ctx, "timer/list_over", append(args, int(f.Status))...)
	}
	return nil, engine.Invalid("status", "%v is none", f.Status)
}

func (t *Timers) infos(ctx context.Context, op string, args ...any) (found []*Info, err error) {
	c := infoCall(&found, op, args...)
	return found, t.db.Read(ctx, c)
}

// infoCall collects the timers that an operation answers with.
func infoCall(found *[]*Info, op string, args ...any) *engine.Call {
	return &engine.Call{
		Op: op, Args: args,
		Reset: func() { *found = (*found)[:0] },
		Each: func(r engine.Row) error {
			i, err := scan(r)
			*found = append(*found, i)
			return err
		},
	}
}

func scan(r engine.Row) (*Info, error) {
	i := &Info{}
	var key, correlation, headers, lastError *string
	var owner *[16]byte
	var locked, ended *time.Time
	err := r.Scan((*int64)(&i.Position), (*[16]byte)(&i.ID), &key, (*int)(&i.Status), &i.Due, &i.NextAttempt, &i.RetryCount, &owner, &locked,
		&i.Topic, &correlation, &headers, &i.Payload, &i.CreatedAt, &ended, &lastError, &i.Queue, &i.Priority)
	if err != nil && i.Position == 0 {
		return i, err
	}
	i.Key, i.CorrelationID, i.LastError = work.Value(key), work.Value(correlation), work.Value(lastError)
	i.LockedUntil, i.EndedAt = work.Value(locked).UTC(), work.Value(ended).UTC()
	i.Due, i.NextAttempt, i.CreatedAt = i.Due.UTC(), i.NextAttempt.UTC(), i.CreatedAt.UTC()
	i.Owner = work.Value(owner)
	fault := engine.Unreadable(err, engine.CleanText("topic", &i.Topic), engine.CleanText("correlation id", &i.CorrelationID), engine.CleanText("key", &i.Key),
		engine.CleanTime("due time", &i.Due), engine.CleanTime("next attempt", &i.NextAttempt), engine.CleanTime("time of creation", &i.CreatedAt),
		engine.CleanTime("end of the lease", &i.LockedUntil), engine.CleanTime("end", &i.EndedAt))
	if fault != nil {
		i.Unreadable = fault.Error()
	}
	if headers != nil && json.Unmarshal([]byte(*headers), &i.Headers) != nil {
		i.Headers = map[string]string{"": *headers} // another program's
	}
	return i, nil
}
