package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/internal/worker"
)

// Handler handles the messages of a topic. Returning nil acks the message; after an error it is
// tried again later, until its attempts are used up. See Permanent, RetryAfter and Snooze for
// other results. A panic is an error. Messages may be delivered more than once: handlers should be
// idempotent.
//
// ctx ends when the message's lease is lost (its cause is ErrLeaseLost), the message is cancelled (ErrCancelled),
// or the grace period of a stop is over. Handlers of different messages run concurrently.
type Handler func(ctx context.Context, m *Message) error

// Middleware wraps a handler, for logging, tracing, limits and the like.
type Middleware func(Handler) Handler

// HandlerOptions configure one topic. The zero value means the outbox's defaults.
type HandlerOptions struct {
	// Retry replaces pawl.Options.Retry; in it MaxAttempts 0 means no limit.
	Retry *RetryPolicy
	// Timeout ends the context of one execution; 0 means none. A handler that does not return then is
	// logged, after as long again and a second at least, counted and seen by pawl explain.
	Timeout time.Duration
	// Concurrency is how many of the topic's messages this process handles at once, in all
	// queues of a database; 0: as many as pawl.Options.Concurrency allows. Messages that wait for
	// their turn take no handler from other topics.
	Concurrency int
	// Order is what a failed message with an ordering key does to those behind it; zero:
	// OrderBlock.
	Order OrderPolicy
	// Limit bounds the topic's messages in all processes together, for a pattern those of each of its
	// topics; nil: this handler needs no limit. Run sets it in the name of pawl.Options.Program, and
	// ends it when no handler has it any more. A limit that an operator set holds instead until it is
	// removed; then the next Run sets this one.
	Limit *Limit
}

// Limit bounds the messages of a topic, of each topic of a pattern, or of a queue, in all processes that work on the database
// together. At least one of Concurrency and Rate is set.
type Limit struct {
	// Concurrency is how many messages are claimed at once: with a handler, or waiting for one in a
	// worker. At most 10 000; 0: any number.
	Concurrency int `json:"concurrency,omitempty"`
	// Rate is how many messages are claimed in each Period, at most 10 000 a second; 0: any number. A
	// retry counts as one.
	Rate int `json:"rate,omitempty"`
	// Period is the time of Rate: default a second, at most a day.
	Period time.Duration `json:"period,omitempty"`
	// Burst is how many messages may be claimed at once when there were fewer before: in any time no
	// more than Burst and what Rate gives in it. Default: what Rate gives in a fifth of a second, at
	// least 1. With 1 a rate of many a second is not reached, because workers learn some
	// milliseconds late that the next one may begin.
	Burst int `json:"burst,omitempty"`
}

// errDuplicateHandler is returned by Run when two handlers were registered for one topic.
var errDuplicateHandler = errors.New("duplicate handler")

// registry has the handlers by topic.
type registry struct {
	mu         sync.RWMutex
	topics     map[string]route
	patterns   []string // among them: the names that end in *
	limited    bool     // some have slots
	extra      int      // messages that wait in batches
	middleware []Middleware
	errs       []error
	started    bool
	missing    map[string]*unhandledTopic
}

type route struct {
	handler Handler
	retry   worker.RetryPolicy
	timeout time.Duration
	slots   *worker.Slots // nil: no limit of its own
	order   worker.OrderPolicy
	limit   *Limit
}

// Handle is pawl.Pawl.Handle.
func (o component) Handle(topic string, h Handler, opts ...HandlerOptions) {
	err := checkHandlerOptions(opts)
	if err == nil && h == nil {
		err = engine.Invalid("handler", "nil")
	}
	o.handlers.add(topic, err, func() route { return o.route(h, opts) })
}

// Refuse makes Run return the error of a registration.
func (o component) Refuse(topic string, err error) { o.handlers.add(topic, err, nil) }

// add adds the route of a topic, unless there was an error.
func (r *registry) add(topic string, err error, build func() route) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		panic("outbox: Handle called after Run")
	}
	if err := engine.CheckText("topic", topic, limits.Topic, true); err != nil {
		r.errs = append(r.errs, fmt.Errorf("handler: %w", err))
		return
	}
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("handler for topic %q: %w", topic, err))
		return
	}
	if _, taken := r.topics[topic]; taken {
		r.errs = append(r.errs, fmt.Errorf("%w for topic %q", errDuplicateHandler, topic))
		return
	}
	if r.topics == nil {
		r.topics = map[string]route{}
	}
	rt := build()
	r.topics[topic] = rt
	r.limited = r.limited || rt.slots != nil
	if _, pattern := topics.Pattern(topic); pattern {
		r.patterns = append(r.patterns, topic)
	}
}

