package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// outboxStopPut asks for the end of a message that is claimed.
type outboxStopPut struct {
	engine.Changes
	ID     int64
	Reason string
}

// outboxStopOver deletes what asks for the end of a message that is not claimed any more.
type outboxStopOver struct {
	engine.Rows[stopped]
	ID int64
}

type stopped struct {
	Owner  *[16]byte
	Reason string
}

func stop(t *txn, o op.OutboxStop) (int64, error) {
	n, err := stopAll(t, o.IDs, o.Reason)
	if err != nil {
		return 0, err
	}
	return n, t.audit(o.Note, "cancel", n)
}

func stopAll(t *txn, ids []int64, reason string) (int64, error) {
	taken, err := discardWaiting(t, ids, reason)
	n := int64(len(taken))
	for _, id := range ids {
		if err != nil {
			return 0, err
		}
		var claimed int64
		claimed, err = t.change(outboxStopPut{ID: id, Reason: reason})
		n += claimed
	}
	return n, err
}

func endStops(t *txn, o op.OutboxStopEnd) (ended int64, err error) {
	for _, id := range o.IDs {
		s, found, err := one(t, outboxStopOver{ID: id})
		if err == nil && found && s.Owner == nil {
			_, err = stopAll(t, []int64{id}, s.Reason)
		}
		if err != nil {
			return 0, err
		}
		if found {
			ended++
		}
	}
	return ended, nil
}
