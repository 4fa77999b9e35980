package outbox

import (
	"context"
	"errors"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
)

// enqueueCalls returns calls that write entries, and register their lanes if necessary.
func (o *Outbox) enqueueCalls(entries []*entry, generation int64) []*engine.Call {
	calls := o.lanes.register(generation, entries)
	plain, keyed := splitKeyed(entries)
	for part := range chunks(plain) {
		calls = append(calls, prepared(enqueueOp(inOrder(part)), generation))
	}
	for part := range chunks(keyed) {
		calls = append(calls, uniqueCall(part, generation))
	}
	return calls
}

// wake wakes this process's workers of the entries' queues.
func (o *Outbox) wake(entries []*entry) {
	var queues []string
	for _, en := range entries {
		if q := en.msg.queue(); !slices.Contains(queues, q) {
			queues = append(queues, q)
			o.db.Notify(q)
		}
	}
}

// prepared returns a call that is valid in one generation of the database only.
func prepared(o engine.Operation, generation int64) *engine.Call {
	c := engine.Ask(o)
	c.Generation = generation
	return c
}

// flush writes several callers' messages in one transaction. If that fails for another reason than
// an unavailable database, each is tried alone: one caller's error must not affect others.
func (o *Outbox) flush(ctx context.Context, batch []*enqueueCall) []error {
	err := o.write(ctx, batch)
	if err == nil {
		return nil
	}
	errs := make([]error, len(batch))
	for i, e := range batch {
		errs[i] = err
		if len(batch) > 1 && !engine.Unavailable(err) {
			errs[i] = o.write(ctx, []*enqueueCall{e})
		}
	}
	return errs
}

func (o *Outbox) write(ctx context.Context, batch []*enqueueCall) (err error) {
	var all []*entry
	generation := batch[0].generation
	for _, e := range batch {
		all = append(all, e.entries...)
		if e.generation != generation {
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
