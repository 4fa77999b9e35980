// Package pawl gives a program durable work on the SQL database it already
// has. A pawl is the catch that keeps a ratchet from slipping back: once your
// transaction commits, the work only moves forward.
//
//	var OrderCreated = pawl.NewTopic[Order]("order.created")
//
//	db, err := sqlite.Open("shop.db")
//	p, err := pawl.New(db, pawl.Options{})
//	err = p.Migrate(ctx)
//	OrderCreated.Handle(p, sendMail)
//	id, err := OrderCreated.EnqueueTx(ctx, p, tx, order)
//	err = p.Run(ctx)
//	l, err := p.Leases.Acquire(ctx, "close-books", lease.Options{Duration: 5 * time.Minute})
//	t, err := OrderExpires.Schedule(ctx, p, timer.Timer{Due: time.Now().Add(time.Hour)}, order)
//	err = p.Jobs.Put(ctx, Report.Every("0 6 * * MON-FRI", "Europe/Berlin", body))
package pawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Pawl is one database with all components.
type Pawl struct {
	// Outbox delivers messages written in your own transactions.
	Outbox *outbox.Outbox
	// Joins count messages and follow up when all are done.
	Joins *join.Joins
	// Inbox makes at-least-once deliveries take effect once.
	Inbox *inbox.Inbox
	// Leases let one process at a time do something, fenced by tokens. They need
	// no Run: a lease is renewed from when it is acquired until it is closed.
	Leases *lease.Leases
	// Timers do something later, once.
	Timers *timer.Timers
	// Jobs do something over and over, by a cron schedule.
	Jobs *job.Jobs
	// Admin is what operators do: pause and resume, see workers and the audit trail, have
	// the database examined.
	Admin *admin.Admin

	db         engine.DB
	messages   messages
	deliveries deliveries
	flows      *flow.Flows
	components worker.Components
	workers    *registry.Registry
	opts       Options
	log        *slog.Logger
	scheduling worker.LoopTracker
	life       checker.Life
	checker    *checker.Checker
	started    atomic.Pointer[background]
}

// messages is the outbox with what is Pawl's own of it.
type messages interface {
	queue.Queue[outbox.Message, outbox.MessageID]
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	HandleBatch(topic string, h outbox.BatchHandler, batch outbox.BatchOptions, opts ...outbox.HandlerOptions)
	Refuse(topic string, err error)
	middleware
}

