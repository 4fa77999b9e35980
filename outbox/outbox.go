package outbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
)

// Options configure an outbox. The zero value is right for most programs.
type Options struct {
	// MaxPayload is the largest payload in bytes, default 1 MiB.
	MaxPayload int
	// Logger logs enqueues and deliveries at INFO, claims at DEBUG, failures at ERROR. nil means
	// slog.Default() for warnings and errors only. Payloads, header values and passwords are
	// never logged.
	Logger *slog.Logger
	// RetryLogLevel is the level of failed attempts that will be retried, slog.LevelWarn for
	// example; nil means slog.LevelError. The last attempt is logged at ERROR, and delays that a
	// handler chose (RetryAfter, Snooze) at INFO.
	RetryLogLevel slog.Leveler
	// Queues are served by Run, each by a loop of its own; default: DefaultQueue.
	Queues []string
	// Concurrency is how many handlers of a queue run at once, default 64.
	Concurrency int
	// QueueConcurrency is Concurrency of single ones of Queues.
	QueueConcurrency map[string]int
	// BatchSize is the most messages one claim takes, default 500, at most 1000.
	// Fewer are claimed while handlers are slow.
	BatchSize int
	// Lease is how long a claim lasts without a heartbeat, default 30 s, at least 1 s. It is
	// extended while handlers run, so it need not cover the longest of them.
	Lease time.Duration
	// PriorityWait is how long messages wait for those of higher priority: of those that were
	// due before that, the oldest goes first, whatever its priority, with others of its own.
	// 0: as long as there are any.
	PriorityWait time.Duration
	// PollInterval bounds how long a worker sleeps without a notification, default 1 s.
	PollInterval time.Duration
	// Grace is how long handlers may go on after Run's context ended, default 20 s.
	Grace time.Duration
	// Retry is the policy of topics that have none of their own; nil means ten executions in all
	// with 1, 2, 4 … 60 s in between, ± 10 %.
	Retry *RetryPolicy
	// Retention is how long messages are kept after they were handled or discarded or
	// expired, default 7 days. Failed ones stay until they are redriven or discarded.
	Retention time.Duration
	// KeptAttempts is how many failed attempts of a message are kept, with time, worker and
	// error, default 5.
	KeptAttempts int
	// Worker names this process in processed_by and in failed attempts, default host:pid.
	Worker string
	// StopWhenEmpty makes Run return once nothing is due and nothing runs.
	StopWhenEmpty bool
}

const (
	defaultRetention = 7 * 24 * time.Hour
	keptAttempts     = 5
	maxKeptAttempts  = 100
	minLease         = time.Second
	maxWorker        = 255
)

// Validate returns an *pawl.InvalidError that names the first invalid field. pawl.New and Run call it.
func (o *Options) Validate() error {
	for i, queue := range o.Queues {
		if err := engine.CheckText("Queues", queue, limits.Queue, true); err != nil {
			return err
		}
		if slices.Contains(o.Queues[:i], queue) {
			return engine.Invalid("Queues", "a queue twice")
		}
	}
	for queue, n := range o.QueueConcurrency {
		if err := cmp.Or(engine.CheckText("QueueConcurrency", queue, limits.Queue, true), engine.CheckOption("QueueConcurrency", n, 1, 0)); err != nil {
			return err
		}
		if !slices.Contains(o.Queues, queue) && (len(o.Queues) > 0 || queue != DefaultQueue) {
			return engine.Invalid("QueueConcurrency", "%q is not one of Queues", queue)
		}
	}
	if o.Retry != nil {
		if err := o.Retry.Validate(); err != nil {
			return engine.InOptions("Retry", err)
		}
	}
	return cmp.Or(
		engine.CheckOption("MaxPayload", o.MaxPayload, 1, 0), engine.CheckOption("Concurrency", o.Concurrency, 1, 0),
		engine.CheckOption("BatchSize", o.BatchSize, 1, worker.MaxBatch), engine.CheckOption("Lease", o.Lease, minLease, 0),
		engine.CheckOption("PriorityWait", o.PriorityWait, 1, 0), engine.CheckOption("PollInterval", o.PollInterval, 1, 0), engine.CheckOption("Grace", o.Grace, 1, 0),
		engine.CheckOption("Retention", o.Retention, 1, 0), engine.CheckOption("KeptAttempts", o.KeptAttempts, 1, maxKeptAttempts),
		engine.CheckText("Worker", o.Worker, maxWorker, false),
	)
}

// Outbox is the outbox of one database. It is safe for concurrent use.
type Outbox struct {
	db     engine.DB
	opts   Options
	log    *slog.Logger
	tag    uint32
	lanes  lanes
	minted span
	// mintedInOrder are the positions of messages with ordering keys.
	mintedInOrder span
	enqueues      coalesce.Group[*batch]
	uniques       coalesce.Group[*batch] // with unique keys
	handlers      registry
	pauses        *pause.Pauses
	limits        *throttle.Limits
	watch         observing
	overdue       overdueHandlers
	stats         sync.Map // queue → *worker.Stats
	running       sync.Map // queue → *worker.Loop[*Message]
	cleanup       *worker.Cleanup
	adopted       atomic.Int64 // when lanes that got lost were last looked for, in nanoseconds since 1970
	failedPage    int          // how many failed messages one transaction examines

	shared worker.Shared
}

// New returns the outbox of a database, which must be migrated before use. Run returns an error for
// invalid options.
func New(db engine.DB, opts Options) *Outbox {
	invalid := opts.Validate()
	if opts.MaxPayload <= 0 {
		opts.MaxPayload = limits.Payload
	}
	opts.Logger = engine.Logger(opts.Logger)
	if len(opts.Queues) == 0 {
		opts.Queues = []string{DefaultQueue}
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	if opts.KeptAttempts <= 0 {
		opts.KeptAttempts = keptAttempts
	}
	if opts.Worker == "" {
		opts.Worker = engine.ProcessName()
	}
	o := &Outbox{db: db, opts: opts, log: opts.Logger, tag: newTag(), failedPage: failedPage, pauses: pause.New(db, opts.Logger), limits: throttle.New(db, opts.Logger), shared: worker.Shared{Gate: &worker.Gate{}, Reaping: make(chan struct{}, 1)}}
	o.cleanup = worker.NewCleanup("outbox", "messages", o.log, o.CleanUp)
	if invalid != nil {
		o.handlers.errs = append(o.handlers.errs, fmt.Errorf("options of the outbox: %w", invalid))
	}
	o.enqueues = coalesce.Group[*batch]{Leaders: enqueueLeaders, Max: enqueueMerge, Run: o.flush}
	o.uniques = coalesce.Group[*batch]{Leaders: enqueueLeaders, Max: enqueueMerge, Run: o.flush}
	return o
}

// RetryPolicy defines how often and when a message is tried again.
type RetryPolicy = worker.RetryPolicy

// Permanent returns an error that fails the message without another attempt.
func Permanent(err error) error { return worker.Permanent(err) }

// RetryAfter returns an error that fails this attempt with err and has the next one wait for d at
// least: it lengthens the backoff of the topic's RetryPolicy and never shortens it, so a d that is
// zero or negative changes nothing. The attempt counts; see Snooze for one that does not.
func RetryAfter(d time.Duration, err error) error { return worker.RetryAfter(d, err) }

// Snooze returns an error that puts the message back for d without counting an attempt.
func Snooze(d time.Duration) error { return worker.Snooze(d) }

// Backoff returns the default delay after so many failures: 1, 2, 4, … 60 s.
func Backoff(failures int) time.Duration { return worker.Backoff(failures) }
