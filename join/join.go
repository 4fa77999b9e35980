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
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
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
}

const defaultRetention = 7 * 24 * time.Hour

// Joins are the joins of one database. They are safe for concurrent use.
type Joins struct {
	db     engine.DB
	outbox queue.Queue[outbox.Message, outbox.MessageID]
	opts   Options
	log    *slog.Logger

	rounds    rounds
	observers worker.Observers
}

// messages is the outbox that joins count the messages of.
type messages interface {
	queue.Queue[outbox.Message, outbox.MessageID]
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
}

// New returns the joins of an outbox's database, and what pawl.Pawl runs of them. It registers the
// handler of their waits. Programs cannot name the first parameter: pawl.New calls it.
func New(_ access.Key, db engine.DB, o messages, opts Options, log *slog.Logger) (*Joins, *worker.Component) {
	if opts.Topic == "" {
		opts.Topic = DefaultTopic
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	j := &Joins{db: db, outbox: o, opts: opts, log: engine.Logger(log), rounds: rounds{below: map[int][16]byte{}}}
	// Without a limit: what a wait is for does not go away.
	forever := worker.DefaultRetryPolicy()
	forever.MaxAttempts = 0
	o.Handle(opts.Topic, j.handle, outbox.HandlerOptions{Retry: (*outbox.RetryPolicy)(&forever)})
	return j, &worker.Component{
		Cleanup: worker.NewCleanup("joins", "joins", j.log, j.cleanUp),
		Observe: func(o *worker.Observer) { j.observers = append(j.observers, o) },
	}
}

// cleanJoins bounds one transaction of the clean-up.
const cleanJoins = 100

// cleanUp deletes joins that ended longer ago than the retention period, with
// their members, and returns how many. Pending joins stay until someone cancels
// them, and so do those with a wait that was not handled yet. It also compares some
// joins with their members, others each time, and repairs those that disagree, with a
// warning. Run does this by itself.
func (j *Joins) cleanUp(ctx context.Context) (int64, error) {
	n, err := worker.Purge(ctx, j.db, op.JoinPurge{Age: j.opts.Retention, Most: cleanJoins})
	if err != nil {
		return n, err
	}
	return n, j.repair(ctx)
}

func notFound(id ID) error { return fmt.Errorf("%w: %s", ErrNotFound, id) }
