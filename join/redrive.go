package join

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

var (
	// ErrNotFailed is returned for a join that cannot be redriven because it has not failed, or
	// was redriven already.
	ErrNotFailed = errors.New("join has not failed")
	// ErrStepsLost is returned for a join that cannot be redriven because it would fail again at
	// once: no step of it is left that can run.
	ErrStepsLost = errors.New("no step of the join can run again")
)

// Redriven says what became of a join that was redriven.
type Redriven struct {
	// Steps is how many failed steps are ready again. Those that were made ready by themselves
	// before, see outbox.Outbox.Redrive, count as what they are now.
	Steps int `json:"steps"`
	// StepsLost is how many steps cannot run again and stay failed: their messages were
	// discarded, have expired or were deleted, or they were reported as failed and are done.
	StepsLost int `json:"steps_lost"`
	// Waits is how many waits wait again.
	Waits int `json:"waits"`
	// WaitsLost is how many waits were deleted: what they would send is not sent.
	WaitsLost int `json:"waits_lost"`
}

// Redrive makes the failed steps of a failed join ready again, with all attempts left, and its
// waits wait again: each of them sends its message at the next end, too, by another message id. What
// was sent at the first end stays sent; a wait that had not sent anything sends for the next end only.
// A deadline that has passed no longer holds. Other joins of the steps take their failures back as with
// outbox.Outbox.Redrive.
//
// It is one transaction, recorded in the audit trail with what it did to steps and waits; of several calls at once one redrives. A
// wait that a worker is handling at the moment makes it fail with pawl.ErrBusy. Other errors:
// ErrNotFound, ErrNotFailed, ErrStepsLost.
func (j *Joins) Redrive(ctx context.Context, id ID) (Redriven, error) {
	var r *redrive
	note := audit.New(ctx, "join "+id.String()).Op()
	err := engine.Retry(ctx, func() error {
		return j.db.InTx(ctx, func(ctx context.Context, tx outbox.Tx) error {
			r = &redrive{Joins: j, tx: tx, id: id}
			return r.run(ctx, note)
		})
	})
	if err != nil {
		return Redriven{}, err
	}
	j.log.InfoContext(ctx, "join redriven", "join_id", id.String(), "steps", r.done.Steps, "steps_lost", r.done.StepsLost, "waits", r.done.Waits)
	return r.done, nil
}

// redrive is one transaction of Redrive.
type redrive struct {
	*Joins
	tx outbox.Tx
	id ID

	steps []op.JoinStep
	waits []op.JoinWaiting
	done  Redriven
}

// redriveChunk is how many steps one call makes ready.
const redriveChunk = 1000

// Places of messages, as in op.JoinStep.
const (
	placeDeleted   = -1
	placeReady     = 0
	placeClaimed   = 1
	placeDone      = 2
	placeFailed    = 3
	placeDiscarded = 4
)

func (r *redrive) ask(ctx context.Context, calls ...*engine.Call) error {
	return engine.Run(ctx, r.db, r.tx, calls...)
}

func (r *redrive) run(ctx context.Context, note op.Note) error {
	if err := r.hold(ctx); err != nil {
		return err
	}
	n, err := engine.Exec(ctx, r.db, r.tx, op.JoinRedrive{JoinID: r.id, Note: note})
	if err != nil {
		return err
	}
	if n == 0 {
		return r.notFailed(ctx)
	}
	if err := r.redriveSteps(ctx); err != nil {
		return err
	}
	return r.replaceWaits(ctx)
}

func (r *redrive) notFailed(ctx context.Context) error {
	info, err := r.get(ctx)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s is %s", ErrNotFailed, r.id, info.Status)
}

// get reads the join in the transaction.
func (r *redrive) get(ctx context.Context) (*Info, error) {
	var row op.Join
	c := engine.One(op.JoinGet{JoinID: r.id}, &row)
	if err := r.ask(ctx, c); err != nil {
		return nil, err
	}
	if c.N == 0 {
		return nil, notFound(r.id)
	}
	info := stored(&row)
	return &info, nil
}

// hold locks the join and what it consists of, and reads that again: where messages are may have
// changed until they were locked.
func (r *redrive) hold(ctx context.Context) error {
	if err := r.ask(ctx, engine.Ask(op.JoinHold{JoinID: r.id})); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.ask(ctx, engine.Ask(op.JoinHold{JoinID: r.id, IDs: r.existing()})); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	for i := range r.waits {
		if r.waits[i].Place == placeClaimed {
			return &engine.Error{Op: "redrive", Class: engine.ErrBusy, Err: fmt.Errorf("a wait of join %s is being handled at this moment", r.id)}
		}
	}
	return nil
}

func (r *redrive) load(ctx context.Context) error {
	return r.ask(ctx, engine.List(op.JoinUncompleted{JoinID: r.id}, &r.steps), engine.List(op.JoinWaits{JoinID: r.id}, &r.waits))
}