// deliveries is the inbox with what is Pawl's own of it.
type deliveries interface {
	HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	HandleInboxTx(topic string, h func(ctx context.Context, tx Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	middleware
	Component() *worker.Component
}

type middleware interface {
	Limits() []throttle.Declared
	Use(mw ...outbox.Middleware)
	AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string)
}

// New returns the components of a database that sqlite.Open or postgres.Open returned. It
// makes no connection. Options that are invalid are an error that names the field, an
// *InvalidError.
func New(db DB, opts Options) (*Pawl, error) {
	own, ok := engine.As[engine.DB](db)
	if !ok {
		return nil, errors.New("pawl: no database: open one with sqlite.Open or postgres.Open")
	}
	if err := opts.Validate(access.Key{}); err != nil {
		return nil, fmt.Errorf("pawl: options: %w", err)
	}
	counts := activity.New()
	p := &Pawl{workers: registry.New(own, opts.Logger, counts), db: own, opts: opts, log: engine.Logger(opts.Logger)}
	p.components = p.assemble()
	p.components.Observe(counts.Observer())
	p.checker = checker.New(checker.Config{
		DB: own, LoopStatus: p.components.Status, Life: &p.life, Ends: opts.StopWhenEmpty, Options: opts.Health,
	})
	return p, nil
}

// assemble makes the components. It returns those that handle messages first. What refers to
// messages comes after them: CleanUp goes the other way.
func (p *Pawl) assemble() worker.Components {
	key, db, o := access.Key{}, p.db, &p.opts
	var joins, flows, timers, jobs, leases *worker.Component
	p.Outbox, p.messages = outbox.New(key, db, o.outbox())
	p.Inbox, p.deliveries = inbox.New(key, db, o.inbox(), o.workers())
	p.Joins, joins = join.New(key, db, p.messages, o.joins(), o.Logger)
	p.flows, flows = flow.Connect(key, db, p.Outbox, p.messages, p.Joins)
	p.Leases, leases = lease.New(key, db, o.Worker, o.Logger)
	p.Timers, timers = timer.New(key, db, p.messages, o.timers(), o.Logger)
	p.Jobs, jobs = job.New(key, db, p.Outbox, p.messages, p.Leases, o.jobs(), o.Logger)
	p.Admin = admin.New(key, db, p.messages.Pauses(), p.Outbox, p.Joins, p.Inbox, p.Timers, p.Jobs)
	messages, inbox := p.messages.Component(), p.deliveries.Component()
	gate := &worker.Gate{}
	if shared, ok := engine.As[worker.Gated](db); ok {
		gate = shared.Gate()
	}
	shared := worker.Shared{Tag: p.workers.Tag(), Gate: gate, Reaping: make(chan struct{}, 1)}
	messages.Share(shared)
	inbox.Share(shared)
	return worker.Components{
		messages, inbox,
		{Status: func() []worker.LoopStatus { return []worker.LoopStatus{p.scheduling.Status("scheduler")} }},
		joins, flows, timers, jobs, leases,
		{Status: p.workers.Status},
		{Cleanup: worker.NewCleanup("activity", "activity", p.log, func(ctx context.Context) (int64, error) { return activity.CleanUp(ctx, db) })},
		{Cleanup: worker.NewCleanup("audit", "the audit trail", p.log, func(ctx context.Context) (int64, error) { return audit.CleanUp(ctx, db) })},
	}
}

// Migrate brings the schema up to date. It is idempotent and safe with any
// number of processes doing it at once.
func (p *Pawl) Migrate(ctx context.Context) error { return p.db.Migrate(ctx) }

// AfterRestore is to be called once after the database was restored from a backup,
// or replaced by a copy of whatever kind, before programs work on it again or while
// they do. It begins a new generation: programs that run drop what they remember, ids
// and fencing tokens go on above everything that may have been given out after the
// backup was made, and leases are free. Calling it without need costs ids and the
// leases that are held. It returns the generation's number.
func (p *Pawl) AfterRestore(ctx context.Context) (generation int64, err error) {
	c := engine.Ask(op.GenerationRestored{})
	note := audit.New(ctx, "database").Call(audit.Restore, 1)
	if err := p.db.Do(ctx, c, note, engine.Ask(op.GenerationCheck{})); err != nil {
		return 0, err
	}
	p.log.WarnContext(ctx, "the database counts as restored: a new generation begins", "generation", c.N)
	return c.N, nil
}

// Handle registers the handler of an outbox topic. A name that ends in * stands for all topics that
// begin with what is before it: "order.*", or "*" for a relay. A topic's own handler comes first,
// then the longest such name. Messages that wait for a join (topic join.DefaultTopic) have no
// other handler than their own. Run returns errors of registration, such as a second handler for
// a topic, or more than one HandlerOptions. Registering after Run has begun panics.
func (p *Pawl) Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions) {
	p.messages.Handle(topic, h, opts...)
}

// HandleBatch registers a handler of an outbox topic, or of several as in Handle, that gets messages
// together. It is called at most HandlerOptions.Concurrency times at once, default 1, while the
// next batch is collected; Timeout bounds each call. Middleware wraps each message by itself, and
// sees its result. The messages of batches come beside Options.Concurrency.
func (p *Pawl) HandleBatch(topic string, h outbox.BatchHandler, batch outbox.BatchOptions, opts ...outbox.HandlerOptions) {
	p.messages.HandleBatch(topic, h, batch, opts...)
}

// HandleInbox registers a handler of an inbox topic, for what Inbox.Enqueue stored. It runs outside a
// transaction, as in Inbox.Attempt. What its error says is as for outbox handlers; when its attempts
// are used up the message is dead. An attempt that ended with its process counts only if the message
// was handled alone; see outbox.WorkQueue.Claim.
func (p *Pawl) HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions) {
	p.deliveries.HandleInbox(topic, h, opts...)
}

// HandleInboxTx is HandleInbox for a handler that runs in a transaction, as in Inbox.Once: what it
// writes through tx takes effect exactly once.
func (p *Pawl) HandleInboxTx(topic string, h func(ctx context.Context, tx Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions) {
	p.deliveries.HandleInboxTx(topic, h, opts...)
}

// Use wraps all handlers, those of the inbox included, the first middleware being
// the outermost. Calling it after Run has begun panics.
func (p *Pawl) Use(mw ...outbox.Middleware) {
	p.messages.Use(mw...)
	p.deliveries.Use(mw...)
}

// AddHeaders adds the headers that f returns to every message that is enqueued from now on, those of
// the inbox included: headers of the context of the enqueue, such as the trace that it belongs to. f must not
// change the message, may return nil, and is called by many goroutines at once. Headers that a message has
// already stay as they are. What would make them too large is left out.
func (p *Pawl) AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string) {
	p.messages.AddHeaders(f)
	p.deliveries.AddHeaders(f)
}

