package interleave

import (
	"context"
	"fmt"

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

// Report counts a step as completed by hand, before its message is done.
func Report(join string, id int64) Action {
	return ask(fmt.Sprintf("report %d", id), event(Event{Kind: Reported, ID: id, Of: 1}), op.JoinReport{JoinID: ID(join), MessageID: messageID(id), Status: 1})
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
		return e.Call(ctx, engine.Ask(op.JoinWait{JoinID: ID(join), ID: id, MessageID: messageID(id)}))
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
