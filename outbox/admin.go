package outbox

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// Operators' actions on messages. Each change is recorded in the audit trail, in the transaction
// that makes it; see admin.WithActor for the actor.

// FailedFilter selects failed messages. The zero value selects all of them.
type FailedFilter struct {
	IDs   []Position // nil: any
	Topic string     // "": any
	Queue string     // "": any
	Error string     // part of the last error, as it is written; "": any
	// Since and Before bound when they failed, by the database's clock; zero: any.
	Since, Before time.Time
	Limit         int // 0: no limit
	// Rate is how many to change a second, so as not to overload what they need; 0: no limit.
	Rate int
	// EndedSteps, if not nil, is set to how many of the messages are failed steps of joins that have
	// failed. Redriven by themselves they run again, and their joins stay failed: see
	// join.Joins.Redrive.
	EndedSteps *int64
}

// target says what the filter selects, for the audit trail.
func (f *FailedFilter) target() string {
	parts := []string{"failed messages"}
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(f.IDs) == 1 {
		parts[0] = fmt.Sprintf("failed message %d", f.IDs[0])
	} else if f.IDs != nil {
		parts[0] = fmt.Sprintf("%d failed messages", len(f.IDs))
	}
	if f.Topic != "" {
		say("of topic %s", f.Topic)
	}
	if f.Queue != "" {
		say("in queue %s", f.Queue)
	}
	if f.Error != "" {
		say("with error %q", f.Error)
	}
	if !f.Since.IsZero() {
		say("since %s", f.Since.UTC().Format(time.RFC3339))
	}
	if !f.Before.IsZero() {
		say("before %s", f.Before.UTC().Format(time.RFC3339))
	}
	return strings.Join(parts, " ")
}

// maxErrorPart is the length limit of a part of an error, in characters: longer than any error
// that is stored.
const maxErrorPart = 4096

func (f *FailedFilter) validate() error {
	if f.Rate < 0 {
		return engine.Invalid("rate", "negative")
	}
	if f.Limit < 0 {
		return engine.Invalid("limit", "negative")
	}
	return cmp.Or(
		engine.CheckText("topic", f.Topic, limits.Topic, false), engine.CheckText("queue", f.Queue, limits.Queue, false),
		engine.CheckText("error", f.Error, maxErrorPart, false))
}

// Redrive makes failed messages ready again: due now, no attempts counted. Messages in other
// states are ignored. It works through many in bounded transactions and returns how many it
// redrove, also with an error. Joins that have ended do not count them again; see
// FailedFilter.EndedSteps.
func (o *Outbox) Redrive(ctx context.Context, f FailedFilter) (int64, error) {
	note := audit.New(ctx, f.target()).Op()
	n, err := o.eachFailed(ctx, f, o.db.Do, func(d op.DeadFilter) engine.Answering[op.Dead] { return op.OutboxRedrive{DeadFilter: d, Note: note} })
	if n > 0 {
		o.log.InfoContext(ctx, "redrove failed messages", "count", n, "topic", f.Topic)
	}
	return n, err
}

// Discard discards failed messages: they are kept for the retention period as discarded, then
// deleted. See Redrive for the rest.
func (o *Outbox) Discard(ctx context.Context, f FailedFilter) (int64, error) {
	note := audit.New(ctx, f.target()).Op()
	n, err := o.eachFailed(ctx, f, o.db.Do, func(d op.DeadFilter) engine.Answering[op.Dead] { return op.OutboxDiscard{DeadFilter: d, Note: note} })
	if n > 0 {
		o.log.InfoContext(ctx, "discarded failed messages", "count", n, "topic", f.Topic)
	}
	return n, err
}

// CountFailed returns how many messages Redrive or Discard would change.
func (o *Outbox) CountFailed(ctx context.Context, f FailedFilter) (int64, error) {
	if err := f.validate(); err != nil {
		return 0, err
	}
	f.Rate = 0
	read := func(ctx context.Context, calls ...*engine.Call) error { return o.db.Read(ctx, calls[0]) }
	return o.eachFailed(ctx, f, read, func(d op.DeadFilter) engine.Answering[op.Dead] { return op.OutboxCountDead{DeadFilter: d} })
}

