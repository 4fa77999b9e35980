package join

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
)

// Spec describes a join to start.
type Spec struct {
	// ExpectedSteps is how many members have to end before the join does: at
	// least 1. More may be attached; the first to end count.
	ExpectedSteps int
	// GroupingKey says which joins belong together, of a customer or a workflow
	// for instance: at most 255 characters, "" for none.
	GroupingKey string
	// Metadata is whatever helps whoever looks at the join, usually JSON: at most 1 MiB.
	Metadata string
	// Deadline is when the join fails if it has not ended by then; zero for never.
	Deadline time.Time
	// ID is the join's identity; zero has one made. Starting a join with a known
	// id changes nothing, so a start can be repeated.
	ID ID
}

func (s *Spec) validate() error {
	if s.ExpectedSteps < 1 || s.ExpectedSteps > math.MaxInt32 {
		return engine.Invalid("expected steps", "not within 1 … %d", math.MaxInt32)
	}
	if err := engine.CheckText("grouping key", s.GroupingKey, MaxGroupingKey, false); err != nil {
		return err
	}
	if len(s.Metadata) > MaxMetadata {
		return engine.TooLong("metadata", MaxMetadata, "bytes")
	}
	if err := engine.CheckText("metadata", s.Metadata, MaxMetadata, false); err != nil {
		return err
	}
	if year := s.Deadline.UTC().Year(); !s.Deadline.IsZero() && (year < 1970 || year > 9999) {
		return engine.Invalid("deadline", "year %d is not within 1970 … 9999", year)
	}
	return nil
}

// Start creates a join. With engine.ErrCommitUnknown the id is valid too:
// starting again with it as Spec.ID adds nothing.
func (j *Joins) Start(ctx context.Context, s Spec) (ID, error) { return j.start(ctx, nil, s) }

// StartTx is Start in the caller's transaction.
func (j *Joins) StartTx(ctx context.Context, tx outbox.Tx, s Spec) (ID, error) {
	if err := needTx(tx); err != nil {
		return ID{}, err
	}
	return j.start(ctx, tx, s)
}

func (j *Joins) start(ctx context.Context, tx outbox.Tx, s Spec) (ID, error) {
	w, err := j.prepareStart(ctx, tx, &s)
	if err != nil {
		return ID{}, err
	}
	if err := w.write(ctx, tx); err != nil && !errors.Is(err, engine.ErrCommitUnknown) {
		return ID{}, err
	} else if err != nil {
		return s.ID, err
	}
	return s.ID, nil
}

// writing is calls that go together, with the messages they enqueue.
type writing struct {
	j       *Joins
	calls   []*engine.Call
	batches []*outbox.Batch
}

func (w *writing) enqueue(b *outbox.Batch) {
	w.calls = append(w.calls, b.Calls()...)
	w.batches = append(w.batches, b)
}

func (w *writing) write(ctx context.Context, tx outbox.Tx) error {
	if err := w.j.do(ctx, tx, w.calls...); err != nil {
		return err
	}
	for _, b := range w.batches {
		if tx == nil {
			b.Committed(ctx)
		} else {
			b.Written(ctx)
		}
	}
	return nil
}

// prepareStart validates a spec, gives it an id and says in calls how to write
// it. A deadline is kept by a wait that sends nothing (D-36).
func (j *Joins) prepareStart(ctx context.Context, tx outbox.Tx, s *Spec) (*writing, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.ID.IsZero() {
		s.ID = NewID()
	}
	var key, metadata *string
	if s.GroupingKey != "" {
		key = &s.GroupingKey
	}
	if s.Metadata != "" {
		metadata = &s.Metadata
	}
	var deadline *time.Time
	if !s.Deadline.IsZero() {
		deadline = &s.Deadline
	}
	w := &writing{j: j, calls: []*engine.Call{{Op: "join/start", Args: []any{[16]byte(s.ID), key, s.ExpectedSteps, metadata, deadline}}}}
	if deadline == nil {
		return w, nil
	}
	m, err := j.waitMessage(s.ID, Wait{ID: derive(s.ID, "deadline")})
	if err != nil {
		return nil, err
	}
	m.Due = s.Deadline
	return w, j.addWait(ctx, tx, w, s.ID, m)
}

