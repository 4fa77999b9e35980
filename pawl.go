// Package pawl gives a program durable work on the SQL database it already
// has. A pawl is the catch that keeps a ratchet from slipping back: once your
// transaction commits, the work only moves forward.
//
//	db, err := sqlite.Open("shop.db")
//	p, err := pawl.New(db, pawl.Options{})
//	err = p.Migrate(ctx)
//	p.Handle("order.created", outbox.JSON(sendMail))
//	id, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.created", Payload: body})
//	err = p.Run(ctx)
//	l, err := p.Leases.Acquire(ctx, "close-books", lease.Options{Duration: 5 * time.Minute})
package pawl

import (
	"context"
	"errors"
	"sync"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
)

// Options configure a Pawl. The zero value is right for most programs.
type Options struct {
	// Outbox configures the outbox, its logger and its workers included.
	Outbox outbox.Options
	// Joins configures joins. Logger and Retention default to the outbox's.
	Joins join.Options
	// Inbox configures the inbox. Logger and Workers default to the outbox's.
	Inbox inbox.Options
	// Leases configures the leases: their owner's name and logger.
	Leases lease.ManagerOptions
	// EnableSchemaDeployment makes Run migrate the database first. Otherwise
	// Run fails clearly when the schema is missing, too old or too new.
	EnableSchemaDeployment bool
}

// Pawl is one database with all components.
type Pawl struct {
	// Outbox delivers messages written in your own transactions.
	Outbox *outbox.Outbox
	// Joins tell when several messages are done.
	Joins *join.Joins
	// Inbox makes at-least-once deliveries take effect once.
	Inbox *inbox.Inbox
	// Leases let one process at a time do something, fenced by tokens. They need
	// no Run: a lease is renewed from when it is acquired until it is closed.
	Leases *lease.Leases

	db   engine.DB
	opts Options
}

// New builds the components on a database. It makes no connection.
func New(db engine.DB, opts Options) (*Pawl, error) {
	if db == nil {
		return nil, errors.New("pawl: no database: open one with sqlite.Open or postgres.Open")
	}
	if opts.Joins.Logger == nil {
		opts.Joins.Logger = opts.Outbox.Logger
	}
	if opts.Joins.Retention == 0 {
		opts.Joins.Retention = opts.Outbox.Retention
	}
	if opts.Inbox.Logger == nil {
		opts.Inbox.Logger = opts.Outbox.Logger
	}
	if opts.Inbox.Workers == nil {
		opts.Inbox.Workers = &opts.Outbox
	}
	if opts.Leases.Logger == nil {
		opts.Leases.Logger = opts.Outbox.Logger
	}
	o := outbox.New(db, opts.Outbox)
	return &Pawl{Outbox: o, Joins: join.New(db, o, opts.Joins), Inbox: inbox.New(db, opts.Inbox), Leases: lease.New(db, opts.Leases), db: db, opts: opts}, nil
}

// Migrate brings the schema up to date. It is idempotent and safe with any
// number of processes doing it at once.
func (p *Pawl) Migrate(ctx context.Context) error { return p.db.Migrate(ctx) }

// Handle registers the handler of an outbox topic; see outbox.Outbox.Handle.
func (p *Pawl) Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions) {
	p.Outbox.Handle(topic, h, opts...)
}

// Use wraps all handlers, the first middleware being the outermost.
func (p *Pawl) Use(mw ...outbox.Middleware) { p.Outbox.Use(mw...) }

// Run works until ctx ends, then stops gracefully and returns nil. It returns
// an error only if it cannot start. Call it once.
func (p *Pawl) Run(ctx context.Context) error {
	if p.opts.EnableSchemaDeployment {
		if err := p.Migrate(ctx); err != nil {
			return err
		}
	}
	// The workers end when there is nothing left to do, if they are told to; what
	// only keeps order ends with them. One that cannot start stops the others.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keep, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	var keepers, workers sync.WaitGroup
	keepers.Go(func() { _ = p.Joins.Run(keep) })
	errs := make([]error, 2)
	for i, run := range []func(context.Context) error{p.Outbox.Run, p.Inbox.Run} {
		workers.Go(func() {
			if errs[i] = run(ctx); errs[i] != nil {
				stop()
			}
		})
	}
	workers.Wait()
	stopKeeping()
	keepers.Wait()
	return errors.Join(errs...)
}

// Close closes the database. Call it after Run has returned.
func (p *Pawl) Close() error { return p.db.Close() }
