package anydriver

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
)

// Messages with ordering keys are enqueued to a lane from which nothing is claimed. A claim puts
// them in order first: the first of a key that has no head becomes its head, and may be claimed;
// the others wait in another lane until the messages before them have ended.

type (
	// outboxOrderPick reads due runs of a lane from Low to High, oldest first.
	outboxOrderPick struct {
		engine.Rows[run]
		Lane, Low, High int64
		Most            int
	}
	// outboxOrderKeys reads the ordering keys of messages.
	outboxOrderKeys struct {
		engine.Rows[keyed]
		Lo, End int64
	}
	keyed struct {
		ID, CreatedAt int64
		Key, Fair     *string
	}
	// outboxOrderHead reads the head of a key.
	outboxOrderHead ofKey
	// outboxOrderNext reads the first message of a key.
	outboxOrderNext ofKey
	// inLine is a message with an ordering key.
	inLine struct {
		ID, Lane int64
		Key      string
		Head     bool
	}
	// outboxOrderInsert puts a message in line, unless it is.
	outboxOrderInsert struct {
		engine.Changes
		inLine
	}
	// outboxOrderLead makes a message the head of its key.
	outboxOrderLead byID
	// outboxOrderEnd takes messages out of line, and returns which were.
	outboxOrderEnd struct {
		engine.Rows[inLine]
		Lo, End int64
	}
	outboxOrderDelete byID
	// outboxOrderMove lets a message be claimed that is ready, and has an ordering key.
	outboxOrderMove byID
	// outboxReadyEnqueue puts a message into ready that is enqueued to a lane.
	outboxReadyEnqueue struct {
		engine.Changes
		Lane, Lo, Group int64
		DueAt           *time.Time
	}
	// outboxMessageLane reads the lane to which a message was enqueued.
	outboxMessageLane struct {
		engine.Rows[orphan]
		ID int64
	}
)

const (
	// atOnce is the macro pawl.at_once().
	atOnce = 0
	// orderedRuns is how many runs are read at once, to be put in order.
	orderedRuns = 100
	// orderedMost bounds how many messages one claim puts in order of those that were due later, and
	// of those that are due at once.
	orderedMost = 500
	// orderedEach bounds how many of those are of one key.
	orderedEach = 50
)

// sequence puts messages of an ordered lane in order until as many heads were found. What is due at once lies
// in groups, one a key (ordering.At). Of a group some are put in order, and then those of the next, from a
// group that is chosen at random: however many messages a key has, others are found behind them, and a claim is short.
func sequence(t *txn, queue string, lane, heads int64) error {
	if _, _, err := sequencePart(t, queue, outboxOrderPick{Lane: lane, Low: atOnce, High: math.MaxInt64}, orderedMost, orderedMost, heads); err != nil {
		return err
	}
	start := -1 - rand.Int64N(ordering.Groups)
	n, found, err := sequencePart(t, queue, outboxOrderPick{Lane: lane, Low: start, High: atOnce - 1}, orderedEach, orderedMost, heads)
	if err != nil {
		return err
	}
	_, _, err = sequencePart(t, queue, outboxOrderPick{Lane: lane, Low: -ordering.Groups, High: start - 1}, orderedEach, orderedMost-n, heads-found)
	return err
}

// sequencePart puts messages of a part of an ordered lane in order, of each time so many at most
// and so many in all, until as many heads were found. It returns how many messages and heads.
func sequencePart(t *txn, queue string, pick outboxOrderPick, each, most, heads int64) (n, found int64, err error) {
	pick.Most = orderedRuns
	at, of := int64(math.MinInt64), int64(0) // of the last time so many were put in order
	for n < most && found < heads {
		due, err := rows(t, pick)
		if err != nil || len(due) == 0 {
			return n, found, err
		}
		for _, r := range due {
			if r.At != at {
				at, of = r.At, 0
			}
			some := min(r.N, each-of, most-n)
			if some <= 0 {
				continue
			}
			got, err := sequenceRun(t, queue, r, some)
			if err != nil {
				return n, found, err
			}
			n, of, found = n+some, of+some, found+got
			if found >= heads {
				break
			}
		}
		if pick.Low = at; of >= each { // the others of this time are left
			pick.Low++
		}
	}
	return n, found, nil
}

