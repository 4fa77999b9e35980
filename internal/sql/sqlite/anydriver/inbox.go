package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// The operations of the inbox that take more than one statement on SQLite. Those that run in
// a caller's transaction can read only the number of rows affected.

type (
	// inboxMismatch tests whether a message has another hash.
	inboxMismatch struct {
		engine.Changes
		op.InboxKey
		Hash []byte
	}
	inboxHasStatus struct {
		engine.Changes
		op.InboxKey
		Status string
	}
	// inboxInProgress tests whether another owner is processing a message.
	inboxInProgress struct {
		engine.Changes
		op.InboxKey
		Token *[16]byte
	}
	inboxKill struct {
		engine.Changes
		op.InboxKey
	}
)

// inboxFailedInQueue reads the queue's message if it failed.
type inboxFailedInQueue struct {
	engine.Rows[inboxQueued]
	QueuedAs [16]byte
}

type inboxQueued struct {
	ID   int64
	Lane int64
}

// The results of see, and those that take adds.
const (
	seenNew        = 0
	seenTaken      = 1
	seenDone       = 2
	seenDead       = 3
	seenMismatch   = 4
	seenInProgress = 5
)

func see(t *txn, o op.InboxSee) (int64, error) { return delivered(t, o.InboxKey, o.Hash, nil) }

// delivered records a delivery and returns whether the message may be processed.
func delivered(t *txn, k op.InboxKey, hash []byte, token *[16]byte) (verdict int64, err error) {
	if err := t.do(op.InboxSee{InboxKey: k, Hash: hash}); err != nil {
		return 0, err
	}
	for _, q := range []struct {
		statement engine.Operation
		verdict   int64
	}{
		{inboxMismatch{InboxKey: k, Hash: hash}, seenMismatch}, {inboxHasStatus{InboxKey: k, Status: "Done"}, seenDone},
		{inboxHasStatus{InboxKey: k, Status: "Dead"}, seenDead}, {inboxInProgress{InboxKey: k, Token: token}, seenInProgress},
	} {
		n, err := t.change(q.statement)
		if err != nil || n > 0 {
			return q.verdict, err
		}
	}
	return seenNew, nil
}

func takeMessage(t *txn, o op.InboxTake) (int64, error) {
	verdict, err := delivered(t, o.InboxKey, o.Hash, o.Token)
	if err != nil || verdict != seenNew {
		return verdict, err
	}
	if o.Lease == nil {
		return seenTaken, nil // the write lock holds it
	}
	n, err := t.change(o) // unless all attempts are used up
	if err != nil || n > 0 {
		return seenTaken, err
	}
	return seenDead, t.do(inboxKill{InboxKey: o.InboxKey})
}

func takeDone(t *txn, o op.InboxTakeDone) (int64, error) {
	n, err := t.change(o) // if it is delivered for the first time
	if err != nil || n > 0 {
		return seenTaken, err
	}
	verdict, err := delivered(t, o.InboxKey, o.Hash, nil)
	if err != nil || verdict != seenNew {
		return verdict, err
	}
	return seenTaken, t.do(op.InboxDone{InboxKey: o.InboxKey})
}

func failAttempt(t *txn, o op.InboxFail) (int64, error) {
	if o.Token == nil { // the delivery was rolled back with its transaction
		verdict, err := delivered(t, o.InboxKey, o.Hash, nil)
		if err != nil || verdict != seenNew {
			return 0, err
		}
	}
	n, err := t.change(o)
	if err != nil || n == 0 {
		return 0, err
	}
	dead, err := t.change(inboxHasStatus{InboxKey: o.InboxKey, Status: "Dead"})
	return 1 + dead, err
}

func reviveMessage(t *txn, o op.InboxRevive) (int64, error) {
	n, err := t.changeAudited(o.Note, "revive", o)
	if err != nil || n == 0 {
		return 0, err
	}
	queued, failed, err := one(t, inboxFailedInQueue{QueuedAs: o.QueuedAs})
	if err != nil || !failed {
		return n, err
	}
	t.woke = true
	return n, redriveOne(t, queued.ID, queued.Lane)
}
