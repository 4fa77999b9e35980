package anydriver

import (
	"errors"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
)

// The operations of the outbox that take more than one statement on SQLite. All run under the
// write lock, so what they read cannot change before they write.

// run is consecutive ids Lo … Lo+N−1 and their former place. Suspect is as in the tables (see
// suspect.go).
type run struct{ Lo, N, Lane, At, Retry, LockedUntil, Suspect int64 }

func (r run) end() int64 { return r.Lo + r.N }

// existence is the row of a statement that tests whether there is anything.
type existence struct{ Found bool }

// outboxReserve reserves ids, and returns the last of them. The engine calls it as well.
type outboxReserve struct {
	engine.Changes
	N int64
}

func reserve(t *txn, o outboxReserve) (int64, error) {
	res, err := t.exec(o)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// nextID reserves one id within the transaction.
func nextID(t *txn) (int64, error) { return reserve(t, outboxReserve{N: 1}) }

// message is a message as it is stored.
type message struct {
	ID            int64
	MessageID     [16]byte
	Supplied      bool
	Lane          int64
	Topic         string
	CorrelationID *string
	Headers       *string
	Payload       any
	DueAt         *time.Time
}

func stored(m *op.NewMessage) message {
	return message{m.ID, m.MessageID, m.Supplied, m.Lane, m.Topic, m.CorrelationID, m.Headers, body(m.Payload), m.DueAt}
}

type outboxEnqueueMessage struct {
	engine.Changes
	message
}

type outboxEnqueueMessageOnce struct {
	engine.Changes
	message
	Carried int64
}

type outboxDeleteMessage byID

// outboxReadyInsert puts a run into ready.
type outboxReadyInsert struct {
	engine.Changes
	run
}

// toReady puts a run into ready.
func toReady(t *txn, r run) error { return t.do(outboxReadyInsert{run: r}) }

// outboxExceptionUpsert records what went wrong with a message. Without an error the last one
// is kept.
type outboxExceptionUpsert struct {
	engine.Changes
	ID            int64
	Status        int
	RetryCount    int64
	NextAttemptAt *int64
	op.Reported
}

func enqueue(t *txn, o op.OutboxEnqueue) (int64, error) {
	for i := range o.Messages {
		m := stored(&o.Messages[i])
		m.Supplied = false
		if _, err := t.exec(outboxEnqueueMessage{message: m}); err != nil {
			return 0, undoEnqueue(t, o.Messages[:i], err)
		}
	}
	for _, r := range o.Runs {
		if _, err := t.exec(outboxReadyInsert{run: run{Lane: r.Lane, At: t.at(r.At), Lo: r.Lo, N: int64(r.N)}}); err != nil {
			return 0, err
		}
	}
	return int64(len(o.Messages)), nil
}

func enqueueClaimed(t *txn, o op.OutboxEnqueueClaimed, each func(engine.Row) error) error {
	if err := t.do(outboxEnqueueMessage{message: stored(&o.NewMessage)}); err != nil {
		return err
	}
	r := run{Lane: o.Lane, At: t.now, Lo: o.ID, N: 1}
	lanes, err := rows(t, outboxClaimLanes{Queue: o.Queue})
	switch {
	case err != nil:
		return err
	case len(lanes) == 0: // it is paused
		return toReady(t, r)
	case lanes[0].Limited:
		_, under, err := one(t, outboxUnderLimit{Queue: o.Queue, Topic: o.Topic})
		if err != nil {
			return err
		}
		if under {
			return toReady(t, r)
		}
	}
	r.LockedUntil = t.now + o.Lease.Microseconds()
	if err := toClaim(t, r, o.Owner); err != nil {
		return err
	}
	return each(row{t.now})
}

// at returns a time, or now.
func (t *txn) at(when *time.Time) int64 {
	if when == nil {
		return t.now
	}
	return when.UnixMicro()
}

// undoEnqueue deletes what an enqueue has written in a caller's transaction, which may still
// be committed: all of it is stored or nothing. pawl's own transactions are rolled back.
func undoEnqueue(t *txn, written []op.NewMessage, err error) error {
	if _, ok := t.run.(callerTx); !ok {
		return err
	}
	for _, m := range written {
		if undo := t.do(outboxDeleteMessage{ID: m.ID}); undo != nil {
			return errors.Join(err, undo)
		}
	}
	return err
}

func enqueueOnce(t *txn, o op.OutboxEnqueueOnce) (made int64, err error) {
	for i := range o.Messages {
		id, err := enqueueOneOnce(t, &o.Messages[i])
		if err != nil {
			return made, err
		}
		if id != 0 {
			made++
		}
	}
	return made, nil
}

// enqueueOneOnce stores a message, and returns its position, or 0 if it was stored already.
func enqueueOneOnce(t *txn, m *op.NewMessage) (id int64, err error) {
	once := outboxEnqueueMessageOnce{message: stored(m), Carried: m.Carried}
	n, err := t.insertWithID(&once.message, m.Carried, func() (int64, error) { return t.change(once) })
	if err != nil || n == 0 {
		return 0, err
	}
	return once.ID, t.do(outboxReadyEnqueue{Lane: m.Lane, Lo: once.ID, DueAt: m.DueAt, Group: ordering.AtOf(m.Headers).UnixMicro()})
}

// insertWithID stores a message whose id may be stored already, at a position of its own: the
// one that its id carries was reserved in a transaction that may have been rolled back with
// the reservation, so another message may have it. In that case, and if its own position is
// taken, it gets a new position and its id is indexed (Supplied).
func (t *txn) insertWithID(m *message, carried int64, store func() (int64, error)) (n int64, err error) {
	if m.ID == carried {
		if m.ID, err = nextID(t); err != nil {
			return 0, err
		}
		m.Supplied = true
	}
	n, err = store()
	if !errors.Is(classify(err), engine.ErrPosition) {
		return n, err
	}
	if m.ID, err = nextID(t); err != nil {
		return 0, err
	}
	m.Supplied = true
	return store()
}

// body returns a payload as text if it is text, so that SQL can read it.
func body(payload []byte) any {
	if payload == nil {
		return ""
	}
	if !utf8.Valid(payload) {
		return payload
	}
	for _, b := range payload {
		if b == 0 { // SQLite's text functions stop at a NUL
			return payload
		}
	}
	return string(payload)
}
