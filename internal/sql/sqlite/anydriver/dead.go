package anydriver

import (
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Operations on messages that have ended: failed ones are redriven or discarded, old ones
// deleted.

// outboxDeadFind reads failed messages and whether a filter selects them, oldest first.
type outboxDeadFind struct {
	engine.Rows[deadMessage]
	op.DeadFilter
}

type deadMessage struct {
	ID, Lane int64
	Chosen   bool
}

// outboxDeadEnded tests whether a message is a failed step of a failed join.
type outboxDeadEnded struct {
	engine.Rows[existence]
	ID int64
}

type outboxRedriveOne byID

type outboxDiscardOne struct {
	engine.Changes
	ID  int64
	Act *[16]byte
}

type (
	outboxUndiscardOne byID
	// jobFollowRun takes back what was recorded of a run whose message was discarded.
	jobFollowRun byID
)

// ofDead answers an operation on failed messages, which returns one row.
func ofDead[O engine.Operation](f func(t *txn, o O) (op.Dead, error)) answer {
	return listing(func(t *txn, o O, each func(engine.Row) error) error {
		d, err := f(t, o)
		if err != nil {
			return err
		}
		r := row{d.N, nil, d.Ended}
		if d.Last != nil {
			r[1] = *d.Last
		}
		return each(r)
	})
}

// dead reads failed messages and calls do for each.
func dead(t *txn, f op.DeadFilter, by op.Note, action string, do func(m *deadMessage) error) (row op.Dead, err error) {
	var found []deadMessage
	var seen, high int64
	err = each(t, outboxDeadFind{DeadFilter: f}, func(m *deadMessage) error {
		seen, high = seen+1, m.ID
		if m.Chosen && int64(len(found)) < f.Most {
			found = append(found, *m)
		}
		return nil
	})
	if err != nil {
		return row, err
	}
	row.N = int64(len(found))
	switch {
	case row.N >= f.Most && row.N > 0:
		row.Last = &found[row.N-1].ID
	case seen >= int64(f.Look):
		row.Last = &high
	}
	for i := range found {
		_, ended, err := one(t, outboxDeadEnded{ID: found[i].ID})
		if err != nil {
			return row, err
		}
		if ended {
			row.Ended++
		}
		if err := do(&found[i]); err != nil {
			return row, err
		}
	}
	return row, t.audit(by, action, row.N)
}

func redrive(t *txn, o op.OutboxRedrive) (op.Dead, error) {
	return dead(t, o.DeadFilter, o.Note, "redrive", func(m *deadMessage) error { return redriveOne(t, m.ID, m.Lane) })
}

// redriveOne makes a failed message ready again, with all attempts left.
func redriveOne(t *txn, id, lane int64) error {
	return t.do(
		outboxRedriveOne{ID: id}, outboxReadyInsert{run: run{Lane: lane, At: t.now, Lo: id, N: 1}},
		// A flow that failed goes on at the step that failed or, where effects were undone, begins anew. One
		// that was cancelled is so no longer.
		flowReopen{ID: id}, flowReopenSignals{ID: id},
		// A redriven message's failures are subtracted in pending joins (D-38).
		joinReopen{ID: id}, joinReopenMembers{ID: id},
	)
}

func discard(t *txn, o op.OutboxDiscard) (op.Dead, error) {
	return dead(t, o.DeadFilter, o.Note, "discard", func(m *deadMessage) error {
		if err := t.do(outboxDiscardOne{ID: m.ID, Act: o.Note.ID}); err != nil {
			return err
		}
		return next(t, []run{{Lo: m.ID, N: 1}})
	})
}

// undiscard makes messages failed again that were discarded.
func undiscard(t *txn, o op.OutboxUndiscard) (op.Dead, error) {
	return dead(t, o.DeadFilter, o.Note, "undiscard", func(m *deadMessage) error {
		return t.do(outboxUndiscardOne{ID: m.ID}, jobFollowRun{ID: m.ID})
	})
}

func countDead(t *txn, o op.OutboxCountDead) (op.Dead, error) {
	return dead(t, o.DeadFilter, op.Note{}, "", func(*deadMessage) error { return nil })
}

// oldest selects runs among the lowest that no pending join needs and that are old enough.
type oldest struct {
	Before int64
	Look   int
}

type outboxPurgeDone struct {
	engine.Rows[span]
	oldest
}

type outboxPurgeDead struct {
	engine.Rows[span]
	oldest
	Status int
}

type span struct{ Lo, N int64 }

type (
	outboxPurgeMessages   byRange
	outboxPurgeExceptions byRange
	outboxPurgeAttempts   byRange
	outboxPurgeResults    byRange
	outboxPurgeRun        byLo
)

func purge(t *txn, o op.OutboxPurge) (total int64, err error) {
	old := oldest{t.now - o.Age.Microseconds(), o.Look}
	if err := t.do(op.JobSettle{}); err != nil { // before their messages are deleted
		return 0, err
	}
	done, err := rows(t, outboxPurgeDone{oldest: old})
	if err != nil {
		return 0, err
	}
	var given []span
	for _, status := range []int{statusDiscarded, statusExpired} {
		some, err := rows(t, outboxPurgeDead{oldest: old, Status: status})
		if err != nil {
			return 0, err
		}
		given = append(given, some...)
	}
	all := slices.Concat(done, given)
	for _, s := range all {
		end := s.Lo + s.N
		err := t.do(
			outboxPurgeMessages{Lo: s.Lo, End: end}, outboxPurgeExceptions{Lo: s.Lo, End: end}, outboxPurgeAttempts{Lo: s.Lo, End: end}, outboxPurgeResults{Lo: s.Lo, End: end},
			flowPurgeStep{Lo: s.Lo, End: end}, flowPurgeSignal{Lo: s.Lo, End: end}, flowPurgeWait{Lo: s.Lo, End: end},
		)
		if err != nil {
			return 0, err
		}
		total += s.N
	}
	if err := purgeKeys(t, all, o.Look); err != nil {
		return 0, err
	}
	for _, s := range done {
		if err := t.do(outboxPurgeRun{Lo: s.Lo}); err != nil {
			return 0, err
		}
	}
	return total, purgeLimits(t)
}
