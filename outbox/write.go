package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// enqueueCalls returns calls that write entries, and register their lanes if necessary. They are
// valid in one generation of the database only.
func (o *Outbox) enqueueCalls(entries []*entry, generation int64) []*engine.Call {
	calls := o.lanes.register(generation, entries)
	plain, keyed := splitKeyed(entries)
	for part := range chunks(plain) {
		messages, queues := newMessages(part), queuesOf(part)
		var write engine.Operation
		if slices.ContainsFunc(part, func(en *entry) bool { return en.supplied }) { // those may be stored already
			write = op.OutboxEnqueueOnce{Messages: messages, Queues: queues}
		} else {
			write = op.OutboxEnqueue{Messages: messages, Queues: queues, Runs: newRuns(part)}
		}
		calls = append(calls, &engine.Call{Operation: write, Generation: generation})
	}
	for part := range chunks(keyed) {
		calls = append(calls, uniqueCall(part, generation))
	}
	return calls
}

// newMessages converts entries. An id that this outbox made is at its position and need not be
// indexed.
func newMessages(entries []*entry) []op.NewMessage {
	all := make([]op.NewMessage, len(entries))
	for i, en := range entries {
		all[i] = op.NewMessage{
			ID: en.id, MessageID: en.mid, Topic: en.msg.Topic, Headers: en.headers, Payload: en.msg.Payload, Lane: en.lane, DueAt: en.due,
			Supplied: en.supplied && en.position != en.id, Carried: en.position,
		}
		if en.msg.CorrelationID != "" {
			all[i].CorrelationID = &en.msg.CorrelationID
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

// newRuns returns the runs of entries.
func newRuns(entries []*entry) (runs []op.NewRun) {
	for _, en := range entries {
		if k := len(runs) - 1; k >= 0 {
			if r := &runs[k]; en.id == r.Lo+int64(r.N) && en.lane == r.Lane && compareDue(en.at, r.At) == 0 {
				r.N++
				continue
			}
		}
		runs = append(runs, op.NewRun{Lane: en.lane, At: en.at, Lo: en.id, N: 1})
	}
	return runs
}

func compareDue(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}

// wake wakes this process's workers of the entries' queues.
func (o *Outbox) wake(entries []*entry) {
	for _, queue := range queuesOf(entries) {
		o.db.Notify(queue)
	}
}

// flush writes several callers' messages in one transaction. If that fails for another reason than
// an unavailable database, each is tried alone: one caller's error must not affect others.
func (o *Outbox) flush(ctx context.Context, batches []*batch) []error {
	err := o.write(ctx, batches)
	if err == nil {
		return nil
	}
	errs := make([]error, len(batches))
	for i, b := range batches {
		errs[i] = err
		if len(batches) > 1 && !engine.Unavailable(err) {
			errs[i] = o.write(ctx, []*batch{b})
		}
	}
	return errs
}

func (o *Outbox) write(ctx context.Context, batches []*batch) (err error) {
	var all []*entry
	generation := batches[0].generation
	for _, b := range batches {
		all = append(all, b.entries...)
		if b.generation != generation {
			generation = noGeneration
		}
	}
	h := o.offer(all)
	defer func() { h.end(err) }()
	return engine.Repeat(ctx, nil, func() error {
		var calls []*engine.Call
		if h != nil {
			calls = h.calls(generation)
		} else {
			calls = o.enqueueCalls(all, generation)
		}
		err := o.db.Do(ctx, calls...)
		switch {
		case err == nil:
			o.lanes.committed(calls)
			if !h.committed(ctx) {
				o.wake(all)
			}
		case errors.Is(err, engine.ErrPosition), errors.Is(err, engine.ErrGeneration):
			generation = o.db.Generation()
			err = errors.Join(err, o.reposition(ctx, all))
		}
		return err
	})
}

// noGeneration is a generation that no database has.
const noGeneration = -1

// reposition sets new positions of entries whose positions are taken. Ids stay: they may have been
// returned already. An id that carries another position counts as supplied from now on.
func (o *Outbox) reposition(ctx context.Context, entries []*entry) error {
	for part := range chunks(entries) {
		for _, en := range part {
			if !en.supplied {
				en.position, _, _ = en.mid.position()
			}
			en.supplied = true
		}
		if err := o.reserve(ctx, nil, o.db.Generation(), part); err != nil {
			return err
		}
	}
	return nil
}
