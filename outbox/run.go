package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// sources returns what a scheduler dispatches for the outbox.
func (o *Outbox) sources() []worker.Source { return []worker.Source{bulkSource{o}} }

// runSlice handles messages until ctx ends or the time slice is over, then stops in order: handlers
// may finish within the grace period, what has not started is released at once. It returns an error
// only for the registered handlers, survives every outage of the database, and may be called again.
func (o *Outbox) runSlice(ctx context.Context, t worker.TimeSlice) error {
	if err := o.handlers.start(); err != nil {
		return err
	}
	return o.serve(ctx, t.Shared())
}

// queues returns the queues that Run serves.
func (o *Outbox) queues() []string { return slices.Clone(o.opts.Queues) }

// serve runs a loop for every queue.
func (o *Outbox) serve(ctx context.Context, t worker.TimeSlice) error {
	var loops sync.WaitGroup
	for _, queue := range o.opts.Queues {
		loop := o.loop(queue, t)
		o.running.Store(queue, loop)
		loops.Go(func() {
			defer o.running.CompareAndDelete(queue, loop)
			_ = loop.Run(ctx)
		})
	}
	loops.Wait()
	return nil
}

// workerStats returns what the loops of this process did, summed over queues.
func (o *Outbox) workerStats() worker.Counts {
	var sum worker.Counts
	o.stats.Range(func(_, v any) bool {
		sum = sum.Add(v.(*worker.Stats).Counts())
		return true
	})
	return sum
}

func (o *Outbox) loop(queue string, t worker.TimeSlice) *worker.Loop[*Message] {
	poll := o.opts.PollInterval
	if poll <= 0 {
		poll = time.Second
	}
	cfg := worker.Config[*Message]{
		Name:          queue,
		Tag:           o.shared.Tag,
		Paused:        func(topic string) worker.PauseState { return o.pauses.Of(queue, topic) },
		RefreshPauses: o.refresh,
		Limited:       func(topic string) bool { return o.limits.Of(queue, topic) },
		Queue:         &source{o: o, queue: queue},
		Handle:        o.dispatch,
		Result:        (*Message).result,
		Policy: func(topic string) worker.RetryPolicy {
			if rt, ok := o.handlers.find(topic); ok {
				return rt.retry
			}
			return worker.RetryPolicy{} // without a handler no attempts are counted (D-17)
		},
		Logger:        o.log.With("queue", queue),
		RetryLogLevel: o.opts.RetryLogLevel,
		Concurrency:   o.concurrency(queue),
		BatchSize:     o.opts.BatchSize,
		Lease:         o.opts.Lease,
		PollMin:       min(250*time.Millisecond, poll),
		PollMax:       poll,
		Grace:         o.opts.Grace,
		StopEmpty:     o.opts.StopWhenEmpty,
		Slice:         t,
		Gate:          o.shared.Gate,
		Stats:         o.statsOf(queue),
		Observers:     o.observers(),
	}
	if o.handlers.limited {
		cfg.SlotsOf, cfg.Extra = o.handlers.slotsOf, o.handlers.extra
	}
	return worker.New(cfg)
}

// refresh reads what is paused and what has limits.
func (o *Outbox) refresh(ctx context.Context) error {
	if err := o.pauses.RefreshAndUnpark(ctx); err != nil {
		return err
	}
	return o.limits.Refresh(ctx)
}

func (o *Outbox) defaultRetry() worker.RetryPolicy {
	if o.opts.Retry != nil {
		return *o.opts.Retry
	}
	return worker.DefaultRetryPolicy()
}

// dispatch passes a message to its topic's handler.
func (o *Outbox) dispatch(ctx context.Context, item worker.Item[*Message]) error {
	m := item.Body
	if m.expired() {
		return worker.ErrExpired
	}
	rt, ok := o.handlers.find(m.Topic)
	if !ok {
		delay, warn := o.handlers.recordMissing(m.Topic, time.Now())
		if warn {
			o.log.Warn("no handler for topic, putting its messages back", "topic", m.Topic, "message_id", m.ID.String(), "delay", delay)
		}
		return worker.Unhandled(engine.Jitter(delay, 0.1))
	}
	if o.log.Enabled(ctx, slog.LevelInfo) {
		o.log.InfoContext(ctx, "handling", "topic", m.Topic, "message_id", m.ID.String(), "correlation_id", m.CorrelationID, "attempt", m.RetryCount+1)
	}
	if rt.timeout > 0 {
		var end func()
		ctx, end = o.bound(ctx, rt.timeout, m)
		defer end()
	}
	err := rt.handler(ctx, m)
	if m.extras != nil && m.extras.acked {
		return o.ackedItself(ctx, m, err)
	}
	return err
}

