package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Bulk is a bulk act on failed messages, of Redrive or Discard. One that has a rate, or is too large for
// one transaction, is stored and worked off in
// steps by every process that runs the outbox, one of them at a time, in the order of positions.
// What a step changed and how far the act is are one transaction: a process that dies repeats and
// skips nothing.
type Bulk struct {
	ID uuid.UUID // also of its entry in the audit trail
	// Total is how many messages it selected when it started, and Changed how many it has changed.
	Total, Changed int64
	// Over is whether the act has ended: all is done, or somebody stopped it.
	Over bool
}

// short is an act as programs see it.
func short(b acts.Bulk, err error) (Bulk, error) {
	return Bulk{ID: b.ID, Total: b.Total, Changed: b.Changed, Over: b.Over()}, err
}

// operator is what the command line and the dashboard do and read beside what programs do.
type operator struct{ *Outbox }

// Operator returns what operators do. Programs cannot name its parameter.
func (o *Outbox) Operator(access.Key) operator { return operator{o} } //nolint:revive // what is pawl's own has no public name

// ErrNoBulk is returned when there is no such bulk act, or it was deleted.
var ErrNoBulk = errors.New("bulk act not found")

const (
	// bulkStep bounds how many messages a step changes.
	bulkStep = 1000
	// maxBulks bounds how many bulk acts are listed, and stepped in turn.
	maxBulks = 1000
	// bulkWait is how long a call that works off its own act waits for a process that is doing a
	// step of it.
	bulkWait = 10 * time.Millisecond
)

// Bulks returns the bulk acts that are stored, the newest first, at most 1000. They are deleted
// when the retention period has passed since their end.
func (o operator) Bulks(ctx context.Context) ([]acts.Bulk, error) {
	return o.bulks(ctx, op.OutboxBulks{Most: maxBulks})
}

// Bulk returns a stored bulk act: how far it is. Error: ErrNoBulk.
func (o *Outbox) Bulk(ctx context.Context, id uuid.UUID) (Bulk, error) {
	return short(operator{o}.Bulk(ctx, id))
}

// Bulk returns a stored bulk act.
func (o operator) Bulk(ctx context.Context, id uuid.UUID) (acts.Bulk, error) {
	found, err := o.bulks(ctx, op.OutboxBulks{ID: (*[16]byte)(&id), Most: 1})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %s", ErrNoBulk, id)
	}
	if err != nil {
		return acts.Bulk{}, err
	}
	return found[0], nil
}

// StopBulk ends a bulk act: what it has not changed by then it leaves alone. It returns the act, and
// does nothing if it has ended. Error: ErrNoBulk.
func (o *Outbox) StopBulk(ctx context.Context, id uuid.UUID) (Bulk, error) {
	return short(operator{o}.StopBulk(ctx, id))
}

// StopBulk ends a bulk act.
func (o operator) StopBulk(ctx context.Context, id uuid.UUID) (acts.Bulk, error) {
	b, err := o.Bulk(ctx, id)
	if err != nil || b.Over() {
		return b, err
	}
	stopped, err := engine.Exec(ctx, o.db, nil, op.OutboxBulkStop{ID: id, Note: audit.New(ctx, bulkTitle(&b)).Op()})
	if err != nil {
		return b, err
	}
	if stopped > 0 {
		o.log.InfoContext(ctx, "stopped a bulk act", "id", id.String())
	}
	return o.Bulk(ctx, id)
}

func (o *Outbox) bulks(ctx context.Context, read engine.Answering[op.Bulk]) ([]acts.Bulk, error) {
	found, err := engine.Query(ctx, o.db, read)
	all := make([]acts.Bulk, len(found))
	for i := range found {
		all[i] = bulkOf(&found[i])
	}
	return all, err
}

// bulkOf converts an act as it is stored.
func bulkOf(r *op.Bulk) acts.Bulk {
	b := acts.Bulk{
		ID: r.ID, Action: r.Action, Target: r.Target, Status: acts.Running, Total: r.Total, Changed: r.N, Actor: r.Actor, Reason: worker.Value(r.Reason),
		Filter: acts.Filter{
			Topic: worker.Value(r.Topic), Queue: worker.Value(r.Queue), Error: worker.Value(r.Error), Fingerprint: worker.Value(r.Fingerprint), Since: worker.Value(r.FailedSince).UTC(), Before: r.FailedBefore.UTC(),
			Limit: int(worker.Value(r.Most)), Rate: r.Rate,
		},
		StartedAt: r.CreatedAt.UTC(), SteppedAt: worker.Value(r.SteppedAt).UTC(), EndedAt: worker.Value(r.EndedAt).UTC(), StoppedBy: worker.Value(r.StoppedBy),
	}
	switch {
	case b.StoppedBy != "":
		b.Status = acts.Stopped
	case !b.EndedAt.IsZero():
		b.Status = acts.Done
	case b.SteppedAt.IsZero():
		b.Status = acts.Stored
	}
	if !b.Over() {
		b.NextAt = r.At.UTC()
	}
	return b
}

