package anydriver

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// timers adds what answers an operation on timers that SQLite cannot say in one
// statement.
func (a answers) timers() {
	counting(a, scheduleTimers)
	counting(a, cancelTimer)
	counting(a, cancelTimerKey)
	counting(a, rescheduleTimer)
	counting(a, dispatchTimers)
	listing(a, claimTimers)
	counting(a, ackTimers)
	counting(a, failTimers)
	counting(a, abandonTimers)
	counting(a, reapTimers)
}

func timerStatements() []engine.Operation {
	return []engine.Operation{
		timerAbandonOne{}, timerAckOne{}, timerCancelKeyRow{}, timerCancelRow{}, timerClaimable{}, timerClaimed{}, timerClaimRows{}, timerDetachKey{},
		timerDispatchDue{}, timerDispatchMessages{}, timerDispatchOver{}, timerDue{}, timerFailOne{}, timerInsert{}, timerKnown{}, timerMovePosition{},
		timerReapDue{}, timerReapRows{}, timerRescheduleRow{}, timerSuspects{},
	}
}

// timerKnown changes one row if a timer has been scheduled before.
type timerKnown struct {
	engine.Changes
	op.TimerRef
}

type timerInsert struct {
	engine.Changes
	message
	Key *string
}

// scheduleTimers stores timers. Runs in a caller's transaction.
func scheduleTimers(t *txn, o op.TimerSchedule) (int64, error) {
	for i := range o.Timers {
		if err := scheduleTimer(t, &o.Timers[i]); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func scheduleTimer(t *txn, n *op.NewTimer) error {
	if n.Supplied || n.Carried != 0 { // an id that was just made is new
		known, err := t.change(timerKnown{TimerRef: op.TimerRef{TimerID: n.MessageID, Carried: n.Carried}})
		if err != nil || known > 0 {
			return err
		}
	}
	if err := replaceTimer(t, n.Key); err != nil {
		return err
	}
	insert := timerInsert{message: stored(&n.NewMessage), Key: n.Key}
	_, err := t.lodge(&insert.message, n.Carried, func() (int64, error) { return t.change(insert) })
	return err
}

type timerCancelKeyRow struct {
	engine.Changes
	Key string
}

// timerDetachKey parts a timer that somebody is firing from its key.
type timerDetachKey struct {
	engine.Changes
	Key string
}

// replaceTimer cancels the pending timer of a key, and parts the key from one
// that somebody is firing.
func replaceTimer(t *txn, key *string) error {
	if key == nil {
		return nil
	}
	if _, err := t.do(timerCancelKeyRow{Key: *key}); err != nil {
		return err
	}
	_, err := t.do(timerDetachKey{Key: *key})
	return err
}

type timerCancelRow struct {
	engine.Changes
	op.TimerRef
}

func cancelTimer(t *txn, o op.TimerCancel) (int64, error) {
	return t.noted(o.Note, "cancel", timerCancelRow{TimerRef: o.TimerRef})
}

func cancelTimerKey(t *txn, o op.TimerCancelKey) (int64, error) {
	return t.noted(o.Note, "cancel", timerCancelKeyRow{Key: o.Key})
}

type timerRescheduleRow struct {
	engine.Changes
	op.TimerRef
	Due *time.Time
}

func rescheduleTimer(t *txn, o op.TimerReschedule) (int64, error) {
	return t.noted(o.Note, "reschedule", timerRescheduleRow{TimerRef: o.TimerRef, Due: o.Due})
}

// timerDispatchDue asks whether any timer is due.
type timerDispatchDue struct{ engine.Rows[found] }

// timerReapDue asks whether any lease of a timer has run out.
type timerReapDue struct{ engine.Rows[found] }

// timerDue reads due timers, first due first.
type timerDue struct {
	engine.Rows[dueTimer]
	Most int
}

// dueTimer is what has to be known of a due timer to move it.
type dueTimer struct {
	ID    int64
	Lane  int64
	At    int64
	Known bool // the outbox has its message
	Taken bool // another message has its position
}

// timerDispatchMessages makes messages of the first N due timers.
type timerDispatchMessages struct {
	engine.Changes
	N int
}

// timerDispatchOver ends the timers that became messages.
type timerDispatchOver struct {
	engine.Changes
	N int
}

// dispatchTimers moves due timers into the outbox, neighbours as one run.
func dispatchTimers(t *txn, o op.TimerDispatch) (int64, error) {
	due, err := rows(t, timerDue{Most: o.Most})
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if moved, err := movePositions(t, due); err != nil {
		return 0, err
	} else if moved {
		return dispatchTimers(t, o)
	}
	if _, err := t.do(timerDispatchMessages{N: len(due)}); err != nil {
		return 0, err
	}
	if _, err := t.do(timerDispatchOver{N: len(due)}); err != nil {
		return 0, err
	}
	for _, r := range neighbours(due) {
		r.At = t.now
		if err := toReady(t, r); err != nil {
			return 0, err
		}
	}
	t.woke = true
	return int64(len(due)), nil
}

// timerMovePosition has a timer become a message elsewhere.
type timerMovePosition struct {
	engine.Changes
	ID int64
	To int64
}

// movePositions gives timers a position of their own whose position another message
// has: ids were given out twice, as after a copy of the file was put back.
func movePositions(t *txn, due []dueTimer) (moved bool, err error) {
	for _, d := range due {
		if !d.Taken {
			continue
		}
		to, err := nextID(t)
		if err != nil {
			return moved, err
		}
		if _, err := t.do(timerMovePosition{ID: d.ID, To: to}); err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// neighbours are the runs that new messages form.
func neighbours(due []dueTimer) []run {
	runs := make([]run, 0, len(due))
	for _, d := range due {
		if !d.Known {
			runs = append(runs, run{Lo: d.ID, N: 1, Lane: d.Lane, At: d.At})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Lo, b.Lo) })
	return merge(runs)
}

// timerSuspects reads due timers that are suspects, first due first.
type timerSuspects struct {
	engine.Rows[suspect]
	Most int
}

// timerClaimable reads due timers that are no suspects, first due first.
type timerClaimable struct {
	engine.Rows[position]
	Most int
}

type timerClaimRows struct {
	engine.Changes
	IDs      []int64
	Owner    [16]byte
	Lease    time.Duration
	Suspects int // how many of them are
}

type timerClaimed struct {
	engine.Rows[op.Timer]
	Owner [16]byte
	IDs   []int64
}

// claimTimers takes due timers under a lease.
func claimTimers(t *txn, o op.TimerClaim, each func(engine.Row) error) error {
	ids, err := suspectsOf(t, timerSuspects{Most: o.Most}, o.Most)
	if err != nil {
		return err
	}
	suspects := len(ids)
	if suspects == 0 {
		if ids, err = positions(t, timerClaimable{Most: o.Most}); err != nil || len(ids) == 0 {
			return err
		}
	}
	if _, err := t.do(timerClaimRows{IDs: ids, Owner: o.Owner, Lease: o.Lease, Suspects: suspects}); err != nil {
		return err
	}
	return t.ask(timerClaimed{Owner: o.Owner, IDs: ids}, each)
}

// claimedTimer is one that an owner may have claimed.
type claimedTimer struct {
	Owner   [16]byte
	TimerID [16]byte
}

type timerAckOne struct {
	engine.Changes
	claimedTimer
}

func ackTimers(t *txn, o op.TimerAck) (int64, error) {
	return eachTimer(t, o.TimerHeld, func(c claimedTimer) engine.Operation { return timerAckOne{claimedTimer: c} })
}

type timerFailOne struct {
	engine.Changes
	claimedTimer
	Error *string
}

func failTimers(t *txn, o op.TimerFail) (int64, error) {
	return eachTimer(t, o.TimerHeld, func(c claimedTimer) engine.Operation { return timerFailOne{claimedTimer: c, Error: o.Error} })
}

type timerAbandonOne struct {
	engine.Changes
	claimedTimer
	Delay *time.Duration // nil: backoff
	Error *string
}

func abandonTimers(t *txn, o op.TimerAbandon) (int64, error) {
	t.woke = true
	return eachTimer(t, o.TimerHeld, func(c claimedTimer) engine.Operation {
		return timerAbandonOne{claimedTimer: c, Delay: o.Delay, Error: o.Error}
	})
}

// eachTimer runs a statement for each timer, and returns how many the owner held.
func eachTimer(t *txn, held op.TimerHeld, statement func(claimedTimer) engine.Operation) (total int64, err error) {
	for _, id := range held.TimerIDs {
		n, err := t.change(statement(claimedTimer{Owner: held.Owner, TimerID: id}))
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// timerReapRows puts back what was claimed and whose lease has run out. Suspects is
// with how many others one may be claimed that expired for the first time.
type timerReapRows struct {
	engine.Changes
	Suspects int
}

func reapTimers(t *txn, _ op.TimerReap) (int64, error) {
	n, err := t.change(timerReapRows{Suspects: firstSuspects})
	t.woke = t.woke || n > 0
	return n, err
}