// sequenceRun puts the first messages of a run in order, and returns how many of them may be claimed.
func sequenceRun(t *txn, queue string, r run, some int64) (heads int64, err error) {
	if err := t.do(outboxWithdrawDelete{Lo: r.Lo}); err != nil {
		return 0, err
	}
	if rest := r; some < r.N {
		rest.Lo, rest.N = r.Lo+some, r.N-some
		if err := toReady(t, rest); err != nil {
			return 0, err
		}
		r.N = some
	}
	messages, err := rows(t, outboxOrderKeys{Lo: r.Lo, End: r.end()})
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		kind, err := line(t, r.Lane, m)
		if err != nil {
			return 0, err
		}
		one := r
		one.Lo, one.N = m.ID, 1
		if one.At <= atOnce {
			one.At = m.CreatedAt
		}
		one.Lane = engine.LaneID(queue, 0, kind)
		if at, takes := m.turn(&r); takes {
			one.Lane, one.At = r.Lane, at
		} else if kind == engine.Claimable {
			heads++
		}
		if err := toReady(t, one); err != nil {
			return 0, err
		}
	}
	return heads, nil
}

// line puts a message in line, and returns the kind of lane that it goes to: the head of its key
// may be claimed.
func line(t *txn, lane int64, m keyed) (engine.LaneKind, error) {
	if m.Key == nil || *m.Key == "" { // another program removed it
		return engine.Claimable, nil
	}
	first, found, err := one(t, outboxOrderHead{Lane: lane, Key: *m.Key})
	if err != nil {
		return 0, err
	}
	head, kind := true, engine.Claimable
	if found && first.ID != m.ID {
		head, kind = false, engine.Waiting
	}
	return kind, t.do(outboxOrderInsert{inLine: inLine{ID: m.ID, Lane: lane, Key: *m.Key, Head: head}})
}

// registerOrder registers the lanes to which messages go that were put in order, and reports
// whether one is new.
func registerOrder(t *txn, queue string) (registered bool, err error) {
	for _, kind := range []engine.LaneKind{engine.Claimable, engine.Waiting} {
		n, err := t.change(op.OutboxLane{ID: engine.LaneID(queue, 0, kind), Queue: queue, Kind: int(kind)})
		if err != nil {
			return registered, err
		}
		registered = registered || n > 0
	}
	return registered, nil
}

// next lets the next messages be claimed whose ordering keys were held by messages that have
// ended, or keep them waiting no longer.
func next(t *txn, runs []run) error {
	for _, r := range runs {
		ended, err := rows(t, outboxOrderEnd{Lo: r.Lo, End: r.end()})
		if err != nil {
			return err
		}
		for _, m := range ended {
			if !m.Head {
				continue
			}
			if err := lead(t, m.Lane, m.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// stepBack lets the next message go on whose ordering key is that of a message: that is put in
// order again.
func stepBack(t *txn, r *run) error {
	lane, _, err := one(t, outboxMessageLane{ID: r.Lo})
	if err != nil {
		return err
	}
	r.Lane = lane.Lane
	return next(t, []run{*r})
}

// lead makes the first message of a key its head.
func lead(t *txn, lane int64, key string) error {
	for {
		first, found, err := one(t, outboxOrderNext{Lane: lane, Key: key})
		if err != nil || !found {
			return err
		}
		moved, err := t.change(outboxOrderMove{ID: first.ID})
		if err != nil {
			return err
		}
		if moved > 0 {
			t.woke = true
			return t.do(outboxOrderLead{ID: first.ID})
		}
		if err := t.do(outboxOrderDelete{ID: first.ID}); err != nil { // it is nowhere: nothing waits for it
			return err
		}
	}
}