// bulkTitle says what an act is, for the audit trail.
func bulkTitle(b *acts.Bulk) string {
	text := fmt.Sprintf("%s %s: %s", b.Action, b.ID, b.Target)
	if b.Filter.Rate > 0 {
		text += fmt.Sprintf(", %d a second", b.Filter.Rate)
	}
	return text
}

// store stores an act that is to change total messages, and notes its start.
func (o *Outbox) store(ctx context.Context, action string, f *FailedFilter, total int64) (acts.Bulk, error) {
	note := audit.New(ctx, f.target()).Op()
	put := op.OutboxBulkPut{
		ID: *note.ID, Action: action, FailedBefore: optionalTime(f.Before), Tick: time.Microsecond, Target: note.Target, Actor: note.Actor, Reason: note.Reason, Total: total,
		BulkFilter: op.BulkFilter{
			Topic: worker.Optional(f.Topic), Queue: worker.Optional(f.Queue), Error: worker.Optional(f.Error), Fingerprint: worker.Optional(f.Fingerprint), FailedSince: optionalTime(f.Since),
			Most: worker.Optional(int64(f.Limit)), Rate: f.Rate,
		},
	}
	if f.IDs != nil {
		text, err := json.Marshal(f.IDs)
		if err != nil {
			return acts.Bulk{}, err
		}
		put.IDs = worker.Optional(string(text))
	}
	b := acts.Bulk{ID: put.ID, Action: action, Target: put.Target, Filter: f.shown()}
	if err := o.db.Do(ctx, engine.Ask(put), audit.New(ctx, bulkTitle(&b)).Call(audit.Start, 1)); err != nil {
		return acts.Bulk{}, err
	}
	o.db.Notify(worker.ScheduleQueue)
	o.log.InfoContext(ctx, "stored a bulk act", "id", b.ID.String(), "action", action, "total", total, "rate", f.Rate)
	return operator{o}.Bulk(ctx, b.ID)
}

// step does the next step of an act, if one is due and no other process is doing it. The end is
// recorded as of who started the act: the process only works it off.
func (o *Outbox) step(ctx context.Context, b *acts.Bulk) (int64, error) {
	ctx = audit.WithReason(audit.WithActor(ctx, b.Actor), b.Reason)
	return engine.Exec(ctx, o.db, nil, op.OutboxBulkStep{ID: b.ID, Look: o.failedPage, Most: bulkStep, Note: audit.New(ctx, bulkTitle(b)).Op()})
}

// finish works off an act in this call, beside the processes that run the outbox. When ctx ends,
// they go on.
func (o *Outbox) finish(ctx context.Context, b acts.Bulk) (acts.Bulk, error) {
	for !b.Over() {
		n, err := o.step(ctx, &b)
		if err == nil && n == 0 {
			err = engine.Sleep(ctx, bulkWait)
		}
		now, unread := operator{o}.Bulk(context.WithoutCancel(ctx), b.ID)
		if unread == nil {
			b = now
		}
		if err = errors.Join(err, unread); err != nil {
			return b, err
		}
	}
	o.logChanged(ctx, &b)
	return b, nil
}

// bulkSource works off the bulk acts that are stored.
type bulkSource struct{ *Outbox }

// Name is for logs.
func (bulkSource) Name() string { return "bulk acts" }

// Dispatch does a step of each act of which one is due. One that fails does not hold up the others.
func (s bulkSource) Dispatch(ctx context.Context) (steps int64, err error) {
	due, err := s.bulks(ctx, op.OutboxBulkDue{Most: maxBulks})
	for i := range due {
		n, failed := s.step(ctx, &due[i])
		steps, err = steps+n, errors.Join(err, failed)
	}
	return steps, err
}

// NextDue returns how long until the next step of any act is due.
func (s bulkSource) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return worker.NextDue(ctx, s.db, op.OutboxBulkNextDue{})
}
