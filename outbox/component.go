package outbox

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
)

// component is the outbox as other components and pawl.Pawl see it.
type component struct{ *Outbox }

func (c component) Prepare(ctx context.Context, tx engine.Tx, messages []Message, own ...Message) (queue.Batch[MessageID], error) {
	if err := refuseUnique(messages...); err != nil {
		return nil, err
	}
	return c.batch(ctx, tx, append(slices.Clip(messages), own...), len(own))
}

func (c component) Template(m Message) (queue.Template, error) {
	b, err := c.prepare([]Message{m}, 0)
	if err != nil {
		return nil, err
	}
	if b.entries[0].inOrder { // programs claim runs of jobs by other statements
		return nil, engine.Invalid("ordering key", "not for messages that are made of a template")
	}
	b.entries[0].kind, b.entries[0].lane = engine.Claimable, engine.LaneID(m.queue(), m.Priority, engine.Claimable)
	return b, nil
}

func (c component) Reserve(ctx context.Context, n int) ([]MessageID, []int64, error) {
	lo, err := c.db.ReserveIDs(ctx, nil, n)
	if err != nil {
		return nil, nil, err
	}
	ids, positions := make([]MessageID, n), make([]int64, n)
	now := time.Now()
	for i := range ids {
		positions[i] = lo + int64(i)
		ids[i] = makeMessageID(now, c.tag, positions[i])
	}
	return ids, positions, nil
}

func (c component) AckCall(m *Message) *engine.Call {
	return engine.Ask(op.OutboxAckOne{Owner: m.Owner, ID: int64(m.Position), Worker: c.opts.Worker, Result: append([]byte{}, m.result()...)})
}

func (c component) Validate(m Message) error {
	return cmp.Or(refuseUnique(m), m.validate(c.Outbox, c.opts.MaxPayload))
}

func (c component) Pauses() *pause.Pauses { return c.pauses }

func (c component) Component() *worker.Component {
	o := c.Outbox
	return &worker.Component{
		RunSlice: o.runSlice, Cleanup: o.cleanup, Sources: o.sources(),
		Status: o.loopStatus, Stats: o.workerStats, Overdue: o.overdue.positions, Progress: o.progress, Queues: o.queues, Topics: o.topics, Concurrency: o.allConcurrency,
		Share: func(s worker.Shared) { o.shared = s }, Observe: o.observe,
	}
}
