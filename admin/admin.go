// Package admin is what operators do to one database: they pause, resume and limit topics and
// queues, ask why something has not run, and have the database examined.
//
//	ctx = admin.WithReason(admin.WithActor(ctx, "alice@ops"), "INC-42")
//	_, err = p.Admin.Pause(ctx, admin.Topic, "mail", "the mail server is down")
//	why, err := p.Admin.Explain(ctx, "0198c9a0-5d7e-8a41-9c3f-000000000001")
//	report := p.Admin.Examine(ctx)
package admin

import (
	"context"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Kind is what something is that an operator names.
type Kind string

// Kinds. Queue and Topic are what Pause and Resume take, and with EachTopic what SetLimit and
// RemoveLimit take; the others are what Explain takes.
const (
	Queue Kind = "queue"
	Topic Kind = "topic"
	// EachTopic is each topic that begins as a name does before its *, by itself: "call.*".
	EachTopic Kind = "each"

	Message Kind = "message"
	Timer   Kind = "timer"
	Job     Kind = "job"
	Run     Kind = "run" // of a job
	Join    Kind = "join"
	Inbox   Kind = "inbox" // a message of the inbox
)

// Admin is what operators do to one database. Programs find it as pawl.Pawl.Admin. It
// is safe for concurrent use.
type Admin struct {
	db      engine.DB
	outbox  *outbox.Outbox
	joins   *join.Joins
	inboxes *inbox.Inbox
	timers  *timer.Timers
	jobs    *job.Jobs
	pauses  *pause.Pauses
	limits  *throttle.Limits
	now     func() time.Time // this program's clock
}

// New returns what operators do to the database of components. pauses is what the workers of this
// process ask, so that they obey at once what this process pauses. Programs cannot name the first
// parameter: pawl.New calls it.
func New(
	_ access.Key, db engine.DB, pauses *pause.Pauses, o *outbox.Outbox, joins *join.Joins, inboxes *inbox.Inbox, timers *timer.Timers, jobs *job.Jobs,
) *Admin {
	return &Admin{
		db: db, outbox: o, joins: joins, inboxes: inboxes, timers: timers, jobs: jobs,
		pauses: pauses, limits: throttle.New(db, nil), now: time.Now,
	}
}

// WithActor returns a context whose changes are noted as made by actor: a person, a
// program. Without it they are noted as made by this process, host:pid. At most 255
// characters are kept.
func WithActor(ctx context.Context, actor string) context.Context {
	return audit.WithActor(ctx, actor)
}

// WithReason returns a context whose changes are noted with a reason, such as a ticket.
// An empty one leaves the reason that ctx has. At most 1000 characters are kept.
func WithReason(ctx context.Context, reason string) context.Context {
	return audit.WithReason(ctx, reason)
}
