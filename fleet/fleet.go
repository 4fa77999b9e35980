// Package fleet works on many databases with one set of handlers: a database per tenant, per
// region, per shard. Each is a store with a key of its own; a router returns its outbox,
// inbox, joins, leases, timers and jobs.
//
// The list of stores is fixed or discovered, and may change at any time. Idle stores cost
// very little: they are polled at growing intervals, and worked on while there is something
// to do. A store that fails, hangs or is slow does not delay the others. One budget of
// handlers and connections applies to all.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// ErrUnknownStore is returned when no database has the key.
var ErrUnknownStore = errors.New("unknown store")

// Opener opens a database of a fleet: postgres.OpenURL, sqlserver.OpenURL, sqlite.OpenURL.
type Opener func(o engine.OpenOptions) (engine.DB, error)

// Options configure a fleet. Engines is required; the zero value of the rest is right for
// most programs.
type Options struct {
	// Engines open the databases, by the scheme of their URL:
	//
	//	map[string]Opener{"postgres": postgres.OpenURL, "sqlite": sqlite.OpenURL}
	Engines map[string]Opener
	// Pawl configures the components of every store. Concurrency bounds the handlers of each queue
	// of one store; StopWhenEmpty makes Run return once no store that this process works on has
	// anything due; EnableSchemaDeployment migrates each store before its first work. Logger also
	// logs what happens to the fleet, and logs the stores with their keys.
	Pawl pawl.Options
	// Strategy chooses the next store while more stores have work than can be worked on at
	// once, default RoundRobin.
	Strategy Strategy
	// Refresh is how often the list of databases is read again, default 5 minutes.
	Refresh time.Duration

	// Active is how many stores are worked on at once, default 64. Those on
	// servers are also bounded by Connections: each needs three.
	Active int
	// Handlers is how many handlers run at once in all, default 256.
	Handlers int
	// Connections is how many connections to servers there are at once in all, default 80,
	// at least 4: PostgreSQL's default limit is 100, and other programs need some, too. Files
	// do not count.
	Connections int
	// ConnectionsPerStore is how many of them one store may have, default 8, at
	// least 3.
	ConnectionsPerStore int

	// PollMin and PollMax bound how often a store without work is polled: at first every
	// 250 ms, then at growing intervals, finally every 30 s. One that another process works
	// on is polled again after as long as nothing happened in it, from a second up.
	PollMin, PollMax time.Duration
	// PollFiles is PollMax of databases that are files, default 2 s: polling them takes
	// microseconds.
	PollFiles time.Duration
	// Cool is how long a store is kept warm when its work is done, default 2 s. Meanwhile new
	// work is picked up as if it were the only store. Up to KeepReady stores, default 16, are
	// kept warm permanently, once there was work, or another process worked on them.
	Cool      time.Duration
	KeepReady int

	// Share divides the stores among several processes. nil: this process works on all.
	Share *Share
}

// validate returns a pawl.InvalidError that names the first invalid field.
func (o *Options) validate() error {
	if err := o.Pawl.Validate(access.Key{}); err != nil {
		return engine.InOptions("Pawl", err)
	}
	return cmp.Or(
		o.Share.validate(), engine.CheckOption("Refresh", o.Refresh, 1, 0), engine.CheckOption("Active", o.Active, 1, 0), engine.CheckOption("Handlers", o.Handlers, 1, 0),
		engine.CheckOption("Connections", o.Connections, minConnections, 0),
		engine.CheckOption("ConnectionsPerStore", o.ConnectionsPerStore, minPerStore, 0), engine.CheckOption("PollMin", o.PollMin, 1, 0),
		engine.CheckOption("PollMax", o.PollMax, 1, 0), engine.CheckOption("PollFiles", o.PollFiles, 1, 0), engine.CheckOption("Cool", o.Cool, 1, 0),
		engine.CheckOption("KeepReady", o.KeepReady, 1, 0),
	)
}

func (o *Options) defaults() {
	set(&o.Refresh, 5*time.Minute)
	set(&o.Active, 64)
	set(&o.Handlers, 256)
	set(&o.Connections, 80)
	set(&o.ConnectionsPerStore, 8)
	set(&o.PollMin, 250*time.Millisecond)
	set(&o.PollMax, 30*time.Second)
	set(&o.PollFiles, 2*time.Second)
	set(&o.Cool, 2*time.Second)
	set(&o.KeepReady, 16)
	if o.Strategy == nil {
		o.Strategy = RoundRobin()
	}
}

// A store that is worked on needs a connection for notifications, one for its loop, and one
// for its handlers.
const (
	minPerStore    = 3
	minConnections = 4
)