// existing returns the positions of steps and waits whose messages are there.
func (r *redrive) existing() (all []int64) {
	for i := range r.steps {
		if r.steps[i].Place != placeDeleted {
			all = append(all, r.steps[i].ID)
		}
	}
	for i := range r.waits {
		if r.waits[i].Place != placeDeleted {
			all = append(all, r.waits[i].ID)
		}
	}
	return all
}

// redriveSteps makes steps ready, and has the join count what became of the others meanwhile.
func (r *redrive) redriveSteps(ctx context.Context) error {
	var failed, again, deleted []int64
	var ended []op.DoctorMissed
	live := 0 // steps that are yet to end
	for i := range r.steps {
		s := &r.steps[i]
		counted := s.Status == Failed.number()
		switch {
		case s.Place == placeFailed:
			failed = append(failed, s.ID)
		case s.Place == placeDeleted && !counted:
			deleted = append(deleted, s.ID)
		case s.Place == placeDeleted, counted && s.Place >= placeDiscarded, counted && s.Place == placeDone && s.Redrives == 0:
			r.done.StepsLost++
		default:
			if counted {
				again = append(again, s.ID) // it was redriven without the join
			}
			if s.Place < placeDone {
				live++
				continue
			}
			ended = append(ended, op.DoctorMissed{ID: s.ID, OutboxMessageID: s.OutboxMessageID})
			if s.Place != placeDone {
				r.done.StepsLost++
			}
		}
	}
	r.done.Steps = len(failed)
	if err := r.count(ctx, failed, again, ended); err != nil {
		return err
	}
	return r.countDeleted(ctx, deleted, live+len(failed))
}

func (r *redrive) count(ctx context.Context, failed, again []int64, ended []op.DoctorMissed) error {
	var calls []*engine.Call
	if len(again) > 0 {
		calls = append(calls, engine.Ask(op.JoinMark{JoinID: r.id, IDs: again}))
	}
	for part := range slices.Chunk(failed, redriveChunk) { // takes their failures back
		calls = append(calls, engine.One(op.OutboxRedrive{DeadFilter: chosen(part), Note: audit.New(ctx, "steps of join "+r.id.String()).Op()}, new(op.Dead)))
	}
	if len(ended) > 0 {
		calls = append(calls, engine.Ask(op.DoctorJoinSettle{JoinID: r.id, Missed: ended}))
	}
	return r.ask(ctx, calls...)
}

// chosen selects failed messages by their positions.
func chosen(ids []int64) op.DeadFilter {
	return op.DeadFilter{IDs: ids, Look: len(ids) + 1, Most: int64(len(ids)) + 1}
}

// countDeleted counts steps that ended too late to count and were deleted since: as failed, as
// many as the join would otherwise wait for without end.
func (r *redrive) countDeleted(ctx context.Context, deleted []int64, live int) error {
	info, err := r.get(ctx)
	if err != nil {
		return err
	}
	missing := info.ExpectedSteps - info.CompletedSteps - info.FailedSteps
	if n := min(max(missing-live, 0), len(deleted)); n > 0 {
		r.done.StepsLost += n
		if err := r.ask(ctx, engine.Ask(op.JoinMark{JoinID: r.id, IDs: deleted[:n], Status: Failed.number()})); err != nil {
			return err
		}
		info.FailedSteps += n
	}
	if info.complete() && info.FailedSteps > 0 {
		return fmt.Errorf("%w: %s: %d of its steps were discarded, have expired, were deleted or reported as failed", ErrStepsLost, r.id, info.FailedSteps)
	}
	return nil
}

// replaceWaits enqueues a wait for each that the join has, in its place: what that sent, or may be about
// to send, was for the end before, and the ids of both differ.
func (r *redrive) replaceWaits(ctx context.Context) error {
	var ready, failed []int64
	var next []outbox.Message
	for i := range r.waits {
		w := &r.waits[i]
		switch w.Place {
		case placeDeleted:
			r.done.WaitsLost++
			continue
		case placeDone:
		case placeFailed:
			failed = append(failed, w.ID)
		case placeReady:
			ready = append(ready, w.ID)
		default: // somebody gave it up
			continue
		}
		next = append(next, outbox.Message{
			Topic: worker.Value(w.Topic), Queue: worker.Value(w.Queue), CorrelationID: worker.Value(w.CorrelationID), Payload: w.Payload,
		})
	}
	r.done.Waits = len(next)
	wr := &writes{j: r.Joins}
	note := audit.New(ctx, "waits of join "+r.id.String()).Op()
	if len(ready) > 0 {
		wr.calls = append(wr.calls, engine.Ask(op.OutboxCancel{IDs: ready, Reason: "its join was redriven", Note: note}))
	}
	if len(failed) > 0 {
		wr.calls = append(wr.calls, engine.One(op.OutboxDiscard{DeadFilter: chosen(failed), Note: note}, new(op.Dead)))
	}
	if len(next) > 0 {
		b, err := r.outbox.Prepare(ctx, r.tx, nil, next...)
		if err != nil {
			return err
		}
		wr.enqueue(b)
		for i := range next {
			wr.calls = append(wr.calls, noteWait(r.id, b, i))
		}
	}
	return wr.write(ctx, r.tx)
}