func checkHandlerOptions(opts []HandlerOptions) error {
	o, err := engine.Option(opts)
	if err != nil {
		return err
	}
	if o.Retry != nil {
		if err := worker.RetryPolicy(*o.Retry).Validate(); err != nil {
			return engine.InOptions("Retry", err)
		}
	}
	if o.Order < OrderBlock || o.Order > OrderHold {
		return engine.Invalid("Order", "not one of OrderBlock, OrderSkip and OrderHold")
	}
	if o.Limit != nil {
		if err := (*throttle.Bounds)(o.Limit).Validate(); err != nil {
			return engine.InOptions("Limit", err)
		}
	}
	return cmp.Or(engine.CheckOption("Timeout", o.Timeout, 1, 0), engine.CheckOption("Concurrency", o.Concurrency, 1, 0))
}

func (o *Outbox) route(h Handler, opts []HandlerOptions) route {
	rt := route{handler: h, retry: o.defaultRetry()}
	if len(opts) > 0 {
		rt.timeout, rt.order, rt.limit = opts[0].Timeout, worker.OrderPolicy(opts[0].Order), opts[0].Limit
		if opts[0].Retry != nil {
			rt.retry = worker.RetryPolicy(*opts[0].Retry)
		}
		if n := opts[0].Concurrency; n > 0 {
			rt.slots = worker.NewSlots(n, false)
		}
	}
	return rt
}

// Use wraps all handlers, those registered before included; the first middleware is the outermost.
func (o component) Use(mw ...Middleware) {
	o.handlers.mu.Lock()
	defer o.handlers.mu.Unlock()
	if o.handlers.started {
		panic("outbox: Use called after Run")
	}
	o.handlers.middleware = append(o.handlers.middleware, mw...)
}

// Limits returns the limits that handlers need.
func (o component) Limits() (all []throttle.Declared) {
	o.handlers.mu.RLock()
	defer o.handlers.mu.RUnlock()
	for topic, rt := range o.handlers.topics {
		if rt.limit != nil {
			all = append(all, throttle.Declared{Topic: topic, Bounds: throttle.Bounds(*rt.limit)})
		}
	}
	return all
}

// topics returns the topics that have a handler, in order.
func (o *Outbox) topics() []string {
	o.handlers.mu.RLock()
	defer o.handlers.mu.RUnlock()
	return slices.Sorted(maps.Keys(o.handlers.topics))
}

// start ends the registration and wraps the handlers.
func (r *registry) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.errs...); err != nil {
		return err
	}
	if r.started {
		return nil
	}
	r.started = true
	r.missing = map[string]*unhandledTopic{}
	for topic, rt := range r.topics {
		for i := len(r.middleware) - 1; i >= 0; i-- {
			rt.handler = r.middleware[i](rt.handler)
		}
		r.topics[topic] = rt
	}
	return nil
}

func (r *registry) find(topic string) (route, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if rt, ok := r.topics[topic]; ok {
		return rt, true
	}
	if len(r.patterns) == 0 {
		return route{}, false
	}
	name, ok := topics.Match(r.patterns, topic)
	return r.topics[name], ok
}

// slotsOf returns the slots of a topic that has a limit; nil for others.
func (r *registry) slotsOf(topic string) *worker.Slots {
	rt, _ := r.find(topic)
	return rt.slots
}

// unhandledTopic counts the messages of a topic that has no handler here.
type unhandledTopic struct {
	times  int
	warned time.Time
}

// recordMissing returns the delay for such a message, growing from a second to a minute, and
// whether to log a warning now: once per topic and minute (D-17).
func (r *registry) recordMissing(topic string, now time.Time) (delay time.Duration, warn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.missing[topic]
	if m == nil {
		m = &unhandledTopic{}
		r.missing[topic] = m
	}
	m.times++
	if warn = now.Sub(m.warned) >= time.Minute; warn {
		m.warned = now
	}
	return engine.Backoff(m.times), warn
}

// OrderPolicy is what a message with an ordering key does to those behind it when an attempt
// fails.
type OrderPolicy int

// The policies of a topic.
const (
	// OrderBlock keeps them waiting until the message succeeds, fails for good, expires or is
	// cancelled.
	OrderBlock = OrderPolicy(worker.OrderBlock)
	// OrderSkip lets the next one begin. The first claim after the backoff puts the message before
	// those that wait then.
	OrderSkip = OrderPolicy(worker.OrderSkip)
	// OrderHold is OrderBlock, and a message that fails for good keeps them waiting until an
	// operator redrives or discards it.
	OrderHold = OrderPolicy(worker.OrderHold)
)
