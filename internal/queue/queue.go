// Package queue is what components need of the outbox to write and claim messages in
// transactions of their own.
package queue

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/worker"
)

// Inbox is the default queue of the inbox.
const Inbox = "inbox"

// Queue is an outbox of messages of type M with ids of type ID. It is safe for
// concurrent use.
type Queue[M, ID any] interface {
	// Validate returns the error that Prepare would return for one message.
	Validate(m M) error
	// Prepare validates messages and assigns ids and positions. tx is the transaction
	// that will write them, nil for one that the component's calls make up. own are
	// messages of the component's, behind the others: what they hold was validated, and
	// their payloads may be larger than a caller's.
	Prepare(ctx context.Context, tx engine.Tx, messages []M, own ...M) (Batch[ID], error)
	// Template validates a message of which the component makes copies later. It has
	// no headers of AddHeaders, no id and no position.
	Template(m M) (Template, error)
	// Reserve returns n positions and the ids of messages that a component's own
	// operations put there.
	Reserve(ctx context.Context, n int) ([]ID, []int64, error)
	// AckCall acks a delivered message, and stores the result that its handler set, as part of
	// a component's transaction. It changes no row if the lease is lost.
	AckCall(m *M) *engine.Call
	// Pauses returns the pauses that the queue's workers obey.
	Pauses() *pause.Pauses
	// Component returns the part that Run runs.
	Component() *worker.Component
}

// Batch is messages with their ids, ready to be written.
type Batch[ID any] interface {
	// Calls write the messages. Each may run in a caller's transaction.
	Calls() []*engine.Call
	// CallsTo replaces Calls for a component that keeps the messages itself until it
	// enqueues them: keep returns the operation that stores them. index gives the place
	// in the batch of each of the messages.
	CallsTo(keep func(messages []op.NewMessage, index []int) engine.Operation) []*engine.Call
	// IDs returns the ids in the order of the messages.
	IDs() []ID
	// Positions returns where the messages will lie, in their order. A message whose
	// supplied id is known already lies elsewhere.
	Positions() []int64
	// Ran is called after the calls have run, in tx or, if that is nil, in a transaction
	// that has committed: it wakes this process's workers and logs the messages.
	Ran(ctx context.Context, tx engine.Tx)
}

// Template is a validated message without id and position.
type Template interface {
	// LaneCalls register the lane in the database.
	LaneCalls() []*engine.Call
	// Lane is the number of the message's queue and priority.
	Lane() int64
	// Headers returns the headers as they are stored.
	Headers() *string
	// Generation is the database's generation when the template was made.
	Generation() int64
	// Ran is called after a transaction with the LaneCalls has committed.
	Ran(ctx context.Context, tx engine.Tx)
}