// failedPage is Outbox.failedPage, except in tests.
const failedPage = 10_000

// eachFailed runs an operation on the messages of a filter, page by page.
func (o *Outbox) eachFailed(ctx context.Context, f FailedFilter, run func(context.Context, ...*engine.Call) error, do func(op.DeadFilter) engine.Answering[op.Dead]) (total int64, err error) {
	if err := f.validate(); err != nil {
		return 0, err
	}
	filter := op.DeadFilter{
		IDs: positions(f.IDs), Topic: worker.Optional(f.Topic), Queue: worker.Optional(f.Queue), Error: worker.Optional(f.Error),
		Since: optionalTime(f.Since), Before: optionalTime(f.Before), Look: o.failedPage,
	}
	ended := f.EndedSteps
	if ended == nil {
		ended = new(int64)
	}
	*ended = 0
	for last := new(int64); last != nil; {
		filter.After, filter.Most = *last, int64(chunk)
		if f.Limit > 0 {
			filter.Most = min(filter.Most, int64(f.Limit)-total)
		}
		if f.Rate > 0 {
			filter.Most = min(filter.Most, int64(f.Rate))
		}
		var dead op.Dead
		if err := run(ctx, engine.One(do(filter), &dead)); err != nil {
			return total, err
		}
		n := dead.N
		*ended += dead.Ended
		last = dead.Last
		if total += n; f.Limit > 0 && total >= int64(f.Limit) {
			break
		}
		if f.Rate > 0 && last != nil {
			if err := engine.Sleep(ctx, time.Duration(n)*time.Second/time.Duration(f.Rate)); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// positions converts ids for operations; nil stays nil, which is any.
func positions(ids []Position) []int64 {
	if ids == nil {
		return nil
	}
	all := make([]int64, len(ids))
	for i, id := range ids {
		all[i] = int64(id)
	}
	return all
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Cancel takes messages back that have not run: they count as discarded, with the
// reason as their error, and as failed steps of their joins. Messages that a
// worker holds, or that are over, are left alone. It returns how many it
// cancelled, also with an error.
func (o *Outbox) Cancel(ctx context.Context, reason string, ids ...Position) (int64, error) {
	if err := engine.CheckText("reason", reason, limits.Reason, false); err != nil {
		return 0, err
	}
	ctx = audit.WithReason(ctx, reason)
	if reason == "" {
		reason = "cancelled"
	}
	return o.eachChunk(ctx, "cancel", ids, func(ids []int64, note op.Note) engine.Operation {
		return op.OutboxCancel{IDs: ids, Reason: reason, Note: note}
	})
}

// Reschedule changes the due time of messages that have not run, those that wait for a retry
// included; zero or past: now. Messages that are claimed, or have ended, are ignored. It returns
// how many it moved, also with an error.
func (o *Outbox) Reschedule(ctx context.Context, due time.Time, ids ...Position) (int64, error) {
	if err := engine.CheckDue("due time", due); err != nil {
		return 0, err
	}
	at := engine.Due(&due)
	return o.eachChunk(ctx, "reschedule", ids, func(ids []int64, note op.Note) engine.Operation {
		return op.OutboxReschedule{IDs: ids, Due: at, Note: note}
	})
}

// withdrawChunk bounds how many messages one transaction removes from their runs.
const withdrawChunk = 1000

func (o *Outbox) eachChunk(ctx context.Context, action string, ids []Position, do func(ids []int64, note op.Note) engine.Operation) (total int64, err error) {
	what := fmt.Sprintf("%d messages", len(ids))
	if len(ids) == 1 {
		what = fmt.Sprintf("message %d", ids[0])
	}
	note := audit.New(ctx, what).Op()
	all := positions(ids)
	for len(all) > 0 {
		n := min(len(all), withdrawChunk)
		changed, err := engine.Exec(ctx, o.db, nil, do(all[:n], note))
		if err != nil {
			return total, err
		}
		total, all = total+changed, all[n:]
	}
	if total > 0 {
		o.log.InfoContext(ctx, "changed messages that had not run", "action", action, "count", total)
	}
	return total, nil
}