// source implements worker.Queue for a queue of the outbox.
type source struct {
	o     *Outbox
	queue string
	// ranked is true once a message had another priority than 0. Looking behind a topic finds what
	// comes after it also by priority, so it is left alone then.
	ranked bool
}

func (s *source) Exchange(ctx context.Context, done *worker.Settlement, c worker.ClaimRequest) ([]worker.Item[*Message], error) {
	if s.ranked {
		c.Apart = ""
	}
	claim := op.OutboxClaim{
		Queue: s.queue, Owner: c.Owner, Lease: c.Lease, Most: c.N, Wait: s.o.priorityWait(), Freed: done.Freed, All: s.o.opts.StopWhenEmpty, Apart: worker.Optional(c.Apart),
	}
	settle := s.o.settleCalls(done)
	got, err := s.o.claim(ctx, settle, claim)
	if err != nil {
		return nil, err
	}
	s.o.markMissed(ctx, done, settle)
	s.o.settled(done)
	s.ranked = s.ranked || slices.ContainsFunc(got.msgs, func(m *Message) bool { return m.Priority != 0 })
	return s.o.items(&got), nil
}

func (s *source) ClaimSuspects(ctx context.Context, owner uuid.UUID, lease time.Duration, n int) ([]worker.Item[*Message], error) {
	var got delivery
	if err := s.o.db.Do(ctx, claimCall(op.OutboxClaimSuspects{Queue: s.queue, Owner: owner, Lease: lease, Most: n}, owner, lease, n, &got)); err != nil {
		return nil, err
	}
	return s.o.items(&got), nil
}

// items converts the messages for the loop.
func (o *Outbox) items(d *delivery) []worker.Item[*Message] {
	items := make([]worker.Item[*Message], len(d.msgs))
	for i, m := range d.msgs {
		items[i] = item(m)
		if m.OrderingKey != "" {
			rt, _ := o.handlers.find(m.Topic)
			items[i].Ordered, items[i].Order = true, rt.order
		} else {
			items[i].InTurn = m.Priority == 0 && m.Headers[ordering.FairHeader] != ""
		}
		if d.faults != nil {
			items[i].Fault = d.faults[m]
		}
	}
	return items
}

// item converts a message for the loop.
func item(m *Message) worker.Item[*Message] {
	return worker.Item[*Message]{
		ID: int64(m.Position), Topic: m.Topic, MessageID: &m.ID, Retry: m.RetryCount, Created: m.CreatedAt, Since: m.since(), Scheduled: !m.Due.IsZero(), Body: m,
	}
}

func (s *source) Extend(ctx context.Context, held []worker.Held, lease time.Duration) (int64, error) {
	return engine.Exec(ctx, s.o.db, nil, op.OutboxExtend{Runs: heldRuns(held), Lease: lease})
}

func (s *source) Reap(ctx context.Context) (found worker.Reaped, err error) {
	if err := s.o.adoptIfDue(ctx); err != nil {
		return found, err
	}
	select {
	case s.o.shared.Reaping <- struct{}{}:
		defer func() { <-s.o.shared.Reaping }()
	case <-ctx.Done():
		return found, ctx.Err()
	}
	due := engine.Ask(op.OutboxSuspects{Queue: s.queue})
	var stops []op.Stopping
	if found.N, err = s.o.reap(ctx, due, engine.List(op.OutboxStopping{}, &stops)); err != nil {
		return found, err
	}
	found.Suspects = due.N > 0
	found.Stops, err = s.o.stops(ctx, stops)
	return found, err
}

func (s *source) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return worker.NextDue(ctx, s.o.db, op.OutboxNextDue{Queue: s.queue})
}

func (s *source) Waiter() engine.Waiter { return s.o.db.Waiter(s.queue) }
