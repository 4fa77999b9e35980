package interleave

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Schedule stores timers that are due, with a key or without.
func Schedule(key string, ids ...int64) Action {
	o := op.TimerSchedule{}
	past := time.Now().Add(-time.Hour)
	for _, id := range ids {
		t := op.NewTimer{NewMessage: op.NewMessage{ID: id, MessageID: messageID(id), Topic: "t", Payload: []byte{}, Lane: engine.LaneID(Queue, 0, engine.Claimable), DueAt: &past}}
		if key != "" {
			t.Key = &key
		}
		o.Timers = append(o.Timers, t)
	}
	return ask(fmt.Sprintf("schedule %v", ids), none, o)
}

// CancelTimer cancels a timer.
func CancelTimer(id int64) Action {
	return ask(fmt.Sprintf("cancel timer %d", id), event(Event{Kind: Canceled, ID: id, Of: 1}), op.TimerCancel{TimerRef: op.TimerRef{TimerID: messageID(id), Carried: id}})
}

// CancelKey cancels the timer of a key.
func CancelKey(key string) Action {
	return ask("cancel the timer of "+key, event(Event{Kind: Canceled, Of: 1}), op.TimerCancelKey{Key: key})
}

// Dispatch moves due timers into the outbox.
func Dispatch() Action {
	return ask("dispatch", event(Event{Kind: Fired}), op.TimerDispatch{Most: 10})
}

// ReapTimers puts back timers under leases that have expired.
func ReapTimers() Action {
	return ask("reap timers", event(Event{Kind: Counted, Owner: "reap timers"}), op.TimerReap{})
}

// ClaimTimers claims due timers.
func ClaimTimers(owner string) Action {
	return Action{"claim timers by " + owner, func(ctx context.Context, e *Env) error {
		var list []op.Timer
		err := e.Call(ctx, engine.List(op.TimerClaim{Owner: ID(owner), Lease: lease, Most: 10}, &list))
		e.Saw(Event{Kind: Counted, Owner: owner, N: int64(len(list))})
		return err
	}}
}

// AckTimer marks a claimed timer as fired by its owner.
func AckTimer(owner string, id int64) Action {
	return ask(fmt.Sprintf("ack timer %d by %s", id, owner), event(Event{Kind: Counted, Owner: owner, ID: id}), op.TimerAck{TimerHeld: op.TimerHeld{Owner: ID(owner), TimerIDs: [][16]byte{messageID(id)}}})
}
