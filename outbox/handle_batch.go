package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// BatchHandler handles messages of a topic together and returns one result for each, in their
// order: nil acks a message, an error says what Handler says of it. Messages are in the order of
// their positions. A panic, or any other number of results, fails the attempts of all.
//
// ctx ends when the lease of one of the messages is lost or the grace period of a stop is over;
// its values are those of one of the messages.
type BatchHandler func(ctx context.Context, messages []*Message) []error

// BatchOptions say how large batches become. The zero value is right for most.
type BatchOptions struct {
	// Max is the most messages of a batch, default 100, at most 1,000.
	Max int
	// Wait is how long the first message of a batch waits for more, default 10 ms, at most a
	// minute.
	Wait time.Duration
}

const (
	defaultBatch     = 100
	defaultBatchWait = 10 * time.Millisecond
	longestBatchWait = time.Minute
)

// HandleBatch is pawl.Pawl.HandleBatch.
func (o component) HandleBatch(topic string, h BatchHandler, batch BatchOptions, opts ...HandlerOptions) {
	err := cmp.Or(
		engine.CheckOption("Max", batch.Max, 1, worker.MaxBatch), engine.CheckOption("Wait", batch.Wait, 1, longestBatchWait), checkHandlerOptions(opts),
	)
	if h == nil {
		err = engine.Invalid("handler", "nil")
	}
	o.handlers.add(topic, err, func() route {
		calls := 1
		if len(opts) > 0 {
			calls = max(opts[0].Concurrency, 1)
		}
		b := newBatcher(h, batch, calls)
		rt := o.route(b.Handle, opts)
		b.timeout, rt.timeout, b.bound = rt.timeout, 0, o.bound
		together := b.opts.Max * (calls + 1) // one batch is collected meanwhile
		rt.slots = worker.NewSlots(together, true)
		o.handlers.extra += together
		return rt
	})
}

// batcher makes calls of a BatchHandler out of the messages that handlers of the loop have.
// Each of those waits here for the result of its message.
type batcher struct {
	handler BatchHandler
	opts    BatchOptions
	timeout time.Duration
	bound   func(ctx context.Context, timeout time.Duration, messages ...*Message) (context.Context, func())
	calls   chan struct{} // as many as may run at once

	mu   sync.Mutex
	next *messageBatch // which is being collected; nil: none
}

// messageBatch is messages that are handled together.
type messageBatch struct {
	members []batchMember
	full    chan struct{}
	done    chan struct{} // results are set
	results map[*Message]error
}

type batchMember struct {
	ctx     context.Context
	message *Message
}

func newBatcher(h BatchHandler, opts BatchOptions, calls int) *batcher {
	if opts.Max == 0 {
		opts.Max = defaultBatch
	}
	if opts.Wait == 0 {
		opts.Wait = defaultBatchWait
	}
	return &batcher{handler: h, opts: opts, calls: make(chan struct{}, calls)}
}

// Handle adds a message to the batch that is being collected, and returns its result. Who
// begins a batch runs it.
func (b *batcher) Handle(ctx context.Context, m *Message) error {
	batch, first := b.join(ctx, m)
	if first {
		b.run(ctx, batch)
	}
	<-batch.done
	return batch.results[m]
}

// join adds a message to a batch, and reports whether it is its first.
func (b *batcher) join(ctx context.Context, m *Message) (batch *messageBatch, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next, first = &messageBatch{full: make(chan struct{}), done: make(chan struct{})}, true
	}
	batch = b.next
	batch.members = append(batch.members, batchMember{ctx, m})
	if len(batch.members) == b.opts.Max {
		b.next = nil
		close(batch.full)
	}
	return batch, first
}

// run calls the handler once the batch is full or has waited long enough, and its turn has
// come. If the context of its first message ends before, nothing of it begins.
func (b *batcher) run(ctx context.Context, batch *messageBatch) {
	defer close(batch.done)
	started := b.await(ctx, batch)
	b.close(batch)
	if !started {
		batch.results = batch.all(worker.PutBack(0))
		return
	}
	defer func() { <-b.calls }()
	batch.results = b.call(batch)
}

// await waits until the batch may begin.
func (b *batcher) await(ctx context.Context, batch *messageBatch) (ok bool) {
	wait := time.NewTimer(b.opts.Wait)
	defer wait.Stop()
	select {
	case <-batch.full:
	case <-wait.C:
	case <-ctx.Done():
		return false
	}
	select {
	case b.calls <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// close ends the collection of a batch.
func (b *batcher) close(batch *messageBatch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == batch {
		b.next = nil
	}
}

// all gives every message the same result.
func (batch *messageBatch) all(err error) map[*Message]error {
	results := make(map[*Message]error, len(batch.members))
	for _, m := range batch.members {
		results[m.message] = err
	}
	return results
}

// call calls the handler and returns the results by message. What has expired meanwhile is not
// passed to it.
func (b *batcher) call(batch *messageBatch) map[*Message]error {
	late := batch.removeExpired()
	if len(batch.members) == 0 {
		return late
	}
	ctx, cancel := batch.context()
	defer cancel()
	slices.SortFunc(batch.members, func(a, b batchMember) int { return cmp.Compare(a.message.Position, b.message.Position) })
	messages := make([]*Message, len(batch.members))
	for i, m := range batch.members {
		messages[i] = m.message
	}
	if b.timeout > 0 {
		var end func()
		ctx, end = b.bound(ctx, b.timeout, messages...)
		defer end()
	}
	results, err := callBatch(ctx, b.handler, messages)
	if err != nil {
		results = slices.Repeat([]error{err}, len(messages))
	}
	all := make(map[*Message]error, len(results)+len(late))
	maps.Copy(all, late)
	for i, m := range batch.members {
		all[m.message] = ofMember(ctx, m, results[i])
	}
	return all
}

// removeExpired removes the messages whose time has passed, and returns their results.
func (batch *messageBatch) removeExpired() map[*Message]error {
	var late map[*Message]error
	batch.members = slices.DeleteFunc(batch.members, func(m batchMember) bool {
		if !m.message.expired() {
			return false
		}
		if late == nil {
			late = map[*Message]error{}
		}
		late[m.message] = worker.ErrExpired
		return true
	})
	return late
}

// ofMember is the result of a message whose call may have been cancelled because of
// another's lease: then its own attempt does not count.
func ofMember(ctx context.Context, m batchMember, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil && m.ctx.Err() == nil {
		return worker.PutBack(0)
	}
	return err
}

// context returns the context of a call: it ends with that of any message, for its reason.
func (batch *messageBatch) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(batch.members[0].ctx))
	stops := make([]func() bool, len(batch.members))
	for i, m := range batch.members {
		stops[i] = context.AfterFunc(m.ctx, func() { cancel(context.Cause(m.ctx)) })
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

// errBatchExited is the result of a batch whose handler ended its goroutine, as FailNow of
// package testing does.
var errBatchExited = errors.New("batch handler ended its goroutine (runtime.Goexit) instead of returning")

// callBatch calls the handler in a goroutine that it may end. A panic, and any other number of
// results than messages, is an error.
func callBatch(ctx context.Context, h BatchHandler, messages []*Message) (results []error, err error) {
	n := len(messages)
	done := make(chan struct{})
	err = errBatchExited
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = &worker.PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
		results = h(ctx, messages)
		err = nil
	}()
	<-done
	if err == nil && len(results) != n {
		err = fmt.Errorf("batch handler returned %d results for %d messages", len(results), n)
	}
	return results, err
}
