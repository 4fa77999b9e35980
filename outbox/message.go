// Package outbox delivers messages that were written in the same transaction as the data they
// refer to: if the transaction commits the message will be handled at least once, if it rolls back
// the message does not exist.
//
// Producers call Enqueue, EnqueueBatch, or EnqueueTx within their own transaction. Consumers
// register a Handler per topic and call Run, or claim and settle themselves with the work-queue
// calls. Delivery is at least once: handlers should recognize a Message.ID that they have handled.
package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// DefaultQueue is the queue of messages that name none.
const DefaultQueue = worker.DefaultQueue

// Message is a message, as enqueued and as passed to a handler.
type Message struct {
	// ID is the message's identity. Left zero, Enqueue makes one. Supplying an
	// id makes the enqueue idempotent: a second message with a known id is not
	// added, as long as the first is kept (see Options.Retention).
	ID MessageID `json:"message_id"`
	// Topic says which handler gets the message: 1–255 characters, matched
	// exactly.
	Topic string `json:"topic"`
	// Payload is the body: any bytes, also none. Encoding is the handlers'.
	Payload []byte `json:"payload_base64,omitempty"`
	// CorrelationID links messages for tracing: at most 255 characters, "" for none.
	CorrelationID string `json:"correlation_id,omitempty"`
	// Headers are a small map, at most 16 KiB in all.
	Headers map[string]string `json:"headers,omitempty"`
	// Due is when the message may be handled at the earliest; zero or past: now.
	// A time before 1970 is kept as none.
	Due time.Time `json:"due,omitzero"`
	// Expires is when the message is no longer worth handling, by the database's clock: no
	// attempt begins at or after it, also no retry, and the message ends as Expired when a
	// worker meets it. Zero: never.
	Expires time.Time `json:"expires,omitzero"`
	// Queue is which workers see the message; "" = DefaultQueue.
	Queue string `json:"queue"`
	// Priority orders a queue: lower goes first, −100 … 100, default 0.
	Priority int `json:"priority"`
	// OrderingKey puts the message in line behind those of its queue that have the same key: they
	// are handled one at a time, in the order in which they were committed as far as one
	// transaction began to enqueue after another had committed, and in the order of the calls
	// within a transaction. Transactions that overlap have no order. A message that waits for
	// another attempt, for its lease to expire or for a pause to end keeps those behind it waiting,
	// see HandlerOptions.Order; one with Due takes its place when it is due. At most 255
	// characters, "" for none; it goes with Priority 0 only.
	OrderingKey string `json:"ordering_key,omitempty"`
	// UniqueKey keeps the message out while an earlier one with the key is not done, or as Unique
	// says: the enqueue returns the id of the earlier message, which is no error, and stores
	// nothing. At most 255 characters, "" for none. The keys of a database are one namespace,
	// whatever the topic and the queue. It cannot be used together with ID, except to repeat an
	// enqueue with the same Outbox after pawl.ErrCommitUnknown, with the id that was returned: then
	// nothing is stored twice, and the message is no duplicate of itself.
	//
	// The transaction of the enqueue holds the key until it ends: others that enqueue with it wait,
	// so that of any number at once one is stored, and after a rollback the key is free again. In a
	// caller's transaction that needs READ COMMITTED on PostgreSQL (pawl.ErrIsolation), and
	// a transaction that can query, as *sql.Tx and pgx.Tx can.
	UniqueKey string `json:"unique_key,omitempty"`
	// Unique are the options of UniqueKey; nil: UniqueOptions{}.
	Unique *UniqueOptions `json:"-"`

	// The other fields are set on delivery and ignored by Enqueue.

	// Position is the position under which the message is claimed and settled.
	Position Position `json:"id"`
	// Owner is the claim under which the message was delivered: the token that
	// settles it.
	Owner OwnerToken `json:"owner_token,omitzero"`
	// CreatedAt is when the message was enqueued, by the database's clock.
	CreatedAt time.Time `json:"created_at,omitzero"`
	// RetryCount is how many attempts failed so far; 0 at the first delivery.
	RetryCount int `json:"retry_count"`

	extras *extras // nil for most
}

// extras is what few messages need on delivery: a message of 256 bytes would take a third more
// memory than one of 184, and claiming makes many.
type extras struct {
	expires time.Time // by this process's clock; zero: never
	result  []byte    // see SetResult
	acked   bool      // by AckTx, if its transaction commits
	payload payloadFunc
	err     error // why there is no payload
}

// payloadFunc makes the payload of a message that is enqueued in tx, nil for none of the program's.
type payloadFunc = func(ctx context.Context, tx Tx, id MessageID) ([]byte, error)

// WithPayload is for package pawl; programs cannot call it. Each enqueue of m calls f, once the message
// has its id, or is refused with err.
func WithPayload(_ access.Key, m *Message, f payloadFunc, err error) {
	m.ensureExtras().payload, m.extras.err = f, err
}

