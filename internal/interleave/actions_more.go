package interleave

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// StartJoin adds a join.
func StartJoin(name string, steps int) Action {
	return ask("start "+name, none, op.JoinStart{JoinID: ID(name), ExpectedSteps: steps})
}

func none(context.Context, *Env, int64) {}

// Attach makes messages members.
func Attach(join string, ids ...int64) Action {
	var members [][16]byte
	for _, id := range ids {
		members = append(members, messageID(id))
	}
	return ask("attach to "+join, event(Event{Kind: Counted, Owner: "attach"}), op.JoinAttach{JoinID: ID(join), MessageIDs: members})
}

// CancelJoin ends a join as cancelled.
func CancelJoin(join string) Action {
	return ask("cancel "+join, event(Event{Kind: Counted, Owner: "cancel join"}), op.JoinCancel{JoinID: ID(join)})
}

// EnqueueWait enqueues the wait of a join.
func EnqueueWait(join string, id int64) Action {
	write := Enqueue(id, 1)
	return Action{"wait for " + join, func(ctx context.Context, e *Env) error {
		if err := write.Do(ctx, e); err != nil {
			return err
		}
		return e.Call(ctx, engine.Ask(op.JoinWait{JoinID: ID(join), ID: id}))
	}}
}

// followUp is the id of what a wait sends.
func followUp(wait int64) string { return fmt.Sprintf("after %d", wait) }

// HandleWait handles a claimed wait as join.Joins does: it parks it while the join is pending,
// and otherwise sends the follow-up and acks the wait.
func HandleWait(owner, join string, id int64) Action {
	return Action{fmt.Sprintf("handle %d by %s", id, owner), func(ctx context.Context, e *Env) error {
		status, err := statusOf(ctx, e, id)
		if err != nil {
			return err
		}
		if status == 0 {
			park := engine.Ask(op.JoinPark{JoinID: ID(join), Owner: ID(owner), ID: id})
			if err := e.Call(ctx, park); err != nil {
				return err
			}
			e.Saw(Event{Kind: Counted, Owner: "park", ID: id, N: park.N})
			return nil
		}
		if status != 3 {
			next := op.NewMessage{ID: FirstFollowUp + id - FirstWait, MessageID: ID(followUp(id)), Topic: "next", Payload: []byte{}, Lane: engine.LaneID(Queue, 0, engine.Claimable), Supplied: true}
			if e.Session != testItself {
				next.ID += int64(1+e.Session) * 20 // sessions have positions of their own
			}
			if err := e.Call(ctx, engine.Ask(op.OutboxEnqueueOnce{Messages: []op.NewMessage{next}, Queues: []string{Queue}})); err != nil {
				return err
			}
		}
		return Ack(owner, id, 1).Do(ctx, e)
	}}
}

// statusOf reads the status of a wait's join.
func statusOf(ctx context.Context, e *Env, wait int64) (int64, error) {
	list, err := e.numbers(ctx, fmt.Sprintf("SELECT j.status FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = %d", wait))
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0], nil
}

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

// Lease is the name of the scenarios' lease.
const Lease = "lease"

// Acquire takes the lease if it is free.
func Acquire(holder string) Action {
	return Action{"acquire by " + holder, func(ctx context.Context, e *Env) error {
		var grant op.LeaseGrant
		c := engine.One(op.LeaseAcquire{Name: Lease, Owner: holder, Holder: ID(holder), Lease: lease}, &grant)
		err := e.Call(ctx, c)
		e.granted(holder, grant.Token)
		e.Saw(Event{Kind: Granted, Owner: holder, N: grant.Token})
		return err
	}}
}

// Renew extends the lease.
func Renew(holder string) Action {
	return Action{"renew by " + holder, func(ctx context.Context, e *Env) error {
		var end op.LeaseEnd
		c := engine.One(op.LeaseRenew{Name: Lease, Holder: ID(holder), Lease: lease}, &end)
		err := e.Call(ctx, c)
		e.Saw(Event{Kind: Renewed, Owner: holder, N: c.N})
		return err
	}}
}

// Release gives the lease up.
func Release(holder string) Action {
	return ask("release by "+holder, event(Event{Kind: Counted, Owner: "release"}), op.LeaseRelease{Name: Lease, Holder: ID(holder)})
}

// Guard locks the lease for the transaction, with the token that its holder was given.
func Guard(holder string) Action {
	return Action{"guard by " + holder, func(ctx context.Context, e *Env) error {
		token := e.token(holder)
		c := engine.Ask(op.LeaseGuard{Name: Lease, Holder: ID(holder), Token: token})
		if err := e.Call(ctx, c); err != nil {
			return err
		}
		e.Saw(Event{Kind: Guarded, Owner: Lease, N: token * min(c.N, 1)})
		return nil
	}}
}

// ExpireLease lets the lease expire.
func ExpireLease() Action {
	return Action{"expire the lease", func(ctx context.Context, e *Env) error {
		past := "clock_timestamp() - interval '1 hour'"
		if !e.Postgres() {
			past = fmt.Sprint(time.Now().Add(-time.Hour).UnixMicro())
		}
		e.Saw(Event{Kind: Counted, Owner: "expire the lease"})
		return e.Exec(ctx, "UPDATE pawl.lease SET lease_until_utc = "+past+" WHERE holder IS NOT NULL")
	}}
}