func set[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Fleet is many databases. It is safe for concurrent use.
type Fleet struct {
	discovery Discovery
	opts      Options
	log       *slog.Logger
	setup     []func(*Store)
	work      work
	handlers  budget
	conns     *connections
	registry  registry
	turns     turns
	timetable timetable
	share     sharing
	life      checker.Life
	gate      worker.Gate
	library   engine.Library
	started   bool
	mu        sync.Mutex // of started and setup
}

// New returns a fleet of the databases that a discovery lists; see Static, Table
// and Directory. It makes no connection. Options that cannot be are an error that
// names the field, a pawl.InvalidError.
func New(d Discovery, opts Options) (*Fleet, error) {
	if d == nil {
		return nil, engine.Invalid("discovery", "nil")
	}
	if len(opts.Engines) == 0 {
		return nil, engine.Invalid("engines", `none: name those of the databases, such as {"postgres": postgres.OpenURL}`)
	}
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("fleet: options: %w", err)
	}
	if list, ok := d.(static); ok {
		if err := list.validate(); err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
	}
	opts.defaults()
	f := &Fleet{discovery: d, opts: opts, log: engine.Logger(opts.Pawl.Logger), work: databaseWork{}, handlers: newBudget(opts.Handlers)}
	f.conns = &connections{budget: newBudget(opts.Connections), pressed: f.closeIdle}
	f.registry.init(f)
	f.turns.init(f)
	f.timetable.init()
	f.share.f = f
	return f, nil
}

// Handle registers the handler of an outbox topic in every store. StoreOf returns the store
// that a message came from. Registering after Run has begun, or after a store was used,
// panics.
func (f *Fleet) Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions) {
	f.Setup(func(s *Store) { s.Pawl.Handle(topic, h, opts...) })
}

// HandleBatch registers a handler that gets messages of an outbox topic together, in every store:
// all of a call are of one store. Each counts as a handler of Options.Handlers. See
// pawl.Pawl.HandleBatch.
func (f *Fleet) HandleBatch(topic string, h outbox.BatchHandler, batch outbox.BatchOptions, opts ...outbox.HandlerOptions) {
	f.Setup(func(s *Store) { s.Pawl.HandleBatch(topic, h, batch, opts...) })
}

// Use wraps the handlers of every store, those of the inbox included, the first
// middleware being the outermost.
func (f *Fleet) Use(mw ...outbox.Middleware) { f.Setup(func(s *Store) { s.Pawl.Use(mw...) }) }

// HandleInbox registers the handler of an inbox topic in every store; see
// pawl.Pawl.HandleInbox.
func (f *Fleet) HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions) {
	f.Setup(func(s *Store) { s.Pawl.HandleInbox(topic, h, opts...) })
}

// HandleInboxTx is HandleInbox for handlers in a transaction; see pawl.Pawl.HandleInboxTx.
func (f *Fleet) HandleInboxTx(topic string, h func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions) {
	f.Setup(func(s *Store) { s.Pawl.HandleInboxTx(topic, h, opts...) })
}

// Setup registers a function that is called for every store when it is opened, before
// anything is done with it.
func (f *Fleet) Setup(fn func(*Store)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.started {
		panic("fleet: a handler was registered after the fleet was used")
	}
	f.setup = append(f.setup, fn)
}

// begin ends the registration of handlers.
func (f *Fleet) begin() []func(*Store) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = true
	return f.setup
}

// Run works on all stores until ctx ends, then stops gracefully and returns nil. It survives
// all failures of stores and of their discovery. Call it once.
func (f *Fleet) Run(ctx context.Context) error {
	f.begin()
	defer f.life.Begin(ctx)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	f.turns.begin(ctx)
	running.Go(func() { f.registry.refreshUntil(ctx) })
	running.Go(func() { f.pollLoop(ctx) })
	running.Go(func() { f.share.run(ctx) })
	if f.opts.Pawl.StopWhenEmpty {
		running.Go(func() {
			f.drained(ctx)
			stop()
		})
	}
	running.Wait()
	f.turns.running.Wait()
	f.deregister(context.WithoutCancel(ctx))
	return nil
}

// closeIdle closes idle connections of stores while others wait for one.
func (f *Fleet) closeIdle() {
	for _, s := range f.conns.holders.all() {
		s.closeIdle()
	}
}

// Close closes every store. Call it after Run has returned.
func (f *Fleet) Close() error {
	f.begin()
	stores := f.registry.all()
	errs := make([]error, len(stores))
	parallel(closeWorkers, stores, func(i int, s *Store) {
		if db := s.db.detach(); db != nil {
			if err := db.Close(); err != nil {
				errs[i] = fmt.Errorf("store %q: %w", s.Key, err)
			}
		}
	})
	return errors.Join(errs...)
}