// Filled returns a message with the payload that WithPayload promised, for a component that stores it itself.
func Filled(_ access.Key, ctx context.Context, tx Tx, m Message) (Message, error) {
	if m.extras == nil {
		return m, nil
	}
	payload, err := m.extras.payload, m.extras.err
	m.extras = nil
	if payload != nil && err == nil {
		m.Payload, err = payload(ctx, tx, m.ID)
	}
	return m, err
}

// ensureExtras returns those of a message, and makes them if there are none.
func (m *Message) ensureExtras() *extras {
	if m.extras == nil {
		m.extras = &extras{}
	}
	return m.extras
}

// result returns what SetResult set; nil for nothing.
func (m *Message) result() []byte {
	if m.extras == nil {
		return nil
	}
	return m.extras.result
}

// SetResult sets the result of a message: at most 64 KiB of any bytes, which are copied. More is an
// error that errors.Is finds to be pawl.ErrInvalid, and changes nothing. A later call replaces what an
// earlier one set; without bytes there is none.
//
// The message's handler calls it, or each handler of a batch for its messages, before it
// returns, on the message that it was given, not on a copy. The result is stored in the
// transaction of the ack, if the lease still holds: for every join of which the message is a
// member then, where join.Joins.Members returns it, or otherwise for Outbox.Await. It is not stored
// after an error. It is not safe for concurrent use.
func (m *Message) SetResult(data []byte) error {
	if len(data) > limits.Result {
		return engine.TooLong("result", limits.Result, "bytes")
	}
	if m.Owner == (OwnerToken{}) {
		return engine.Invalid("result", "of a message that no handler was given")
	}
	if len(data) > 0 || m.extras != nil {
		m.ensureExtras().result = append([]byte(nil), data...)
	}
	return nil
}

// since returns when the message became claimable.
func (m *Message) since() time.Time {
	if m.Due.After(m.CreatedAt) {
		return m.Due
	}
	return m.CreatedAt
}

// Validate checks a message as Enqueue does, with the default payload limit.
func (m *Message) Validate() error {
	return m.validate(nil, limits.Payload)
}

// validate implements D-2: once, in Go, before any SQL, the same on every engine. o is the outbox
// that is to have the message, nil for any.
func (m *Message) validate(o *Outbox, maxPayload int) error {
	if m.extras != nil && m.extras.err != nil {
		return m.extras.err
	}
	key := m.orderingKey()
	err := cmp.Or(engine.CheckText("topic", m.Topic, limits.Topic, true), engine.CheckText("correlation id", m.CorrelationID, limits.CorrelationID, false),
		engine.CheckText("queue", m.queue(), limits.Queue, true))
	switch {
	case err != nil:
		return err
	case m.Priority < -limits.Priority || m.Priority > limits.Priority:
		return engine.Invalid("priority", "not within %d to %d", -limits.Priority, limits.Priority)
	case len(m.Payload) > maxPayload:
		return engine.TooLong("payload", maxPayload, "bytes")
	}
	if err := cmp.Or(engine.CheckDue("due time", m.Due), engine.CheckDue("expiry", m.Expires)); err != nil {
		return err
	}
	if !m.Expires.IsZero() && !m.Expires.After(m.Due) { // it could never be handled
		return engine.Invalid("expiry", "not after the due time")
	}
	if err := expiry.Check(m.Headers); err != nil { // another program could not read it
		return engine.Invalid("headers", "%v", err)
	}
	if err := engine.CheckText("ordering key", key, limits.OrderingKey, false); err != nil {
		return err
	}
	if key != "" && m.Priority != 0 {
		return engine.Invalid("priority", "not 0, with an ordering key")
	}
	return cmp.Or(checkHeaders(m.Headers), m.checkUnique(o))
}

func checkHeaders(headers map[string]string) error {
	size := 0
	for k, v := range headers {
		if err := engine.CheckText("header name", k, limits.Topic, true); err != nil {
			return err
		}
		if err := engine.CheckText("header value", v, math.MaxInt, false); err != nil {
			return err
		}
		size += len(k) + len(v)
	}
	if size > limits.HeaderBytes {
		return engine.TooLong("headers", limits.HeaderBytes, "bytes")
	}
	return nil
}

func (m *Message) queue() string {
	if m.Queue == "" {
		return DefaultQueue
	}
	return m.Queue
}

// orderingKey returns the message's, which another program may have put among the headers.
func (m *Message) orderingKey() string {
	if m.OrderingKey == "" {
		return m.Headers[ordering.Header]
	}
	return m.OrderingKey
}

func encodeHeaders(headers map[string]string) (*string, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return nil, err
	}
	encoded := string(text)
	return &encoded, nil
}

// decodeHeaders accepts headers that other programs wrote in another form: one unreadable row must
// not block its batch.
func decodeHeaders(text *string) map[string]string {
	if text == nil {
		return nil
	}
	var headers map[string]string
	if json.Unmarshal([]byte(*text), &headers) == nil {
		return headers
	}
	var loose map[string]any
	if json.Unmarshal([]byte(*text), &loose) != nil {
		return map[string]string{"": *text}
	}
	headers = make(map[string]string, len(loose))
	for k, v := range loose {
		headers[k] = fmt.Sprint(v)
	}
	return headers
}
