package anydriver

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

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

// scheduleTimers stores timers. It may run in a caller's transaction.
func scheduleTimers(t *txn, o op.TimerSchedule) (int64, error) {
	for i := range o.Timers {
		if err := scheduleTimer(t, &o.Timers[i]); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func scheduleTimer(t *txn, n *op.NewTimer) error {
	if n.Supplied || n.Carried != 0 { // an id that was made for this position is new
		known, err := t.change(timerKnown{TimerRef: op.TimerRef{TimerID: n.MessageID, Carried: n.Carried}})
		if err != nil || known > 0 {
			return err
		}
	}
	if err := replaceTimer(t, n.Key); err != nil {
		return err
	}
	insert := timerInsert{message: stored(&n.NewMessage), Key: n.Key}
	_, err := t.insertWithID(&insert.message, n.Carried, func() (int64, error) { return t.change(insert) })
	return err
}

// timerDetachKey removes the key from a claimed timer.
type timerDetachKey struct {
	engine.Changes
	Key string
}

// replaceTimer cancels the pending timer of a key, and removes the key from a claimed one.
func replaceTimer(t *txn, key *string) error {
	if key == nil {
		return nil
	}
	return t.do(op.TimerCancelKey{Key: *key}, timerDetachKey{Key: *key})
}

// timerDispatchDue reports whether any timer is due.
type timerDispatchDue struct{ engine.Rows[existence] }

// timerReapDue reports whether any lease of a timer has expired.
type timerReapDue struct{ engine.Rows[existence] }

// timerDue reads due timers, first due first.
type timerDue struct {
	engine.Rows[dueTimer]
	Most int
}

// dueTimer is what is needed of a due timer to dispatch it.
type dueTimer struct {
	ID       int64
	Lane     int64
	At       int64
	Known    bool // the outbox has its message, found by its id in the index or at its own position
	Taken    bool // another message has its position
	TimerID  [16]byte
	Supplied bool
}

// timerDispatchMessages creates messages of the first N due timers.
type timerDispatchMessages struct {
	engine.Changes
	N int
}

// timerDispatchOver marks the timers that became messages as done.
type timerDispatchOver timerDispatchMessages

// dispatchTimers moves due timers into the outbox, consecutive ones as one run.
func dispatchTimers(t *txn, o op.TimerDispatch) (int64, error) {
	due, err := rows(t, timerDue{Most: o.Most})
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if ended, err := endKnown(t, due); err != nil {
		return 0, err
	} else if ended > 0 {
		n, err := dispatchTimers(t, o)
		return ended + n, err
	}
	if moved, err := movePositions(t, due); err != nil {
		return 0, err
	} else if moved {
		return dispatchTimers(t, o)
	}
	if err := t.do(timerDispatchMessages{N: len(due)}, timerDispatchOver{N: len(due)}); err != nil {
		return 0, err
	}
	for _, r := range consecutiveRuns(due) {
		r.At = t.now
		if err := toReady(t, r); err != nil {
			return 0, err
		}
	}
	t.woke = true
	return int64(len(due)), nil
}

// timerDispatchKnown marks a timer as done whose message the outbox has.
type timerDispatchKnown byID

// endKnown ends timers whose id is that of a message at the position which the id carries, and returns how
// many there were.
func endKnown(t *txn, due []dueTimer) (ended int64, err error) {
	for _, d := range due {
		if !d.Supplied || d.Known {
			continue
		}
		known, _, err := one(t, outboxUniqueKnown{Carried: carried(d.TimerID), MessageID: d.TimerID})
		if err != nil {
			return ended, err
		}
		if !known.Found {
			continue
		}
		if err := t.do(timerDispatchKnown{ID: d.ID}); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

// timerMovePosition gives a timer another position.
type timerMovePosition struct {
	engine.Changes
	ID int64
	To int64
}

// movePositions gives timers new positions whose position another message has: ids were
// allocated twice, as after a copy of the file was restored.
func movePositions(t *txn, due []dueTimer) (moved bool, err error) {
	for _, d := range due {
		if !d.Taken {
			continue
		}
		to, err := nextID(t)
		if err != nil {
			return moved, err
		}
		if err := t.do(timerMovePosition{ID: d.ID, To: to}); err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// consecutiveRuns returns the runs of new messages.
func consecutiveRuns(due []dueTimer) []run {
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

// timerClaimable reads due timers that are not suspects, first due first.
type timerClaimable struct {
	engine.Rows[position]
	Most int
}

type timerClaimRows struct {
	engine.Changes
	IDs      []int64
	Owner    [16]byte
	Lease    time.Duration
	Suspects int // how many of them are suspects
}

type timerClaimed struct {
	engine.Rows[op.Timer]
	Owner [16]byte
	IDs   []int64
}

// claimTimers claims due timers under a lease.
func claimTimers(t *txn, o op.TimerClaim, each func(engine.Row) error) error {
	ids, suspects, err := dueOf(t, timerSuspects{Most: o.Most}, timerClaimable{Most: o.Most}, o.Most)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := t.do(timerClaimRows{IDs: ids, Owner: o.Owner, Lease: o.Lease, Suspects: suspects}); err != nil {
		return err
	}
	return t.ask(timerClaimed{Owner: o.Owner, IDs: ids}, each)
}

// claimedTimer is a timer that an owner may have claimed.
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

// timerReapRows puts back claimed timers whose lease has expired. Suspects is with how many
// others a timer that expired for the first time may be claimed.
type timerReapRows struct {
	engine.Changes
	Suspects int
}

func reapTimers(t *txn, _ op.TimerReap) (int64, error) {
	n, err := t.change(timerReapRows{Suspects: firstSuspects})
	t.woke = t.woke || n > 0
	return n, err
}
