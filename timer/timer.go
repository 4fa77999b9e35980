// Package timer delivers messages later: a timer is a message that enters the outbox when it is
// due, regardless of restarts, deployments and crashes. Its handler is the outbox's handler of
// its topic.
//
// Until it is due a timer can be cancelled and rescheduled. A key identifies it by a name of
// your own: scheduling the same key again replaces the timer.
//
// Schedule, Cancel and Reschedule exist for a transaction of your own as well (ScheduleTx, …):
// then the timer exists if the transaction commits. A message that is only delayed, and never
// cancelled, needs no timer: use outbox.Message.Due.
package timer

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
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// ID identifies a timer, and is the id of the message that it becomes.
type ID = outbox.MessageID

// ErrNotFound is returned when there is no such timer, or it was deleted.
var ErrNotFound = errors.New("timer not found")

// Timer is a timer to schedule.
type Timer struct {
	// ID is the timer's identity. Left zero, Schedule makes one. Supplying an id
	// makes scheduling idempotent: a known one changes nothing.
	ID ID `json:"timer_id"`
	// Key names the timer: at most 255 characters, "" for none. Scheduling a key
	// again replaces its pending timer. One that is being fired already fires.
	Key string `json:"key,omitempty"`
	// Due is when the timer fires. Past: at once. It has to be given. A time before
	// 1970 is kept as the time at which the timer was scheduled.
	Due time.Time `json:"due,omitzero"`
	// The rest is the message's; see outbox.Message.
	Expires       time.Time         `json:"expires,omitzero"`
	Topic         string            `json:"topic"`
	Payload       []byte            `json:"payload_base64,omitempty"`
	CorrelationID string            `json:"correlation_id,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Queue         string            `json:"queue"`
	Priority      int               `json:"priority"`
	OrderingKey   string            `json:"ordering_key,omitempty"`
}

func (t *Timer) message() outbox.Message {
	return outbox.Message{
		ID: t.ID, Topic: t.Topic, Payload: t.Payload, CorrelationID: t.CorrelationID, Headers: t.Headers, Due: t.Due, Expires: t.Expires, Queue: t.Queue, Priority: t.Priority,
		OrderingKey: t.OrderingKey,
	}
}

// Options configure timers. The zero value is right for most programs.
type Options struct {
	// Retention is how long timers are kept after they fired or were cancelled, default 7 days.
	// Until then their ids are known.
	Retention time.Duration
	// SelfDispatch means that this process fires timers itself, with Claim and Ack: then its
	// Run does not move them into the outbox.
	SelfDispatch bool
}

const defaultRetention = 7 * 24 * time.Hour

// Timers are the timers of one database. They are safe for concurrent use.
type Timers struct {
	db     engine.DB
	outbox queue.Queue[outbox.Message, outbox.MessageID]
	opts   Options
	log    *slog.Logger

	observers worker.Observers
}

// New returns the timers of an outbox's database, and what pawl.Pawl runs of them. Programs cannot
// name the first parameter: pawl.New calls it.
func New(_ access.Key, db engine.DB, o queue.Queue[outbox.Message, outbox.MessageID], opts Options, log *slog.Logger) (*Timers, *worker.Component) {
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	t := &Timers{db: db, outbox: o, opts: opts, log: engine.Logger(log)}
	return t, &worker.Component{
		Cleanup: worker.NewCleanup("timers", "timers", t.log, t.cleanUp), Sources: t.sources(),
		Observe: func(o *worker.Observer) { t.observers = append(t.observers, o) },
	}
}

// cleanTimers bounds one transaction of the clean-up.
const cleanTimers = 1000

// cleanUp deletes timers that fired or were cancelled longer ago than the
// retention period, and returns how many. Run does this by itself.
func (t *Timers) cleanUp(ctx context.Context) (int64, error) {
	return worker.Purge(ctx, t.db, op.TimerPurge{Age: t.opts.Retention, Most: cleanTimers})
}

// sources is what the scheduler dispatches.
func (t *Timers) sources() []worker.Source {
	if t.opts.SelfDispatch {
		return nil
	}
	return []worker.Source{source{t}}
}

// dispatchBatch is how many timers one transaction moves. Moving 100 000 took PostgreSQL 1.7 to
// 2.6 s of processor time with any size between 500 and 5000; the sizes differed less than two
// runs with the same size.
const dispatchBatch = 1000

// source implements worker.Source for timers.
type source struct{ t *Timers }

func (source) Name() string { return "timers" }

func (a source) Dispatch(ctx context.Context) (int64, error) {
	reap, fire := engine.Ask(op.TimerReap{}), engine.Ask(op.TimerDispatch{Most: dispatchBatch})
	if err := a.t.db.Do(ctx, reap, fire); err != nil {
		return 0, err
	}
	a.t.logReaped(ctx, reap.N)
	a.t.logFired(ctx, fire.N)
	if fire.N > 0 {
		a.t.observers.Each(func(o *worker.Observer) {
			if o.TimersFired != nil {
				o.TimersFired(fire.N)
			}
		})
	}
	return fire.N, nil
}

func (a source) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return worker.NextDue(ctx, a.t.db, op.TimerNextDue{})
}

func notFound(what fmt.Stringer) error { return fmt.Errorf("%w: %s", ErrNotFound, what) }