// Run works until ctx ends, then stops gracefully and returns nil. It returns an
// error only if it cannot start, or if the database's files changed such that only a
// restart of the program helps (pawl.ErrFileLost). For a server that takes no
// connections yet it waits, unless it is to end when nothing is left. Call it once.
func (p *Pawl) Run(ctx context.Context) error { return p.work(ctx, func() {}) }

// work is Run, which calls begun when it has begun to work.
func (p *Pawl) work(ctx context.Context, begun func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watch sync.WaitGroup
	var lost error
	watch.Go(func() {
		if lost = p.lost(ctx); lost != nil {
			stop()
		}
	})
	err := p.run(ctx, begun)
	stop()
	watch.Wait()
	return errors.Join(err, lost)
}

// run is work until ctx ends.
func (p *Pawl) run(ctx context.Context, begun func()) error {
	if err := engine.CheckLoop(ctx, p.db, "run"); err != nil {
		return err
	}
	if err := worker.AwaitReady(ctx, p.log, !p.opts.StopWhenEmpty, p.begin); err != nil && ctx.Err() == nil {
		return err
	}
	defer p.life.Begin(ctx)()
	begun()
	engine.WarnPool(ctx, p.log, p.db, p.components.Concurrency())
	scheduler := p.scheduler()
	if p.opts.StopWhenEmpty {
		scheduler.Dispatch(ctx) // what is due is not yet in the outbox
	}
	// The workers end when there is nothing left to do, with StopWhenEmpty; the loops that
	// maintain the database end with them. One that cannot start stops the others. The
	// schema is checked once: a database that goes away from now on comes back.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keep, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	kept := p.keep(keep, scheduler)
	err := p.components.RunSlice(ctx, worker.TimeSlice{})
	stopKeeping()
	kept.Wait()
	return err
}

// begin sees to the schema, and to the limits that handlers need.
func (p *Pawl) begin(ctx context.Context) error {
	if p.opts.EnableSchemaDeployment {
		if err := p.Migrate(ctx); err != nil {
			return err
		}
	}
	if err := p.db.CheckSchema(ctx); err != nil {
		return err
	}
	return throttle.New(p.db, p.log).Declare(ctx, cmp.Or(p.opts.Program, program()), p.opts.Version, append(p.messages.Limits(), p.deliveries.Limits()...))
}

// lost waits until only a restart helps, or until ctx ends.
func (p *Pawl) lost(ctx context.Context) error {
	db, ok := engine.As[engine.FileWatcher](p.db)
	if !ok {
		return nil
	}
	select {
	case <-db.Lost():
		return db.Failure()
	case <-ctx.Done():
		return nil
	}
}

// keep runs what maintains the database beside the workers, until ctx ends.
func (p *Pawl) keep(ctx context.Context, scheduler *worker.Scheduler) *sync.WaitGroup {
	var all sync.WaitGroup
	all.Go(func() { p.components.KeepClean(ctx) })
	all.Go(func() { _ = scheduler.Run(ctx) })
	all.Go(func() { p.workers.Run(ctx, p.self()) })
	return &all
}

// self is this process's entry in the list of workers.
func (p *Pawl) self() registry.Self {
	return registry.Self{
		Name: cmp.Or(p.opts.Worker, engine.ProcessName()), Queues: p.components.Queues(), Topics: p.components.Topics(),
		Concurrency: p.components.Concurrency(), InFlight: func() int64 { return p.components.Stats().InFlight }, Overdue: p.components.Overdue, Progress: p.components.Progress,
	}
}

// Health reports on the database, its schema, the loops of this process,
// and whether work waits that nobody claims. While Run stops, it fails.
func (p *Pawl) Health(ctx context.Context) health.Report { return p.checker.Health(ctx) }

// Alive reports, without a query, whether the loops of this process iterate. probe.Handler serves both to probes.
func (p *Pawl) Alive() health.Report { return p.checker.Alive() }

// Flows is for package flow: it makes p a flow.Host.
func (p *Pawl) Flows() *flow.Flows { return p.flows }

// DB returns the database.
func (p *Pawl) DB() DB { return p.db }

// scheduler is one loop for everything that falls due.
func (p *Pawl) scheduler() *worker.Scheduler {
	return worker.NewScheduler(worker.ScheduleConfig{
		DB: p.db, Sources: p.components.Sources(), Logger: p.log, MaxPollingInterval: p.opts.MaxPollingInterval, Tracker: &p.scheduling,
	})
}

// Close closes the database. Call it after Run has returned.
func (p *Pawl) Close() error { return p.db.Close() }
