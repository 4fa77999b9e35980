package interleave

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
)

// Positions of what is no ordinary message.
const (
	FirstWait     = 50 // waits of joins
	FirstTimer    = 70 // timers, and the messages that they become
	FirstFollowUp = 90 // what waits send
)

// lease is longer than a schedule takes.
const lease = time.Hour

// messageID returns the id that pawl would make for a position.
func messageID(position int64) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], 0x8000)
	binary.BigEndian.PutUint64(id[8:], 0x8000<<48|uint64(position))
	return id
}

// Enqueue writes messages lo … lo+n−1.
func Enqueue(lo int64, n int) Action { return enqueue(lo, n, "", nil) }

// EnqueueKeyed writes a message with an ordering key.
func EnqueueKeyed(id int64, key string) Action {
	at := ordering.At(key)
	return enqueue(id, 1, key, &at)
}

func enqueue(lo int64, n int, key string, at *time.Time) Action {
	lane, headers := engine.LaneID(Queue, 0, engine.Claimable), (*string)(nil)
	if key != "" {
		lane = engine.LaneID(Queue, 0, engine.Ordered)
		text := fmt.Sprintf(`{"pawl-ordering-key":%q}`, key)
		headers = &text
	}
	o := op.OutboxEnqueue{Queues: []string{Queue}, Runs: []op.NewRun{{Lane: lane, At: at, Lo: lo, N: n}}}
	for id := lo; id < lo+int64(n); id++ {
		o.Messages = append(o.Messages, op.NewMessage{ID: id, MessageID: messageID(id), Topic: "t", Payload: []byte{}, Headers: headers, Lane: lane})
	}
	return ask(fmt.Sprintf("enqueue %d", lo), func(context.Context, *Env, int64) {}, o)
}

// ask is an action of one operation that returns a number.
func ask(name string, saw func(context.Context, *Env, int64), o engine.Operation) Action {
	return Action{name, func(ctx context.Context, e *Env) error {
		c := engine.Ask(o)
		if err := e.Call(ctx, c); err != nil {
			return err
		}
		saw(ctx, e, c.N)
		return nil
	}}
}

func event(v Event) func(context.Context, *Env, int64) {
	return func(_ context.Context, e *Env, n int64) {
		v.N = n
		e.Saw(v)
	}
}

// Claim claims messages, suspects first. got, if given, becomes their positions.
func Claim(owner string, most int, got *[]int64) Action {
	return Action{"claim by " + owner, func(ctx context.Context, e *Env) error {
		ids, err := claim(ctx, e, owner, most)
		for _, id := range ids {
			e.Saw(Event{Kind: Claimed, Owner: owner, ID: id, Of: 1, N: 1})
		}
		if got != nil {
			*got = ids
		}
		return err
	}}
}

func claim(ctx context.Context, e *Env, owner string, most int) (ids []int64, err error) {
	if !e.Postgres() {
		var list []op.OutboxClaimed
		err = e.Call(ctx, engine.List(op.OutboxClaimAny{Queue: Queue, Owner: ID(owner), Lease: lease, Most: most}, &list))
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		return ids, err
	}
	// The engine claims with parameters of its own, which only its own transactions have.
	return e.numbers(ctx, "SELECT id FROM pawl.outbox_claim_any($1, $2, $3, $4, $4, '-infinity')", Queue, ID(owner), lease, most)
}

func held(owner string, lo int64, n int) op.Held { return op.Held{Owner: ID(owner), Lo: lo, N: n} }

func about(kind Kind, owner string, lo int64, n int) Event {
	return Event{Kind: kind, Owner: owner, ID: lo, Of: int64(n)}
}

// Ack acks messages lo … lo+n−1.
func Ack(owner string, lo int64, n int) Action {
	return ask(fmt.Sprintf("ack %d by %s", lo, owner), event(about(Acked, owner, lo, n)), op.OutboxAck{Runs: []op.Held{held(owner, lo, n)}, Worker: owner})
}

// Fail fails them for good.
func Fail(owner string, lo int64, n int) Action {
	why := "why"
	return ask(fmt.Sprintf("fail %d by %s", lo, owner), event(about(Failed, owner, lo, n)),
		op.OutboxFail{Runs: []op.Failure{{Held: held(owner, lo, n), Reported: op.Reported{Error: &why}}}, Worker: owner, Keep: 5, Count: true})
}

// Abandon puts them back at once, with an attempt counted.
func Abandon(owner string, lo int64, n int) Action {
	none, why := time.Duration(0), "why"
	return ask(fmt.Sprintf("abandon %d by %s", lo, owner), event(about(Retried, owner, lo, n)),
		op.OutboxAbandon{Runs: []op.Abandoned{{Held: held(owner, lo, n), Delay: &none, Reported: op.Reported{Error: &why}}}, Worker: owner, Keep: 5})
}

// Extend extends their lease.
func Extend(owner string, lo int64, n int) Action {
	return ask(fmt.Sprintf("extend %d by %s", lo, owner), event(about(Extended, owner, lo, n)), op.OutboxExtend{Runs: []op.Held{held(owner, lo, n)}, Lease: lease})
}

// Stranger returns an action of an owner that never holds what it is about.
func Stranger(a Action) Action {
	return Action{"stranger's " + a.Name, func(ctx context.Context, e *Env) error {
		had := len(*e.events)
		err := a.Do(ctx, e)
		for i := had; i < len(*e.events); i++ {
			(*e.events)[i].Stranger = true
		}
		return err
	}}
}

// Reap puts back what is under leases that have expired.
func Reap() Action {
	return ask("reap", event(Event{Kind: Counted, Owner: "reap"}), op.OutboxReap{Most: 100, Keep: 5})
}

// CancelMessage cancels a message.
func CancelMessage(id int64) Action {
	return ask(fmt.Sprintf("cancel %d", id), event(Event{Kind: Canceled, ID: id, Of: 1}), op.OutboxCancel{IDs: []int64{id}, Reason: "why"})
}

// ExpireClaims lets the leases of all claimed messages and timers expire.
func ExpireClaims() Action {
	return Action{"expire", func(ctx context.Context, e *Env) error {
		for _, table := range []string{"pawl.outbox_claim SET", "pawl.timer SET"} {
			condition := " WHERE locked_until > "
			now, past := "clock_timestamp()", "clock_timestamp() - interval '1 hour'"
			if !e.Postgres() {
				now, past = fmt.Sprint(time.Now().UnixMicro()), fmt.Sprint(time.Now().Add(-time.Hour).UnixMicro())
			}
			if err := e.Exec(ctx, "UPDATE "+table+" locked_until = "+past+condition+now); err != nil {
				return err
			}
		}
		return nil
	}}
}
