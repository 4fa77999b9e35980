package inspect

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// What ReadThroughput reads, and of which time.
const (
	flowSteps    = 60
	flowRows     = 2_000 // of messages, and as many of runs that are done
	flowBlocks   = 32    // of each range of positions
	flowSince    = time.Hour
	minFlowSince = time.Minute
	maxFlowSince = 30 * 24 * time.Hour
)

// Throughput is how many messages came and were done lately, in steps of equal length.
type Throughput struct {
	// Step is how long each step is.
	Step time.Duration `json:"step"`
	// Steps are 60, oldest first. The last one is under way.
	Steps []Flow `json:"steps"`
	// InFrom is set if In was not read for all steps: what was enqueued before it may be missing.
	InFrom time.Time `json:"in_from,omitzero"`
	// DoneFrom is set if Done was not read for all steps: what was done before it may be missing.
	DoneFrom time.Time `json:"done_from,omitzero"`
	// Topics are the topics and queues of the newest messages that came and that were done, by name.
	Topics []TopicFlow `json:"topics"`
}

// TopicFlow is how fast messages of a topic in a queue came and were done lately, as a mean of the time
// in which the newest 2 000 did, or of the time that was asked for.
type TopicFlow struct {
	Topic string `json:"topic"`
	Queue string `json:"queue"`
	// In is how many messages were enqueued in a second.
	In float64 `json:"in_per_second"`
	// Done is how many were acked in a second.
	Done float64 `json:"done_per_second"`
}

// Flow is how many messages came and were done in a step.
type Flow struct {
	// At is when the step began, by the database's clock.
	At time.Time `json:"at"`
	// In is how many messages were enqueued.
	In int64 `json:"in"`
	// Done is how many were acked.
	Done int64 `json:"done"`
}

// ReadThroughput returns how many messages were enqueued, and how many done, in 60 steps up to now that
// together take since: default an hour, at least a minute and at most 30 days. Steps begin at
// multiples of their length, so that calls which follow each other return the same ones.
//
// What it reads does not grow with the tables: of each kind 2 000 rows, the newest of each block of
// positions out of which processes enqueued lately, where a row of Done is all messages that were
// acked together; and the topics of 2 000 messages of each kind. InFrom and DoneFrom say how far back that
// reached. What lies far below the highest
// positions is not found: messages that waited while more than 100 000 later ones were enqueued, and
// timers that were scheduled as long before. What was purged is not counted any more.
//
// Its reads wait for no writer. It returns engine.ErrInvalid for a time that is out of bounds.
func ReadThroughput(ctx context.Context, db engine.DB, since time.Duration) (Throughput, error) {
	if err := engine.CheckOption("since", since, minFlowSince, maxFlowSince); err != nil {
		return Throughput{}, err
	}
	if since == 0 {
		since = flowSince
	}
	clock, _, err := engine.Get(ctx, db, op.ClockNow{})
	if err != nil {
		return Throughput{}, err
	}
	t := newThroughput(clock.Now, since)
	look := op.OutboxRecency{Since: since, Blocks: flowBlocks, Most: flowRows}
	var in, done flow
	if err := db.Read(ctx, in.read(op.OutboxRecent{OutboxRecency: look})); err != nil {
		return Throughput{}, err
	}
	if err := db.Read(ctx, done.read(op.OutboxRecentDone{OutboxRecency: look})); err != nil {
		return Throughput{}, err
	}
	t.InFrom = t.add(&in, func(f *Flow) *int64 { return &f.In })
	t.DoneFrom = t.add(&done, func(f *Flow) *int64 { return &f.Done })
	return t, t.rates(ctx, db, clock.Now, since, &in, &done)
}

// newThroughput returns the steps, without numbers.
func newThroughput(now time.Time, since time.Duration) Throughput {
	t := Throughput{Step: since / flowSteps, Steps: make([]Flow, flowSteps)}
	last := now.UTC().Truncate(t.Step)
	for i := range t.Steps {
		t.Steps[i].At = last.Add(-time.Duration(flowSteps-1-i) * t.Step)
	}
	return t
}

// add counts rows into the steps, and returns from when on they are complete; zero: all of them.
func (t *Throughput) add(f *flow, number func(*Flow) *int64) time.Time {
	first := t.Steps[0].At
	for i := range f.rows {
		if r := &f.rows[i]; !r.At.Before(first) {
			// The last step also takes what happened after the clock was read.
			step := min(int(r.At.Sub(first)/t.Step), flowSteps-1)
			*number(&t.Steps[step]) += r.N
		}
	}
	if from := f.from(); from.After(first) {
		return from.UTC()
	}
	return time.Time{}
}

// flow is what was read of one kind.
type flow struct{ rows []op.OutboxFlow }

// read returns the call that reads it. A row whose time cannot be read is not counted.
func (f *flow) read(o engine.Answering[op.OutboxFlow]) *engine.Call {
	c := engine.Each(o, func(r *op.OutboxFlow, unread error) error {
		if unread == nil {
			f.rows = append(f.rows, *r)
		}
		return nil
	})
	c.Reset = func() { f.rows = nil }
	return c
}

// flowBlock is what was read of a block of positions.
type flowBlock struct {
	rows            int
	lowest, highest *op.OutboxFlow
}

// from returns from when on nothing is missing of what the blocks have, as far as later positions
// are later in time. Of a block that was read for its full share more may lie below; and below the
// lowest block that may be read there may be others.
func (f *flow) from() (from time.Time) {
	blocks := f.blocks()
	for _, b := range blocks {
		at := b.lowest.At
		switch {
		case b.highest.Lowest:
			at = b.highest.At
		case b.rows < flowRows/len(blocks):
			continue
		}
		if at.After(from) {
			from = at
		}
	}
	return from
}

func (f *flow) blocks() map[int64]*flowBlock {
	all := map[int64]*flowBlock{}
	for i := range f.rows {
		r := &f.rows[i]
		b := all[r.Lo/engine.BlockSize]
		if b == nil {
			b = &flowBlock{lowest: r, highest: r}
			all[r.Lo/engine.BlockSize] = b
		}
		b.rows++
		if r.Lo < b.lowest.Lo {
			b.lowest = r
		}
		if r.Lo > b.highest.Lo {
			b.highest = r
		}
	}
	return all
}
