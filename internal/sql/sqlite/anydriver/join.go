package anydriver

import (
	"encoding/binary"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// The operations of joins that take more than one statement on SQLite. Those that run in a
// caller's transaction can read only the number of rows affected.

// member identifies a member of a join.
type member struct {
	JoinID    [16]byte
	MessageID [16]byte
}

type (
	joinMember       byMember
	joinAttachOne    byMemberID
	joinOwnWait      byMemberID
	joinAttachNewOne byMemberID
	joinDetachOne    byMember
	joinStep         struct {
		engine.Changes
		member
		Status int
	}
)

// joinPendingUntil reads the deadline of a join, if that is pending.
type joinPendingUntil struct {
	engine.Rows[joinUntil]
	JoinID [16]byte
}

type joinUntil struct{ Until int64 }

type (
	joinWaitParked struct {
		engine.Changes
		JoinID [16]byte
		ID     int64
	}
	joinPurgeFind struct {
		engine.Rows[joinID]
		Status int
		Age    time.Duration
		Most   int
	}
	joinPurgeMembers byJoin
	joinPurgeWaits   byJoin
	joinPurgeResults byJoin
	joinPurgeJoin    byJoin
)

type joinID struct{ JoinID [16]byte }

// joinResultPut stores the result of a message that an owner holds, for each of its joins.
type joinResultPut struct {
	engine.Changes
	op.JoinResult
}

// outboxResultPut stores the result of a message that an owner holds, and that is no member.
type outboxResultPut joinResultPut

type (
	joinWaitReplaced byJoin
	joinMarkFailed   struct {
		engine.Changes
		JoinID [16]byte
		Failed int64
	}
)

// carried returns the position in an id that pawl made, or 0.
func carried(id [16]byte) int64 {
	return int64(binary.BigEndian.Uint64(id[8:]) & (1<<48 - 1))
}

func attach(t *txn, o op.JoinAttach) (int64, error) {
	if known, err := t.change(op.JoinKnown{JoinID: o.JoinID}); err != nil || known == 0 {
		return 1, err
	}
	var added [][16]byte
	for i, message := range o.MessageIDs {
		m := member{o.JoinID, message}
		n, err := t.change(joinAttachOne{member: m, ID: carried(message)})
		if err != nil {
			return 0, err
		}
		if n > 0 {
			added = append(added, message)
			if n, err = t.change(joinOwnWait{member: m, ID: carried(message)}); err != nil {
				return 0, err
			}
			if n > 0 {
				return int64(2 + i + len(o.MessageIDs)), detach(t, o.JoinID, added)
			}
			continue
		}
		if n, err = t.change(joinMember{member: m}); err != nil {
			return 0, err
		}
		if n == 0 {
			return int64(2 + i), detach(t, o.JoinID, added)
		}
	}
	return 0, countSettled(t, o.JoinID, added)
}

func detach(t *txn, join [16]byte, messages [][16]byte) error {
	for _, message := range messages {
		if err := t.do(joinDetachOne{member: member{join, message}}); err != nil {
			return err
		}
	}
	return nil
}

func attachNew(t *txn, o op.JoinAttachNew) (int64, error) {
	for _, m := range o.Members {
		if err := t.do(joinAttachNewOne{member: member{o.JoinID, m.MessageID}, ID: m.ID}); err != nil {
			return 0, err
		}
	}
	return int64(len(o.Members)), nil
}

func report(t *txn, o op.JoinReport) (int64, error) {
	if known, err := t.change(op.JoinKnown{JoinID: o.JoinID}); err != nil || known == 0 {
		return 0, err
	}
	m := member{o.JoinID, o.MessageID}
	n, err := t.change(joinStep{member: m, Status: o.Status})
	if err != nil {
		return 0, err
	}
	if n > 0 {
		return 1, addSteps(t, o.JoinID, int64(o.Status), n)
	}
	n, err = t.change(joinMember{member: m})
	return 3 - n, err
}

// joinCancelled is the status of a join that was cancelled.
const joinCancelled = 3

func cancelJoin(t *txn, o op.JoinCancel) (int64, error) {
	n, err := endJoin(t, op.JoinEnd{JoinID: o.JoinID, Status: joinCancelled})
	if err != nil || n != 1 {
		return n, err
	}
	return n, t.audit(o.Note, "cancel", n)
}

func endJoin(t *txn, o op.JoinEnd) (int64, error) {
	n, err := t.change(o)
	if err != nil {
		return 0, err
	}
	if n > 0 {
		return 1, wakeWaits(t, o.JoinID)
	}
	known, err := t.change(op.JoinKnown{JoinID: o.JoinID})
	return 2 * known, err
}

func redriveJoin(t *txn, o op.JoinRedrive) (int64, error) {
	n, err := t.changeAudited(o.Note, "redrive", o)
	if err == nil && n > 0 {
		err = t.do(joinWaitReplaced{JoinID: o.JoinID})
	}
	return n, err
}

func markMembers(t *txn, o op.JoinMark) (int64, error) {
	n, err := t.change(o)
	if err != nil || n == 0 {
		return n, err
	}
	return n, t.do(joinMarkFailed{JoinID: o.JoinID, Failed: int64(o.Status-1) * n})
}

func park(t *txn, o op.JoinPark) (int64, error) {
	taken, err := take(t, o.Owner, o.ID, 1)
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	deadline, pending, err := one(t, joinPendingUntil{JoinID: o.JoinID})
	if err != nil {
		return 0, err
	}
	cancelled := false
	if o.Flow && pending {
		if _, cancelled, err = one(t, flowSignalled{ID: o.ID}); err != nil {
			return 0, err
		}
	}
	wait := taken[0]
	wait.At, wait.Suspect = t.now, 0
	if pending && !cancelled {
		wait.At = deadline.Until
	} else {
		t.woke = true
	}
	return 1, t.do(joinWaitParked{JoinID: o.JoinID, ID: o.ID}, outboxReadyInsert{run: wait})
}

func purgeJoins(t *txn, o op.JoinPurge) (int64, error) {
	var old []joinID
	for outcome := 1; outcome <= 3; outcome++ {
		found, err := rows(t, joinPurgeFind{Status: outcome, Age: o.Age, Most: o.Most})
		if err != nil {
			return 0, err
		}
		old = append(old, found...)
	}
	for _, j := range old {
		if err := t.do(joinPurgeMembers{JoinID: j.JoinID}, joinPurgeWaits{JoinID: j.JoinID}, joinPurgeResults{JoinID: j.JoinID}, joinPurgeJoin{JoinID: j.JoinID}); err != nil {
			return 0, err
		}
	}
	return int64(len(old)), nil
}

// putResults stores results. Under the write lock nobody takes the messages before the ack.
func putResults(t *txn, o op.JoinResults) (stored int64, err error) {
	for _, r := range o.Results {
		n, err := t.change(joinResultPut{JoinResult: r})
		if err == nil && n == 0 {
			n, err = t.change(outboxResultPut{JoinResult: r})
		}
		if err != nil {
			return 0, err
		}
		stored += n
	}
	return stored, nil
}
