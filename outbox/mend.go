package outbox

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// What operators do to messages. Each change is noted in the audit trail, in the
// transaction that makes it; see audit.WithActor for who did it.

// FailedFilter selects failed messages. The zero value selects all of them.
type FailedFilter struct {
	IDs   []WorkItemID // nil: any
	Topic string       // "": any
	Queue string       // "": any
	Error string       // part of the last error, as it is written; "": any
	// Since and Before bound when they failed, by the database's clock; zero: any.
	Since, Before time.Time
	Limit         int // 0: no limit
	// Rate is how many to change a second, so that what they need is not run over; 0:
	// as fast as can be.
	Rate int
}

// String says what the filter selects, for the audit trail.
func (f *FailedFilter) String() string {
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

// maxErrorPart is how long a part of an error may be, in characters: longer than
// any error that is kept.
const maxErrorPart = 4096

func (f *FailedFilter) validate() error {
	if f.Rate < 0 {
		return engine.Invalid("rate", "negative")
	}
	if f.Limit < 0 {
		return engine.Invalid("limit", "negative")
	}
	return cmp.Or(
		engine.CheckText("topic", f.Topic, MaxTopic, false), engine.CheckText("queue", f.Queue, MaxQueue, false),
		engine.CheckText("error", f.Error, maxErrorPart, false))
}

// Redrive gives failed messages a fresh start: due now, no attempts counted.
// Messages in other states are left alone. It works through many in bounded
// transactions and returns how many it redrove, also with an error.
func (o *Outbox) Redrive(ctx context.Context, f FailedFilter) (int64, error) {
	n, err := o.eachFailed(ctx, "outbox/redrive", f, audit.New(ctx, f.String()).Args()...)
	if n > 0 {
		o.log.InfoContext(ctx, "redrove failed messages", "count", n, "topic", f.Topic)
	}
	return n, err
}

// Discard gives failed messages up: they are kept for the retention period as
// discarded, then deleted. See Redrive for the rest.
func (o *Outbox) Discard(ctx context.Context, f FailedFilter) (int64, error) {
	n, err := o.eachFailed(ctx, "outbox/discard", f, audit.New(ctx, f.String()).Args()...)
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
	return o.eachFailed(ctx, "outbox/count_dead", f)
}

// deadLook is Outbox.deadLook, but in tests.
const deadLook = 10_000

func (o *Outbox) eachFailed(ctx context.Context, op string, f FailedFilter, note ...any) (total int64, err error) {
	if err := f.validate(); err != nil {
		return 0, err
	}
	filter := []any{positions(f.IDs), work.Optional(f.Topic), work.Optional(f.Queue), work.Optional(f.Error), optionalTime(f.Since), optionalTime(f.Before)}
	for last := new(int64); last != nil; {
		most := int64(chunk)
		if f.Limit > 0 {
			most = min(most, int64(f.Limit)-total)
		}
		if f.Rate > 0 {
			most = min(most, int64(f.Rate))
		}
		var n int64
		args := append(append([]any{}, filter...), *last, o.deadLook, most)
		call := &engine.Call{Op: op, Args: append(args, note...), Each: func(r engine.Row) error { return r.Scan(&n, &last) }}
		if err := o.change(ctx, op, call); err != nil {
			return total, err
		}
		if total += n; f.Limit > 0 && total >= int64(f.Limit) {
			break
		}
		if f.Rate > 0 && last != nil {
			if err := engine.Pause(ctx, time.Duration(n)*time.Second/time.Duration(f.Rate)); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// change runs what changes something in a transaction; counting needs none.
func (o *Outbox) change(ctx context.Context, op string, call *engine.Call) error {
	if op == "outbox/count_dead" {
		return o.db.Read(ctx, call)
	}
	return o.db.Do(ctx, call)
}

// positions are ids as operations take them; nil stays nil, which is any.
func positions(ids []WorkItemID) []int64 {
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

// MaxReason is how long the reason of a Cancel may be, in characters.
const MaxReason = 1000

// Cancel takes messages back that have not run: they count as discarded, with the
// reason as their error, and as failed steps of their joins. Messages that a
// worker holds, or that are over, are left alone. It returns how many it
// cancelled, also with an error.
func (o *Outbox) Cancel(ctx context.Context, reason string, ids ...WorkItemID) (int64, error) {
	if err := engine.CheckText("reason", reason, MaxReason, false); err != nil {
		return 0, err
	}
	ctx = audit.WithReason(ctx, reason)
	if reason == "" {
		reason = "cancelled"
	}
	return o.eachChunk(ctx, "outbox/cancel", ids, reason)
}

// Reschedule makes messages due at another time that have not run, those that wait
// for a retry included; zero or past: now. Messages that a worker holds, or
// that are over, are left alone. It returns how many it moved, also with an error.
func (o *Outbox) Reschedule(ctx context.Context, due time.Time, ids ...WorkItemID) (int64, error) {
	if err := engine.CheckDue("due time", due); err != nil {
		return 0, err
	}
	return o.eachChunk(ctx, "outbox/reschedule", ids, engine.Due(&due))
}

// withdrawChunk bounds how many messages one transaction takes out of their runs.
const withdrawChunk = 1000

func (o *Outbox) eachChunk(ctx context.Context, op string, ids []WorkItemID, how any) (total int64, err error) {
	what := fmt.Sprintf("%d messages", len(ids))
	if len(ids) == 1 {
		what = fmt.Sprintf("message %d", ids[0])
	}
	note := audit.New(ctx, what)
	all := positions(ids)
	for len(all) > 0 {
		n := min(len(all), withdrawChunk)
		call := engine.Count(op, append([]any{all[:n], how}, note.Args()...)...)
		if err := o.db.Do(ctx, call); err != nil {
			return total, err
		}
		total, all = total+call.N, all[n:]
	}
	if total > 0 {
		o.log.InfoContext(ctx, "changed messages that had not run", "action", op[len("outbox/"):], "count", total)
	}
	return total, nil
}
