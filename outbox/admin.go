package outbox

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fingerprint"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// Operators' actions on messages. Each change is recorded in the audit trail, in the transaction
// that makes it; see admin.WithActor for the actor.

// FailedFilter selects failed messages and, for Redrive, those that are retrying. The zero value
// selects all of them.
type FailedFilter struct {
	IDs   []Position // nil: any
	Topic string     // "": any
	Queue string     // "": any
	Error string     // part of the last error, as it is written; "": any
	// Fingerprint is that of the last error, as "pawl failures" reports it; "": any.
	Fingerprint string
	// Since and Before bound when the last attempt failed, by the database's clock; zero: any.
	Since  time.Time
	Before time.Time
	Limit  int // 0: no limit
	// Rate is how many to change a second, so as not to overload what they need; 0: no limit. With a
	// rate the call stores the act, and workers work it off.
	Rate int

	discarded bool      // lately, instead of failed
	act       uuid.UUID // that discarded them; zero: any
}

// shown is what operators see of the filter.
func (f *FailedFilter) shown() acts.Filter {
	return acts.Filter{Topic: f.Topic, Queue: f.Queue, Error: f.Error, Fingerprint: f.Fingerprint, Since: f.Since, Before: f.Before, Limit: f.Limit, Rate: f.Rate}
}

