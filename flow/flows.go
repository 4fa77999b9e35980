package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

const (
	// leaders and merged bound how steps of many flows share transactions, as enqueues do.
	leaders = 2
	merged  = 256
)

// Flows is the flows of one database, of any name: Pawl.Flows returns it. It is safe for concurrent use.
type Flows struct {
	db       engine.DB
	outbox   *outbox.Outbox
	messages handlers
	joins    *join.Joins
	writes   coalesce.Group[*write]
	loads    coalesce.Group[*loading]

	observers worker.Observers
}

// handlers takes the handlers of flows.
type handlers interface {
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	Refuse(topic string, err error)
}

// Connect is for package pawl; programs cannot call it.
func Connect(_ access.Key, db engine.DB, o *outbox.Outbox, messages handlers, joins *join.Joins) (*Flows, *worker.Component) {
	fs := &Flows{db: db, outbox: o, messages: messages, joins: joins}
	fs.writes = coalesce.Group[*write]{Leaders: leaders, Max: merged, Patient: true, Run: fs.write}
	fs.loads = coalesce.Group[*loading]{Leaders: leaders, Max: merged, Patient: true, Run: fs.load}
	return fs, &worker.Component{Observe: func(o *worker.Observer) { fs.observers = append(fs.observers, o) }}
}

// loading is the steps and signals of a flow, as they are read.
type loading struct {
	id   int64
	rows []op.FlowRow // in their order; others may read them too
	now  time.Time    // by the database's clock
}

// split returns the steps, and the signals that none of them took, each in their order.
func (l *loading) split() (steps, signals []op.FlowRow) {
	taken := map[int]bool{0: true}
	for i := range l.rows {
		if l.rows[i].Kind >= op.FlowDone {
			steps = append(steps, l.rows[i])
			taken[l.rows[i].Signal] = true
		}
	}
	for i := range l.rows {
		if l.rows[i].Kind == op.FlowSignal && !taken[l.rows[i].Signal] {
			signals = append(signals, l.rows[i])
		}
	}
	return steps, signals
}

// inOrder compares rows by when they were stored.
func inOrder(a, b op.FlowRow) int {
	return cmp.Or(cmp.Compare(a.Nr, b.Nr), a.CreatedAt.Compare(b.CreatedAt))
}

// load reads flows, each once: several parts of one, or an attempt that has lost its lease, may be under way.
func (fs *Flows) load(ctx context.Context, batch []*loading) []error {
	of := make(map[int64][]op.FlowRow, len(batch))
	for _, l := range batch {
		of[l.id] = nil
	}
	rows, err := engine.Query(ctx, fs.db, op.FlowLoad{IDs: slices.Collect(maps.Keys(of))})
	if err != nil {
		return slices.Repeat([]error{err}, len(batch))
	}
	slices.SortFunc(rows, inOrder)
	var now time.Time
	for i := range rows {
		if rows[i].Kind == op.FlowClock {
			now = rows[i].CreatedAt
			continue
		}
		of[rows[i].ID] = append(of[rows[i].ID], rows[i])
	}
	for _, l := range batch {
		l.rows, l.now = of[l.id], now
	}
	return nil
}

// write is a step that is to be stored, a flow that is to be parked, or both.
type write struct {
	step *op.FlowStep
	park *op.FlowParked
}

// errLost is returned when another owner may hold the message.
var errLost = errors.New("lease lost")

// write stores steps and parks flows in one transaction. What a park did not find is claimed by
// another owner: nobody needs to know. Which step was not stored is found out one by one.
func (fs *Flows) write(ctx context.Context, batch []*write) []error {
	keep, park := op.FlowKeep{}, op.FlowPark{}
	for _, w := range batch {
		if w.step != nil {
			keep.Steps = append(keep.Steps, *w.step)
		}
		if w.park != nil {
			park.Parks = append(park.Parks, *w.park)
		}
	}
	slices.SortFunc(keep.Steps, func(a, b op.FlowStep) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(park.Parks, func(a, b op.FlowParked) int { return cmp.Compare(a.ID, b.ID) })
	kept := engine.Ask(keep)
	var calls []*engine.Call
	if len(keep.Steps) > 0 {
		calls = append(calls, kept)
	}
	if len(park.Parks) > 0 {
		calls = append(calls, engine.Ask(park))
	}
	err := fs.db.Do(ctx, calls...)
	switch {
	case err == nil && int(kept.N) == len(keep.Steps):
		return nil
	case len(batch) == 1:
		return []error{cmp.Or(err, errLost)}
	}
	errs := make([]error, len(batch))
	for i, w := range batch {
		switch {
		case err != nil && engine.Unavailable(err):
			errs[i] = err
		case err != nil || w.park == nil:
			if alone := fs.write(ctx, []*write{w}); alone != nil { // nil: it succeeded
				errs[i] = alone[0]
			}
		}
	}
	return errs
}

// send sends a signal.
func (fs *Flows) send(ctx context.Context, tx any, id outbox.MessageID, name string, payload []byte) error {
	if len(payload) > limits.Result {
		return fmt.Errorf("%w: signal %q has %d bytes", ErrTooLarge, name, len(payload))
	}
	put := op.FlowPutSignal{MessageID: id, Name: name, Payload: append([]byte{}, payload...)}
	var own engine.Tx
	if tx != nil {
		var err error
		if own, err = engine.TxOf(fs.db, tx); err != nil {
			return err
		}
	} else if err := engine.CheckOutside(ctx, fs.db, nil, "SendTx"); err != nil {
		return err
	}
	n, err := engine.Exec(ctx, fs.db, own, put)
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("%w: %s", outbox.ErrNotFound, id)
	case n == 2:
		return fmt.Errorf("%w: %s", ErrOver, id)
	}
	return nil
}
