package anydriver

import (
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// The operations of the outbox that SQLite cannot say in one statement. All
// run under the write lock, so what they read cannot move before they write.

// outboxes adds what answers an operation of the outbox.
func (a answers) outboxes() {
	counting(a, reserve)
	counting(a, enqueue)
	counting(a, enqueueOnce)
	listing(a, claim)
	listing(a, claimSuspects)
	listing(a, claimAny)
	counting(a, suspects)
	counting(a, reap)
	counting(a, adopt)
	counting(a, purge)
	a.settlements()
	a.mends()
}

func outboxStatements() []engine.Operation {
	return slices.Concat(claimStatements(), settleStatements(), deadStatements(), []engine.Operation{
		outboxReserve{}, outboxEnqueueMessage{}, outboxEnqueueMessageOnce{}, outboxForgetMessage{}, outboxReadyInsert{}, outboxExceptionUpsert{},
		outboxOrphans{}, outboxQueues{},
	})
}

// run is consecutive ids Lo … Lo+N−1 and where they came from. Suspect is as in
// the tables (see suspect.go).
type run struct{ Lo, N, Lane, At, Retry, LockedUntil, Suspect int64 }

func (r run) end() int64 { return r.Lo + r.N }

// found is the row of a statement that asks whether there is anything.
type found struct{ Found bool }

// outboxReserve reserves ids. It is asked for by the engine as well, and answers the
// last of them.
type outboxReserve struct {
	engine.Changes
	N int64
}

func reserve(t *txn, o outboxReserve) (int64, error) {
	res, err := t.do(o)
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

type outboxForgetMessage struct {
	engine.Changes
	ID int64
}

// outboxReadyInsert lays a run into ready.
type outboxReadyInsert struct {
	engine.Changes
	run
}

// outboxExceptionUpsert records what went wrong with a message. No error keeps the
// last one.
type outboxExceptionUpsert struct {
	engine.Changes
	ID            int64
	Status        int
	RetryCount    int64
	NextAttemptAt *int64
	Error         *string
}

func enqueue(t *txn, o op.OutboxEnqueue) (int64, error) {
	for i := range o.Messages {
		m := stored(&o.Messages[i])
		m.Supplied = false
		if _, err := t.do(outboxEnqueueMessage{message: m}); err != nil {
			return 0, takeBack(t, o.Messages[:i], err)
		}
	}
	for _, r := range o.Runs {
		if err := toReady(t, run{Lane: r.Lane, At: t.at(r.At), Lo: r.Lo, N: int64(r.N)}); err != nil {
			return 0, err
		}
	}
	return int64(len(o.Messages)), nil
}

// at is a time, or now.
func (t *txn) at(when *time.Time) int64 {
	if when == nil {
		return t.now
	}
	return when.UnixMicro()
}

// takeBack undoes what an enqueue has put into a caller's transaction, which may yet
// be committed: all of it is stored or nothing. Transactions of our own are rolled back.
func takeBack(t *txn, written []op.NewMessage, err error) error {
	if _, ok := t.run.(foreign); !ok {
		return err
	}
	for _, m := range written {
		if _, undo := t.do(outboxForgetMessage{ID: m.ID}); undo != nil {
			return errors.Join(err, undo)
		}
	}
	return err
}

func enqueueOnce(t *txn, o op.OutboxEnqueueOnce) (made int64, err error) {
	for i := range o.Messages {
		m := &o.Messages[i]
		once := outboxEnqueueMessageOnce{message: stored(m), Carried: m.Carried}
		n, err := t.lodge(&once.message, m.Carried, func() (int64, error) { return t.change(once) })
		if err != nil {
			return made, err
		}
		if n == 0 {
			continue
		}
		if err := toReady(t, run{Lane: m.Lane, At: t.at(m.DueAt), Lo: once.ID, N: 1}); err != nil {
			return made, err
		}
		made++
	}
	return made, nil
}

// lodge stores a message whose id may be known, at a position of its own: the one that
// its id carries was made in a transaction that may have been rolled back, which took
// the reservation back as well, so it may be another's by now. Then, and where another
// has its position, it goes elsewhere and is found by its mark.
func (t *txn) lodge(m *message, carried int64, store func() (int64, error)) (n int64, err error) {
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

// body stores payloads as text where they are text, so that SQL can read them.
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
