// Package join sends a message when a set of outbox messages is done (fan-in). A join counts the
// outcomes of its member messages; a wait sends one message after the last of them.
//
// Acks and failures are counted in the transaction that settles the message, so the handlers of
// the steps do not use this package. Counters equal the members' states at every commit, and
// every wait sends its message exactly once, also after crashes.
//
// FanOut does all of it in one call. Its parts, Start, Attach and Wait, are for steps that are
// added one by one, and each exists for a transaction of your own as well (StartTx, …). Joins
// are stored in the database of their messages.
package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// DefaultTopic is the topic of waits.
const DefaultTopic = topics.JoinWait

var (
	// ErrNotFound is returned when there is no such join, or it was deleted.
	ErrNotFound = errors.New("join not found")
	// ErrNotMember is returned for a message that is not attached.
	ErrNotMember = errors.New("message is not a member of the join")
)

// Options configure joins. The zero value is right for most programs.
type Options struct {
	// Topic is the topic of waits, default DefaultTopic. All programs on one
	// database must agree on it.
	Topic string
	// Queue is the queue of waits that name none, default outbox.DefaultQueue. A worker has to
	// serve it.
	Queue string
	// Retention is how long joins are kept after they ended, default 7 days.
	Retention time.Duration
	// Logger logs joins that start, are cancelled or end with a wait, at INFO. nil means
	// slog.Default() for warnings and errors only.
	Logger *slog.Logger
}

const defaultRetention = 7 * 24 * time.Hour

// Validate returns an *pawl.InvalidError that names the first invalid field. pawl.New and Run call it.
func (o *Options) Validate() error {
	return cmp.Or(
		engine.CheckText("Topic", o.Topic, limits.Topic, false), engine.CheckText("Queue", o.Queue, limits.Queue, false), engine.CheckOption("Retention", o.Retention, 1, 0),
	)
}

// Joins are the joins of one database. They are safe for concurrent use.
type Joins struct {
	db     engine.DB
	outbox queue.Queue[outbox.Message, outbox.MessageID]
	opts   Options
	log    *slog.Logger

	cleanup   *worker.Cleanup
	rounds    rounds
	observers worker.Observers
	invalid   error // of the options
}

// New returns the joins of an outbox's database and registers the handler of their waits with
// the outbox, whose Run handles them.
func New(db engine.DB, o *outbox.Outbox, opts Options) *Joins {
	invalid := opts.Validate()
	if opts.Topic == "" {
		opts.Topic = DefaultTopic
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	j := &Joins{db: db, outbox: o.Internal(access.Key{}), opts: opts, log: engine.Logger(opts.Logger), rounds: rounds{below: map[int][16]byte{}}, invalid: invalid}
	j.cleanup = worker.NewCleanup("joins", "joins", j.log, j.CleanUp)
	// Without a limit: what a wait is for does not go away.
	forever := worker.DefaultRetryPolicy()
	forever.MaxAttempts = 0
	o.Handle(opts.Topic, outbox.HandlerFunc(j.handle), outbox.HandlerOptions{Retry: &forever})
	return j
}

// Run cleans up periodically until ctx ends. It returns an error only for invalid options.
func (j *Joins) Run(ctx context.Context) error {
	if j.invalid != nil {
		return fmt.Errorf("options of joins: %w", j.invalid)
	}
	j.cleanup.Run(ctx)
	return nil
}

// Internal is for packages of this module: programs cannot name its parameter.
func (j *Joins) Internal(access.Key) *worker.Component {
	return &worker.Component{
		Cleanup: j.cleanup,
		Observe: func(o *worker.Observer) { j.observers = append(j.observers, o) },
	}
}

// cleanJoins bounds one transaction of the clean-up.
const cleanJoins = 100

// CleanUp deletes joins that ended longer ago than the retention period, with
// their members, and returns how many. Pending joins stay until someone cancels
// them, and so do those with a wait that was not handled yet. It also compares some
// joins with their members, others each time, and repairs those that disagree, with a
// warning. Run does this by itself.
func (j *Joins) CleanUp(ctx context.Context) (int64, error) {
	n, err := worker.Purge(ctx, j.db, op.JoinPurge{Age: j.opts.Retention, Most: cleanJoins})
	if err != nil {
		return n, err
	}
	return n, j.repair(ctx)
}

func notFound(id ID) error { return fmt.Errorf("%w: %s", ErrNotFound, id) }
