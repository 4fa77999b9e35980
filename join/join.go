// Package join is fan-in over outbox messages: when all of these are done, then
// send that. A join counts how its member messages end; a wait sends one message
// when the last of them has.
//
// Acking and failing count by themselves, in the transaction that settles the
// message, so the handlers of the steps know nothing of joins. Counters equal
// the members' states at every commit, and every wait fires exactly once,
// whatever crashes in between.
//
// FanOut does it all in one call. Its parts, Start, Attach and Wait, are there
// for steps that come up one by one, and each exists for a transaction of your
// own as well (StartTx, …). Joins live in the database of their messages.
package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// DefaultTopic is the topic of waits.
const DefaultTopic = "join.wait"

// Limits of a join's fields.
const (
	MaxGroupingKey = 255     // characters
	MaxMetadata    = 1 << 20 // bytes
)

var (
	// ErrNotFound says that there is no such join, or it was cleaned up.
	ErrNotFound = errors.New("join not found")
	// ErrNotMember says that a message was reported that is not attached.
	ErrNotMember = errors.New("message is not a member of the join")
)

// Options configure joins. The zero value is right for most programs.
type Options struct {
	// Topic is the topic of waits, default DefaultTopic. All programs on one
	// database must agree on it.
	Topic string
	// Queue is where waits go that name none, default outbox.DefaultQueue. It has
	// to be one that is served.
	Queue string
	// Retention is how long joins are kept after they ended, default 7 days.
	Retention time.Duration
	// Logger gets a line per join that starts, is cancelled or ends with a wait, at INFO. nil means
	// slog.Default() for warnings and errors only.
	Logger *slog.Logger
}

const defaultRetention = 7 * 24 * time.Hour

// Validate returns an *InvalidError that names the first invalid field. pawl.New and Run call it.
func (o *Options) Validate() error {
	return cmp.Or(
		engine.CheckText("Topic", o.Topic, outbox.MaxTopic, false), engine.CheckText("Queue", o.Queue, outbox.MaxQueue, false), engine.CheckOption("Retention", o.Retention, 1, 0),
	)
}

// Joins are the joins of one database. They are safe for concurrent use.
type Joins struct {
	db     engine.DB
	outbox *outbox.Outbox
	opts   Options
	log    *slog.Logger

	cleaning  worker.LoopTracker
	rounds    rounds
	observers []func(Repaired)
	invalid   error // of the options
}

// New returns the joins of an outbox's database and registers the handler of
// their waits with the outbox, whose Run it is that fires them.
func New(db engine.DB, o *outbox.Outbox, opts Options) *Joins {
	invalid := opts.Validate()
	if opts.Topic == "" {
		opts.Topic = DefaultTopic
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	j := &Joins{db: db, outbox: o, opts: opts, log: engine.Logger(opts.Logger), rounds: rounds{below: map[int][16]byte{}}, invalid: invalid}
	// Without a limit: what a wait is for does not go away.
	forever := worker.DefaultRetryPolicy()
	forever.MaxAttempts = 0
	o.Handle(opts.Topic, outbox.HandlerFunc(j.handle), outbox.HandlerOptions{Retry: &forever})
	return j
}

// Run cleans up from time to time until ctx ends. It returns an error only for
// options that cannot be.
func (j *Joins) Run(ctx context.Context) error {
	if j.invalid != nil {
		return fmt.Errorf("options of joins: %w", j.invalid)
	}
	worker.KeepClean(ctx, j.log.With("component", "joins"), &j.cleaning, j.CleanUp)
	return nil
}

// LoopStatus returns the status of the loop that cleans up.
func (j *Joins) LoopStatus() []worker.LoopStatus {
	return []worker.LoopStatus{j.cleaning.Status("clean-up of joins")}
}

// cleanJoins bounds one transaction of the clean-up.
const cleanJoins = 100

// CleanUp deletes joins that ended longer ago than the retention period, with
// their members, and returns how many. Pending joins stay until someone cancels
// them, and so do those with a wait that was not handled yet. It also compares some
// joins with their members, others each time, and repairs those that disagree, with a
// warning: see Observe. Run does this by itself.
func (j *Joins) CleanUp(ctx context.Context) (int64, error) {
	n, err := worker.Purge(ctx, j.db, op.JoinPurge{Age: j.opts.Retention, Most: cleanJoins})
	if err != nil {
		return n, err
	}
	return n, j.repair(ctx)
}

func notFound(id ID) error { return fmt.Errorf("%w: %s", ErrNotFound, id) }
