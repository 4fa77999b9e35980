package timer

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Schedule stores a timer in a transaction of its own and returns its id. With
// pawl.ErrCommitUnknown the id is valid too: scheduling again with it as
// Timer.ID adds nothing twice.
func (t *Timers) Schedule(ctx context.Context, tm Timer) (ID, error) {
	return first(t.ScheduleBatchTx(ctx, engine.OwnTx{}, []Timer{tm}))
}

// ScheduleTx stores a timer in the caller's transaction. Any isolation level will do;
// under repeatable read and serializable it fails with pawl.ErrSerialization if
// somebody else scheduled the same key or id since the transaction's first statement.
func (t *Timers) ScheduleTx(ctx context.Context, tx any, tm Timer) (ID, error) {
	return first(t.ScheduleBatchTx(ctx, tx, []Timer{tm}))
}

func first(ids []ID, err error) (ID, error) {
	if len(ids) == 0 {
		return ID{}, err
	}
	return ids[0], err
}

// ScheduleBatch stores timers in one transaction of their own: all or none. The
// ids are in the order of the timers. A key or an id that is given twice is refused.
func (t *Timers) ScheduleBatch(ctx context.Context, timers []Timer) ([]ID, error) {
	return t.ScheduleBatchTx(ctx, engine.OwnTx{}, timers)
}

// ScheduleBatchTx stores timers in the caller's transaction. For isolation levels see
// ScheduleTx; under serializable several timers with keys also conflict with others that are
// scheduled at the same time and whose keys are near.
func (t *Timers) ScheduleBatchTx(ctx context.Context, tx any, timers []Timer) ([]ID, error) {
	own, err := engine.TxFor(ctx, t.db, tx, "ScheduleTx")
	if err != nil {
		return nil, err
	}
	msgs := make([]outbox.Message, len(timers))
	for i := range timers {
		if err := timers[i].validate(); err != nil {
			return nil, err
		}
		msgs[i] = timers[i].message()
	}
	if err := engine.CheckDistinct("key", timers, func(t *Timer) string { return t.Key }); err != nil {
		return nil, err
	}
	var b queue.Batch[outbox.MessageID]
	err = engine.Repeat(ctx, own, func() (err error) {
		if b, err = t.outbox.Prepare(ctx, own, msgs); err != nil || len(msgs) == 0 {
			return err
		}
		return engine.Run(ctx, t.db, own, b.CallsTo(func(messages []op.NewMessage, index []int) engine.Operation {
			return op.TimerSchedule{Timers: newTimers(timers, messages, index)}
		})...)
	})
	if b != nil && errors.Is(err, engine.ErrCommitUnknown) {
		return b.IDs(), err
	}
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	b.Ran(ctx, own)
	t.db.Notify(worker.ScheduleQueue)
	t.logScheduled(ctx, timers, b.IDs())
	return b.IDs(), nil
}

// newTimers converts timers for storing; index has the timer of each message.
func newTimers(timers []Timer, messages []op.NewMessage, index []int) []op.NewTimer {
	all := make([]op.NewTimer, len(messages))
	for i, m := range messages {
		all[i] = op.NewTimer{NewMessage: m, Key: worker.Optional(timers[index[i]].Key)}
	}
	return all
}

// validate checks the fields that are not the message's; the outbox checks the rest.
func (t *Timer) validate() error {
	if err := checkDue(t.Due); err != nil {
		return err
	}
	if t.Key == "" {
		return nil
	}
	return engine.CheckText("key", t.Key, limits.TimerKey, true)
}

// checkDue returns an error for a zero time: a missing due time must not fire at once (D-71).
func checkDue(due time.Time) error {
	if due.IsZero() {
		return engine.Invalid("due time", "zero")
	}
	return engine.CheckDue("due time", due)
}

// Cancel cancels a timer. True means that it will never fire; false that it has fired, is
// being fired, was cancelled before, or does not exist. It is recorded in the audit trail, see
// admin.WithActor.
func (t *Timers) Cancel(ctx context.Context, id ID) (bool, error) {
	return t.CancelTx(ctx, engine.OwnTx{}, id)
}

// CancelTx is Cancel in the caller's transaction. True then holds if that commits;
// until it ends the timer does not fire. Any isolation level will do; under repeatable
// read and serializable a timer that was scheduled since the transaction's first
// statement is not found, and one that changed fails with pawl.ErrSerialization.
func (t *Timers) CancelTx(ctx context.Context, tx any, id ID) (bool, error) {
	own, err := engine.TxFor(ctx, t.db, tx, "CancelTx")
	if err != nil {
		return false, err
	}
	changed, err := t.change(ctx, own, op.TimerCancel{TimerRef: ref(id), Note: audit.New(ctx, "timer "+id.String()).Op()})
	if changed {
		t.log.InfoContext(ctx, "timer cancelled", "timer_id", id.String())
	}
	return changed, err
}

// CancelKey is Cancel for the timer with a key.
func (t *Timers) CancelKey(ctx context.Context, key string) (bool, error) {
	return t.CancelKeyTx(ctx, engine.OwnTx{}, key)
}

// CancelKeyTx is CancelKey in the caller's transaction. For isolation levels see CancelTx.
// Under serializable, a transaction that cancels by key and then schedules conflicts with
// others that do so at the same time: schedule first.
func (t *Timers) CancelKeyTx(ctx context.Context, tx any, key string) (bool, error) {
	own, err := engine.TxFor(ctx, t.db, tx, "CancelKeyTx")
	if err != nil {
		return false, err
	}
	if err := engine.CheckText("key", key, limits.TimerKey, true); err != nil {
		return false, err
	}
	changed, err := t.change(ctx, own, op.TimerCancelKey{Key: key, Note: audit.New(ctx, "timer key "+strconv.Quote(key)).Op()})
	if changed {
		t.log.InfoContext(ctx, "timer with a key cancelled", "timer", key)
	}
	return changed, err
}

// Reschedule changes the due time of a timer. False means, as with Cancel, that it is too late
// for that. It is recorded as Cancel is.
func (t *Timers) Reschedule(ctx context.Context, id ID, due time.Time) (bool, error) {
	return t.RescheduleTx(ctx, engine.OwnTx{}, id, due)
}

// RescheduleTx is Reschedule in the caller's transaction. For isolation levels see CancelTx.
func (t *Timers) RescheduleTx(ctx context.Context, tx any, id ID, due time.Time) (bool, error) {
	own, err := engine.TxFor(ctx, t.db, tx, "RescheduleTx")
	if err != nil {
		return false, err
	}
	if err := checkDue(due); err != nil {
		return false, err
	}
	changed, err := t.change(ctx, own, op.TimerReschedule{TimerRef: ref(id), Due: engine.Due(&due), Note: audit.New(ctx, "timer "+id.String()).Op()})
	if changed {
		t.db.Notify(worker.ScheduleQueue)
		t.log.InfoContext(ctx, "timer rescheduled", "timer_id", id.String(), "due", due)
	}
	return changed, err
}

// ref identifies a timer for operations: by its id and the position that it carries.
func ref(id ID) op.TimerRef { return op.TimerRef{TimerID: id, Carried: int64(id.Position())} }

// change runs an operation on a pending timer and reports whether there was one.
func (t *Timers) change(ctx context.Context, tx outbox.Tx, change engine.Operation) (bool, error) {
	n, err := engine.Exec(ctx, t.db, tx, change)
	return err == nil && n > 0, err
}
