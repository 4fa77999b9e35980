// Package parts has the components of a database one by one, each with what pawl.New keeps to itself: a
// test registers handlers of one alone, runs it alone, and cleans up.
package parts

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// component is a component that can run alone.
type component struct {
	*worker.Component
	Poll time.Duration // bounds how long the scheduler sleeps
	db   engine.DB
	log  *slog.Logger
	ends bool // when nothing is left
}

// Run works until ctx ends, or nothing is left.
func (c *component) Run(ctx context.Context) error {
	if err := worker.AwaitReady(ctx, c.log, !c.ends, c.db.CheckSchema); err != nil && ctx.Err() == nil {
		return err
	}
	return c.Cleanup.Beside(ctx, func(ctx context.Context) error {
		scheduler := worker.NewScheduler(worker.ScheduleConfig{DB: c.db, Sources: c.Sources, Logger: c.log, MaxPollingInterval: c.Poll})
		if c.RunSlice == nil {
			return scheduler.Run(ctx)
		}
		return scheduler.Beside(ctx, func(ctx context.Context) error { return c.RunSlice(ctx, worker.TimeSlice{}) })
	})
}

// RunOutbox runs nothing of a Pawl but its outbox, until ctx ends.
func RunOutbox(ctx context.Context, db engine.DB, p *pawl.Pawl) error {
	c := component{Component: p.Internal(access.Key{}).Components[0], db: db, log: engine.Logger(nil)}
	return c.Run(ctx)
}

// CleanUp cleans up once.
func (c *component) CleanUp(ctx context.Context) (int64, error) { return c.Cleanup.Once(ctx) }

type messages interface {
	queue.Queue[outbox.Message, outbox.MessageID]
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	HandleBatch(topic string, h outbox.BatchHandler, batch outbox.BatchOptions, opts ...outbox.HandlerOptions)
	Use(mw ...outbox.Middleware)
	AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string)
}

// noInbox makes an outbox alone what takes handlers.
type noInbox interface {
	HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	HandleInboxTx(topic string, h func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions)
}

// Outbox is an outbox.
type Outbox struct {
	*outbox.Outbox
	messages
	noInbox
	part *component
}

// NewOutbox returns the outbox of a database.
func NewOutbox(db engine.DB, opts worker.Options) *Outbox {
	o, m := outbox.New(access.Key{}, db, opts)
	return &Outbox{o, m, nil, &component{Component: m.Component(), db: db, log: engine.Logger(opts.Logger), ends: opts.StopWhenEmpty}}
}

// Run works until ctx ends, or nothing is left.
func (o *Outbox) Run(ctx context.Context) error { return o.part.Run(ctx) }

// CleanUp cleans up once.
func (o *Outbox) CleanUp(ctx context.Context) (int64, error) { return o.part.CleanUp(ctx) }

// What operators do has other results than what programs do.

// Redrive is the operators'.
func (o *Outbox) Redrive(ctx context.Context, f outbox.FailedFilter) (acts.Bulk, error) {
	return o.Operator(access.Key{}).Redrive(ctx, f)
}

// Discard is the operators'.
func (o *Outbox) Discard(ctx context.Context, f outbox.FailedFilter) (acts.Bulk, error) {
	return o.Operator(access.Key{}).Discard(ctx, f)
}

// Undiscard is the operators'.
func (o *Outbox) Undiscard(ctx context.Context, f outbox.FailedFilter, act uuid.UUID) (acts.Bulk, error) {
	return o.Operator(access.Key{}).Undiscard(ctx, f, act)
}

// CountUndiscard is the operators'.
func (o *Outbox) CountUndiscard(ctx context.Context, f outbox.FailedFilter, act uuid.UUID) (int64, error) {
	b, err := o.Operator(access.Key{}).CountUndiscard(ctx, f, act)
	return b.Changed, err
}

// Bulk is the operators'.
func (o *Outbox) Bulk(ctx context.Context, id uuid.UUID) (acts.Bulk, error) {
	return o.Operator(access.Key{}).Bulk(ctx, id)
}

// Bulks is the operators'.
func (o *Outbox) Bulks(ctx context.Context) ([]acts.Bulk, error) {
	return o.Operator(access.Key{}).Bulks(ctx)
}

// StopBulk is the operators'.
func (o *Outbox) StopBulk(ctx context.Context, id uuid.UUID) (acts.Bulk, error) {
	return o.Operator(access.Key{}).StopBulk(ctx, id)
}

// CountRedrive is the operators'.
func (o *Outbox) CountRedrive(ctx context.Context, f outbox.FailedFilter) (int64, error) {
	b, err := o.Operator(access.Key{}).CountRedrive(ctx, f)
	return b.Changed, err
}

// CountFailed is the operators'.
func (o *Outbox) CountFailed(ctx context.Context, f outbox.FailedFilter) (int64, error) {
	b, err := o.Operator(access.Key{}).CountFailed(ctx, f)
	return b.Changed, err
}

// Failures is the operators'.
func (o *Outbox) Failures(ctx context.Context, f outbox.FailedFilter) ([]acts.Failure, error) {
	return o.Operator(access.Key{}).Failures(ctx, f)
}

// Retopic is the operators'.
func (o *Outbox) Retopic(ctx context.Context, r acts.Retopic) (acts.Retopiced, error) {
	return o.Operator(access.Key{}).Retopic(ctx, r)
}

// Joins are joins.
type Joins struct {
	*join.Joins
	*component
}

// NewJoins returns the joins of an outbox.
func NewJoins(db engine.DB, o *Outbox, opts join.Options, log *slog.Logger) *Joins {
	j, c := join.New(access.Key{}, db, o.messages, opts, log)
	return &Joins{j, &component{Component: c, db: db, log: engine.Logger(log)}}
}

// Timers are timers.
type Timers struct {
	*timer.Timers
	*component
}

// NewTimers returns the timers of an outbox.
func NewTimers(db engine.DB, o *Outbox, opts timer.Options, log *slog.Logger) *Timers {
	t, c := timer.New(access.Key{}, db, o.messages, opts, log)
	return &Timers{t, &component{Component: c, db: db, log: engine.Logger(log)}}
}

// Jobs are jobs.
type Jobs struct {
	*job.Jobs
	*component
}

// NewJobs returns the jobs of an outbox.
func NewJobs(db engine.DB, o *Outbox, opts job.Options, log *slog.Logger) *Jobs {
	j, c := job.New(access.Key{}, db, o.Outbox, o.messages, NewLeases(db, "", log), opts, log)
	return &Jobs{j, &component{Component: c, db: db, log: engine.Logger(log)}}
}

// NewLeases returns the leases of a database.
func NewLeases(db engine.DB, owner string, log *slog.Logger) *lease.Leases {
	l, _ := lease.New(access.Key{}, db, owner, log)
	return l
}

type deliveries interface {
	HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	HandleInboxTx(topic string, h func(ctx context.Context, tx outbox.Tx, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	Use(mw ...outbox.Middleware)
	AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string)
}

// Inbox is an inbox.
type Inbox struct {
	*inbox.Inbox
	deliveries
	*component
}

// NewInbox returns the inbox of a database.
func NewInbox(db engine.DB, opts inbox.Options, workers worker.Options) *Inbox {
	i, d := inbox.New(access.Key{}, db, opts, workers)
	return &Inbox{i, d, &component{Component: d.Component(), db: db, log: engine.Logger(workers.Logger), ends: workers.StopWhenEmpty}}
}

// NewAdmin returns what operators do to a database.
func NewAdmin(db engine.DB) *admin.Admin {
	p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err) // of the options alone
	}
	return p.Admin
}
