package postgres

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// outboxEnqueueMessage is OutboxEnqueue of one message: scalars in place of thirteen arrays,
// and no routine that wakes.
type outboxEnqueueMessage struct {
	engine.Changes
	op.NewMessage
	Queue string
}

// single returns the operation for one message in place of an operation for many, if there is
// one. It is what a program's own transaction usually has. A message with an ordering key becomes
// ready at another time than it is due.
func single(o engine.Operation) engine.Operation {
	if e, ok := o.(op.OutboxEnqueue); ok && len(e.Messages) == 1 && len(e.Queues) == 1 && e.Runs[0].At == e.Messages[0].DueAt {
		return outboxEnqueueMessage{NewMessage: e.Messages[0], Queue: e.Queues[0]}
	}
	return o
}
