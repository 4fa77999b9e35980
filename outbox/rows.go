package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// enqueueOp returns the operation that writes entries, which are in order of position. Those with an
// id of the caller's may be stored already.
func enqueueOp(entries []*entry) engine.Operation {
	if slices.ContainsFunc(entries, func(en *entry) bool { return en.supplied }) {
		return op.OutboxEnqueueOnce{Messages: newMessages(entries), Queues: queuesOf(entries)}
	}
	return op.OutboxEnqueue{Messages: newMessages(entries), Queues: queuesOf(entries), Runs: newRuns(entries)}
}

// inOrder returns entries by position.
func inOrder(entries []*entry) []*entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
}

// newMessages converts entries. An id that this outbox made is at its position and need not be
// indexed.
func newMessages(entries []*entry) []op.NewMessage {
	all := make([]op.NewMessage, len(entries))
	for i, en := range entries {
		position, _, made := en.mid.position()
		all[i] = op.NewMessage{
			ID: en.id, MessageID: en.mid, Topic: en.msg.Topic, CorrelationID: worker.Optional(en.msg.CorrelationID), Headers: en.headers,
			Payload: en.msg.Payload, Lane: en.lane, DueAt: en.due,
			Supplied: en.supplied && (!made || position != en.id), Carried: en.position,
		}
		if all[i].Payload == nil {
			all[i].Payload = []byte{}
		}
	}
	return all
}

func queuesOf(entries []*entry) (queues []string) {
	for _, en := range entries {
		if q := en.msg.queue(); !slices.Contains(queues, q) {
			queues = append(queues, q)
		}
	}
	return queues
}

// readyAt returns when an entry becomes ready; nil: now.
func (en *entry) readyAt() *time.Time {
	if en.due != nil || en.kind != engine.Ordered {
		return en.due
	}
	at := ordering.At(en.msg.orderingKey())
	return &at
}

// newRuns returns the runs of entries.
func newRuns(entries []*entry) (runs []op.NewRun) {
	for _, en := range entries {
		if k := len(runs) - 1; k >= 0 {
			if r := &runs[k]; en.id == r.Lo+int64(r.N) && en.lane == r.Lane && compareDue(en.readyAt(), r.At) == 0 {
				r.N++
				continue
			}
		}
		runs = append(runs, op.NewRun{Lane: en.lane, At: en.readyAt(), Lo: en.id, N: 1})
	}
	return runs
}
