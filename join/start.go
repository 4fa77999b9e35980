package join

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"

	"github.com/bravellian/pawl/outbox"
)

// Spec describes a join to start.
type Spec struct {
	// ExpectedSteps is how many members have to end before the join does: at least 1. More
	// may be attached; the first to end count.
	ExpectedSteps int
	// GroupingKey groups joins, of a customer or a workflow for example: at most 255
	// characters, "" for none.
	GroupingKey string
	// Metadata is information for people, usually JSON: at most 1 MiB.
	Metadata string
	// Deadline is when the join fails if it has not ended by then; zero for never. One that
	// has passed fails it at once; a time before 1970 is stored as 1970.
	Deadline time.Time
	// ID is the join's identity; if zero, one is made. Starting a join with a known id changes
	// nothing, so a start can be repeated.
	ID ID
}

func (s *Spec) validate() error {
	if s.ExpectedSteps < 1 || s.ExpectedSteps > math.MaxInt32 {
		return engine.Invalid("expected steps", "not within 1 to %d", math.MaxInt32)
	}
	if err := engine.CheckText("grouping key", s.GroupingKey, limits.GroupingKey, false); err != nil {
		return err
	}
	if len(s.Metadata) > limits.Metadata {
		return engine.TooLong("metadata", limits.Metadata, "bytes")
	}
	if err := engine.CheckText("metadata", s.Metadata, limits.Metadata, false); err != nil {
		return err
	}
	return engine.CheckDue("deadline", s.Deadline)
}

// Start creates a join. With pawl.ErrCommitUnknown the id is valid too:
// starting again with it as Spec.ID adds nothing.
func (j *Joins) Start(ctx context.Context, s Spec) (ID, error) {
	return j.StartTx(ctx, engine.OwnTx{}, s)
}

// StartTx is Start in the caller's transaction, at any isolation level.
func (j *Joins) StartTx(ctx context.Context, tx any, s Spec) (ID, error) {
	own, err := engine.TxFor(ctx, j.db, tx, "StartTx")
	if err != nil {
		return ID{}, err
	}
	err = engine.Repeat(ctx, own, func() error {
		w, err := j.prepareStart(ctx, own, &s)
		if err != nil {
			return err
		}
		return w.write(ctx, own)
	})
	if errors.Is(err, engine.ErrCommitUnknown) {
		return s.ID, err
	} else if err != nil {
		return ID{}, err
	}
	j.logStarted(ctx, &s)
	return s.ID, nil
}

func (j *Joins) logStarted(ctx context.Context, s *Spec) {
	if j.log.Enabled(ctx, slog.LevelInfo) {
		j.log.InfoContext(ctx, "join started", "join_id", s.ID.String(), "expected_steps", s.ExpectedSteps)
	}
}

// writes is calls that belong together, with the messages they enqueue.
type writes struct {
	j       *Joins
	calls   []*engine.Call
	batches []queue.Batch[outbox.MessageID]
}

func (w *writes) enqueue(b queue.Batch[outbox.MessageID]) {
	w.calls = append(w.calls, b.Calls()...)
	w.batches = append(w.batches, b)
}

func (w *writes) write(ctx context.Context, tx outbox.Tx) error {
	if err := engine.Run(ctx, w.j.db, tx, w.calls...); err != nil {
		return err
	}
	for _, b := range w.batches {
		b.Ran(ctx, tx)
	}
	return nil
}

// prepareStart validates a spec, sets its id and returns the calls that write it. A deadline is
// implemented by a wait that sends nothing (D-36).
func (j *Joins) prepareStart(ctx context.Context, tx outbox.Tx, s *Spec) (*writes, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.ID == (ID{}) {
		s.ID = uuid.Must(uuid.NewV7())
	}
	var deadline *time.Time
	if !s.Deadline.IsZero() {
		deadline = storedDeadline(s.Deadline)
	}
	start := op.JoinStart{
		JoinID: s.ID, GroupingKey: worker.Optional(s.GroupingKey), ExpectedSteps: s.ExpectedSteps, Metadata: worker.Optional(s.Metadata), DeadlineUTC: deadline,
	}
	w := &writes{j: j, calls: []*engine.Call{engine.Ask(start)}}
	if deadline == nil {
		return w, nil
	}
	m, err := j.waitMessage(s.ID, Wait{ID: derive(s.ID, "deadline")})
	if err != nil {
		return nil, err
	}
	m.Due = *deadline
	return w, j.addWait(ctx, tx, w, s.ID, m)
}

// storedDeadline returns a deadline as it is stored. One before 1970 must not become zero, which
// means none.
func storedDeadline(deadline time.Time) *time.Time {
	if at := engine.Due(&deadline); at != nil {
		return at
	}
	epoch := time.Unix(0, 0)
	return &epoch
}

// Cancel ends a pending join: its counters stay unchanged, and its waits send nothing. It
// returns whether this call ended it. It is recorded in the audit trail, see admin.WithActor.
// Error: ErrNotFound.
func (j *Joins) Cancel(ctx context.Context, id ID) (bool, error) {
	return j.CancelTx(ctx, engine.OwnTx{}, id)
}

// CancelTx is Cancel in the caller's transaction.
// The transaction has to be read committed: on PostgreSQL any other fails
// with pawl.ErrIsolation.
func (j *Joins) CancelTx(ctx context.Context, tx any, id ID) (bool, error) {
	own, err := engine.TxFor(ctx, j.db, tx, "CancelTx")
	if err != nil {
		return false, err
	}
	ended, err := j.end(ctx, own, id, op.JoinCancel{JoinID: id, Note: audit.New(ctx, "join "+id.String()).Op()})
	if ended {
		j.log.InfoContext(ctx, "join cancelled", "join_id", id.String())
	}
	return ended, err
}

func (j *Joins) end(ctx context.Context, tx outbox.Tx, id ID, how engine.Operation) (bool, error) {
	n, err := engine.Exec(ctx, j.db, tx, how)
	if err != nil {
		return false, err
	}
	if n == 0 {
		return false, notFound(id)
	}
	return n == 1, nil
}