// target says what the filter selects, for the audit trail.
func (f *FailedFilter) target() string {
	state := Failed
	if f.discarded {
		state = Discarded
	}
	parts := []string{string(state) + " messages"}
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(f.IDs) == 1 {
		parts[0] = fmt.Sprintf("%s message %d", state, f.IDs[0])
	} else if f.IDs != nil {
		parts[0] = fmt.Sprintf("%d %s messages", len(f.IDs), state)
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
	if f.Fingerprint != "" {
		say("with errors like %q", f.Fingerprint)
	}
	if !f.Since.IsZero() {
		say("since %s", f.Since.UTC().Format(time.RFC3339))
	}
	if !f.Before.IsZero() {
		say("before %s", f.Before.UTC().Format(time.RFC3339))
	}
	if f.act != uuid.Nil {
		say("by act %s", f.act)
	}
	return strings.Join(parts, " ")
}

// maxErrorPart is the length limit of a part of an error, in characters: longer than any error
// that is stored.
const maxErrorPart = 4096

func (f *FailedFilter) validate() error {
	switch {
	case f.Rate < 0:
		return engine.Invalid("rate", "negative")
	case f.Rate > 0 && f.discarded:
		return engine.Invalid("rate", "not for Undiscard")
	case f.Limit < 0:
		return engine.Invalid("limit", "negative")
	}
	return cmp.Or(
		engine.CheckText("topic", f.Topic, limits.Topic, false), engine.CheckText("queue", f.Queue, limits.Queue, false),
		engine.CheckText("error", f.Error, maxErrorPart, false), engine.CheckText("fingerprint", f.Fingerprint, fingerprint.Most, false))
}

// Redrive makes failed messages ready again: due now, no attempts counted. Those that are retrying
// are due now, too, and keep the attempts that they had; they come after the failed ones where there
// is a Limit. With a Rate, which is to spare what they need, they are left to their own delays. Messages in
// other states are ignored. What one transaction cannot do is stored first, as is everything with a Rate:
// see Bulk. With a Rate it returns the stored act at once; processes that run the outbox work it
// off, and without one it waits. Otherwise it returns when all is done, or with an error and how many
// it redrove so far; then those processes do the rest of an act that is stored, unless StopBulk stops
// it. Joins that have ended do not count them again: see join.Joins.Redrive.
func (o *Outbox) Redrive(ctx context.Context, f FailedFilter) (Bulk, error) {
	return short(operator{o}.Redrive(ctx, f))
}

// Redrive makes failed messages ready again.
func (o operator) Redrive(ctx context.Context, f FailedFilter) (acts.Bulk, error) {
	b, err := o.changeFailed(ctx, audit.Redrive, f)
	if err != nil || b.Status != acts.Done {
		return b, err
	}
	ids, err := o.retrying(ctx, &f, b.Changed)
	if err != nil || len(ids) == 0 {
		return b, err
	}
	n, err := o.eachChunk(ctx, audit.Reschedule, strings.Replace(f.target(), "failed", string(Retrying), 1), ids, dueAt(nil))
	b.Total, b.Changed = b.Total+int64(len(ids)), b.Changed+n
	return b, err
}

// retrying returns the messages that a filter selects of those that are retrying, oldest first,
// when so many failed ones were changed.
func (o *Outbox) retrying(ctx context.Context, f *FailedFilter, changed int64) (all []Position, err error) {
	if f.Rate > 0 || f.Limit > 0 && changed >= int64(f.Limit) {
		return nil, nil
	}
	opts := ListOptions{Status: Retrying, Topic: f.Topic, Queue: f.Queue, Error: f.Error, Fingerprint: f.Fingerprint, NoPayload: true, failedSince: f.Since, failedBefore: f.Before}
	for _, id := range f.IDs {
		opts.After = &Info{Message: Message{Position: id + 1}}
		found, _, err := operator{o}.ListSome(ctx, opts, 1, 1)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && found[0].Position == id {
			all = append(all, id)
		}
	}
	if f.IDs == nil {
		all, err = o.allRetrying(ctx, opts)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if f.Limit > 0 {
		all = all[:min(len(all), f.Limit-int(changed))]
	}
	return all, err
}

// allRetrying lists messages that are retrying. That reads all that waits, so it first asks an index
// of what is due later whether there are any.
func (o *Outbox) allRetrying(ctx context.Context, opts ListOptions) (all []Position, err error) {
	later, err := engine.Query(ctx, o.db, op.BacklogMessages{Runs: listWindow, Messages: 1, Lanes: math.MaxInt32})
	if !slices.ContainsFunc(later, func(a op.BacklogAmount) bool { return a.State == string(Retrying) && (a.N > 0 || a.More) }) {
		return nil, err
	}
	for m, err := range o.List(ctx, opts) {
		if err != nil {
			return nil, err
		}
		all = append(all, m.Position)
	}
	return all, nil
}

// Discard discards failed messages: they are kept for the retention period as discarded, then
// deleted. See Redrive for the rest.
func (o *Outbox) Discard(ctx context.Context, f FailedFilter) (Bulk, error) {
	return short(operator{o}.Discard(ctx, f))
}

// Discard discards failed messages.
func (o operator) Discard(ctx context.Context, f FailedFilter) (acts.Bulk, error) {
	return o.changeFailed(ctx, audit.Discard, f)
}

// Undiscard takes discards of the last hour back, of an act if one is named: messages that had failed have
// failed again, at the time when they did. Cancelled ones are left alone. One whose ordering key went on does
// not hold it up again. It returns how many, also with an error.
func (o operator) Undiscard(ctx context.Context, f FailedFilter, act uuid.UUID) (acts.Bulk, error) {
	f.discarded, f.act = true, act
	return o.changeFailed(ctx, audit.Undiscard, f)
}

// CountUndiscard returns how many messages Undiscard would change.
func (o operator) CountUndiscard(ctx context.Context, f FailedFilter, act uuid.UUID) (acts.Bulk, error) {
	f.discarded, f.act = true, act
	return o.CountFailed(ctx, f)
}

// CountRedrive returns how many messages Redrive would change.
func (o operator) CountRedrive(ctx context.Context, f FailedFilter) (b acts.Bulk, err error) {
	b, err = o.CountFailed(ctx, f)
	if err != nil {
		return b, err
	}
	ids, err := o.retrying(ctx, &f, b.Changed)
	b.Changed += int64(len(ids))
	return b, err
}

// CountFailed returns how many messages Discard would change.
func (o operator) CountFailed(ctx context.Context, f FailedFilter) (b acts.Bulk, err error) {
	b.Changed, b.EndedSteps, _, err = o.countFailed(ctx, &f)
	return b, err
}

// failedPage is Outbox.failedPage, except in tests.
const failedPage = 10_000

// changeFailed redrives or discards the failed messages of a filter, in one transaction, or as an act
// that is stored first. To take discards back burdens nobody, and is done here, however many they are.
func (o *Outbox) changeFailed(ctx context.Context, action string, f FailedFilter) (acts.Bulk, error) {
	total, ended, parts, err := o.countFailed(ctx, &f)
	if err != nil {
		return acts.Bulk{EndedSteps: ended}, err
	}
	if f.Rate > 0 || !f.discarded && (parts > 1 || total > bulkStep) {
		b, err := o.store(ctx, action, &f, total)
		if err == nil && f.Rate == 0 {
			b, err = o.finish(ctx, b)
		}
		b.EndedSteps = ended
		return b, err
	}
	note := audit.New(ctx, f.target()).Op()
	b := acts.Bulk{ID: *note.ID, Action: action, EndedSteps: ended, Filter: f.shown(), Target: note.Target, Status: acts.Done, Total: total, Actor: note.Actor, Reason: worker.Value(note.Reason)}
	filter := o.deadFilter(&f)
	for last := new(int64); err == nil && last != nil; {
		var dead op.Dead
		filter.After, filter.Most = *last, max(min(total-b.Changed, bulkStep), 1) // also of none: not everybody may
		var do engine.Answering[op.Dead] = op.OutboxRedrive{DeadFilter: filter, Note: note}
		switch action {
		case audit.Discard:
			do = op.OutboxDiscard{DeadFilter: filter, Note: note}
		case audit.Undiscard:
			do = op.OutboxUndiscard{DeadFilter: filter, Note: note}
		}
		err = o.db.Do(ctx, engine.One(do, &dead))
		if b.Changed, last = b.Changed+dead.N, dead.Last; b.Changed >= total {
			break
		}
	}
	o.logChanged(ctx, &b)
	return b, err
}

// logChanged logs what an act has changed in this call.
func (o *Outbox) logChanged(ctx context.Context, b *acts.Bulk) {
	if b.Changed > 0 {
		o.log.InfoContext(ctx, "changed failed messages", "action", b.Action, "count", b.Changed, "topic", b.Filter.Topic)
	}
}

// deadFilter converts a filter for operations that begin at the first failed message.
func (o *Outbox) deadFilter(f *FailedFilter) op.DeadFilter {
	filter := op.DeadFilter{
		IDs: positions(f.IDs), Topic: worker.Optional(f.Topic), Queue: worker.Optional(f.Queue), Error: worker.Optional(f.Error), Fingerprint: worker.Optional(f.Fingerprint),
		Since: optionalTime(f.Since), Before: optionalTime(f.Before), Look: o.failedPage,
	}
	if f.discarded {
		filter.Discarded = acts.Undiscardable
	}
	if f.act != uuid.Nil {
		filter.Act = (*[16]byte)(&f.act)
	}
	return filter
}

// countFailed returns how many failed messages a filter selects, how many of them are steps of joins that
// have ended, and in how many parts it read them.
func (o *Outbox) countFailed(ctx context.Context, f *FailedFilter) (total, ended int64, pages int, err error) {
	if err := f.validate(); err != nil {
		return 0, 0, 0, err
	}
	filter := o.deadFilter(f)
	for last := new(int64); last != nil; pages++ {
		filter.After, filter.Most = *last, int64(o.failedPage)
		if f.Limit > 0 {
			filter.Most = min(filter.Most, int64(f.Limit)-total)
		}
		dead, _, err := engine.Get(ctx, o.db, op.OutboxCountDead{DeadFilter: filter})
		if err != nil {
			return total, ended, pages, err
		}
		ended += dead.Ended
		last = dead.Last
		if total += dead.N; f.Limit > 0 && total >= int64(f.Limit) {
			last = nil
		}
	}
	return total, ended, pages, nil
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

// ErrCancelled is the cause (context.Cause) with which a handler's context ends whose message is cancelled.
var ErrCancelled = worker.ErrCancelled

// Cancel takes messages back that have not run: they count as discarded, with the
// reason as their error, and as failed steps of their joins. Messages that a
// worker holds, or that are over, are left alone. It returns how many it
// cancelled, also with an error.
func (o *Outbox) Cancel(ctx context.Context, reason string, ids ...Position) (int64, error) {
	return o.cancel(ctx, reason, ids, func(ids []int64, reason string, note op.Note) engine.Operation {
		return op.OutboxCancel{IDs: ids, Reason: reason, Note: note}
	})
}

// CancelRunning is Cancel, and stops what is running, in whatever process: within a second the context of
// its handler ends with ErrCancelled. The message is discarded when the handler has returned an error,
// whichever, and done if it returns none. What waits for another attempt by then is cancelled. It returns how
// many messages it cancelled or whose handlers it asked to stop, also with an error. Programs that claim
// by themselves (WorkQueue) are not told.
func (o *Outbox) CancelRunning(ctx context.Context, reason string, ids ...Position) (int64, error) {
	return o.cancel(ctx, reason, ids, func(ids []int64, reason string, note op.Note) engine.Operation {
		return op.OutboxStop{IDs: ids, Reason: reason, Note: note}
	})
}

func (o *Outbox) cancel(ctx context.Context, reason string, ids []Position, of func(ids []int64, reason string, note op.Note) engine.Operation) (int64, error) {
	if err := engine.CheckText("reason", reason, limits.Reason, false); err != nil {
		return 0, err
	}
	return o.eachChunk(audit.WithReason(ctx, reason), audit.Cancel, these(ids), ids, func(ids []int64, note op.Note) engine.Operation {
		return of(ids, cmp.Or(reason, ErrCancelled.Error()), note)
	})
}

// Reschedule changes the due time of messages that have not run, those that wait for a retry
// included; zero or past: now. Messages that are claimed, or have ended, are ignored. It returns
// how many it moved, also with an error.
func (o *Outbox) Reschedule(ctx context.Context, due time.Time, ids ...Position) (int64, error) {
	if err := engine.CheckDue("due time", due); err != nil {
		return 0, err
	}
	return o.eachChunk(ctx, audit.Reschedule, these(ids), ids, dueAt(engine.Due(&due)))
}

// dueAt returns the operation that gives messages a due time; nil: now.
func dueAt(at *time.Time) func([]int64, op.Note) engine.Operation {
	return func(ids []int64, note op.Note) engine.Operation {
		return op.OutboxReschedule{IDs: ids, Due: at, Note: note}
	}
}

// these names messages in the audit trail.
func these(ids []Position) string {
	f := FailedFilter{IDs: ids}
	return strings.Replace(f.target(), "failed ", "", 1)
}

// withdrawChunk bounds how many messages one transaction removes from their runs.
const withdrawChunk = 1000

func (o *Outbox) eachChunk(ctx context.Context, action, what string, ids []Position, do func(ids []int64, note op.Note) engine.Operation) (total int64, err error) {
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
		o.log.InfoContext(ctx, "changed messages", "action", action, "count", total)
	}
	return total, nil
}