// Attach makes messages members of a join: all of them or, if one is unknown,
// none. One that is done or failed already counts at once. Attaching twice
// changes nothing. Errors: ErrNotFound, outbox.ErrNotFound.
func (j *Joins) Attach(ctx context.Context, id ID, messages ...outbox.MessageID) error {
	return j.attach(ctx, nil, id, messages)
}

// AttachTx is Attach in the caller's transaction. Until that ends it keeps
// workers from claiming or settling the messages, so keep it short.
func (j *Joins) AttachTx(ctx context.Context, tx outbox.Tx, id ID, messages ...outbox.MessageID) error {
	if err := needTx(tx); err != nil {
		return err
	}
	return j.attach(ctx, tx, id, messages)
}

func (j *Joins) attach(ctx context.Context, tx outbox.Tx, id ID, messages []outbox.MessageID) error {
	if len(messages) == 0 {
		return nil
	}
	c := attachCall(id, messages)
	if err := j.do(ctx, tx, c); err != nil {
		return err
	}
	return attached(c, id, messages)
}

func attachCall(id ID, messages []outbox.MessageID) *engine.Call {
	return &engine.Call{Op: "join/attach", Args: []any{[16]byte(id), bare(messages)}}
}

// attached reads an attach's answer.
func attached(c *engine.Call, id ID, messages []outbox.MessageID) error {
	switch {
	case c.N == 0:
		return nil
	case c.N == 1:
		return notFound(id)
	}
	return fmt.Errorf("attach to join %s: %w: %s", id, outbox.ErrNotFound, messages[c.N-2])
}

// ReportCompleted counts a member as completed by hand. Acking its message does
// so by itself: reports are for steps that end otherwise. Whichever comes first
// counts; it returns whether this was it. Errors: ErrNotFound, ErrNotMember.
func (j *Joins) ReportCompleted(ctx context.Context, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, nil, id, message, MemberCompleted)
}

// ReportCompletedTx is ReportCompleted in the caller's transaction.
func (j *Joins) ReportCompletedTx(ctx context.Context, tx outbox.Tx, id ID, message outbox.MessageID) (bool, error) {
	if err := needTx(tx); err != nil {
		return false, err
	}
	return j.report(ctx, tx, id, message, MemberCompleted)
}

// ReportFailed counts a member as failed by hand; see ReportCompleted.
func (j *Joins) ReportFailed(ctx context.Context, id ID, message outbox.MessageID) (bool, error) {
	return j.report(ctx, nil, id, message, MemberFailed)
}

// ReportFailedTx is ReportFailed in the caller's transaction.
func (j *Joins) ReportFailedTx(ctx context.Context, tx outbox.Tx, id ID, message outbox.MessageID) (bool, error) {
	if err := needTx(tx); err != nil {
		return false, err
	}
	return j.report(ctx, tx, id, message, MemberFailed)
}

func (j *Joins) report(ctx context.Context, tx outbox.Tx, id ID, message outbox.MessageID, s MemberStatus) (bool, error) {
	c := &engine.Call{Op: "join/report", Args: []any{[16]byte(id), [16]byte(message), int(s)}}
	if err := j.do(ctx, tx, c); err != nil {
		return false, err
	}
	switch c.N {
	case 0:
		return false, notFound(id)
	case 3:
		return false, fmt.Errorf("%w: message %s, join %s", ErrNotMember, message, id)
	}
	return c.N == 1, nil
}

// Cancel ends a pending join: its counters stay as they are, and its waits send
// nothing. It returns whether this ended it. Error: ErrNotFound.
func (j *Joins) Cancel(ctx context.Context, id ID) (bool, error) {
	return j.end(ctx, nil, id, Cancelled)
}

// CancelTx is Cancel in the caller's transaction.
func (j *Joins) CancelTx(ctx context.Context, tx outbox.Tx, id ID) (bool, error) {
	if err := needTx(tx); err != nil {
		return false, err
	}
	return j.end(ctx, tx, id, Cancelled)
}

func (j *Joins) end(ctx context.Context, tx outbox.Tx, id ID, s Status) (bool, error) {
	c := &engine.Call{Op: "join/end", Args: []any{[16]byte(id), int(s)}}
	if err := j.do(ctx, tx, c); err != nil {
		return false, err
	}
	if c.N == 0 {
		return false, notFound(id)
	}
	return c.N == 1, nil
}
