package pawl

import (
	"cmp"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Options configure a Pawl. The zero value is right for most programs.
type Options struct {
	// Logger gets what happens: enqueues and deliveries at INFO, claims at DEBUG, failures
	// at ERROR. nil means slog.Default() for warnings and errors only. Payloads, header
	// values and passwords are never logged.
	Logger *slog.Logger
	// RetryLogLevel is the level at which a failed attempt is logged that will be retried;
	// nil means slog.LevelError. The last attempt is logged at ERROR, and what a handler
	// asked for (RetryAfter, Snooze) at INFO.
	RetryLogLevel slog.Leveler

	// Queues are served by Run, each by a loop of its own. Default: outbox.DefaultQueue.
	// The inbox's queue is served in any case once a handler of it is registered.
	Queues []string
	// Concurrency is how many handlers of a queue run at once, default 64.
	Concurrency int
	// QueueConcurrency is Concurrency of single queues, of those that are served or the inbox's.
	QueueConcurrency map[string]int
	// MaxBacklog is how many messages may wait in single queues: due, and held by no worker. A call that enqueues
	// into one that is full fails with outbox.ErrBacklog, so that whoever produces slows down. Each process counts
	// once a second, or ten times while the queue is full, and adds what it enqueues itself: many processes may
	// exceed it by what they enqueue within a second, and a batch is not split. What timers, jobs, joins, the
	// inbox and steps of flows store is counted and not refused.
	MaxBacklog map[string]int
	// WarnOfBacklog logs a warning once a minute instead.
	WarnOfBacklog bool
	// Fair lets the messages of single queues take turns by a key, however many one key has: one of each key,
	// then the next of each. It names the header whose value is the key, a tenant say; "": the topic is.
	// What this program enqueues takes turns, whoever works it off; for other programs see
	// docs/delivery.md#fairness-between-tenants. Messages without the header, with an ordering key or with a
	// priority take none.
	Fair map[string]string
	// FairWeights are how many turns single keys have while others have one, at most 100. They hold for what is
	// enqueued from then on.
	FairWeights map[string]int
	// BatchSize is the most messages that one claim takes, default 500, at most 1000.
	// Fewer are claimed while handlers are slow.
	BatchSize int
	// Lease is how long a claim lasts without a heartbeat, default 30 s, at least 1 s. It
	// is extended while handlers run, so it need not cover the longest of them.
	Lease time.Duration
	// PriorityWait is how long messages wait for those of higher priority: of those that were
	// due before that, the oldest goes first, whatever its priority, with others of its own.
	// 0: as long as there are any.
	PriorityWait time.Duration
	// PollInterval bounds how long a worker sleeps without being woken, default 1 s.
	PollInterval time.Duration
	// Grace is how long handlers may go on after Run's context ended, default 20 s.
	Grace time.Duration
	// Retry is the policy of topics that have none of their own; nil means ten executions
	// in all with 1, 2, 4 … 60 s in between, ± 10 %.
	Retry *outbox.RetryPolicy
	// Retention is how long messages, joins, timers and runs of jobs are kept after they
	// ended, default 7 days. Failed messages stay until an operator decides.
	Retention time.Duration
	// KeptAttempts is how many failed attempts of a message are kept, default 5, at most 100.
	KeptAttempts int
	// MaxPayload is the largest payload in bytes, default 1 MiB.
	MaxPayload int
	// Worker names this process in processed_by of messages and as the owner of leases,
	// default host:pid.
	Worker string
	// Program names the program, whose handlers' limits are its own; see outbox.HandlerOptions.Limit.
	// Default: the path of its main module, or the name of its executable.
	Program string
	// Version is the program's, such as "v1.10.2": an older version than the one that declared limits
	// last changes none. "": see job.SyncOptions.Version.
	Version string
	// StopWhenEmpty makes Run return once nothing is due and nothing runs.
	StopWhenEmpty bool
	// MaxPollingInterval bounds how long the scheduler of timers and jobs sleeps, default
	// 30 s. It wakes by itself when something is due earlier.
	MaxPollingInterval time.Duration

	// Inbox, Joins, Timers and Jobs configure what is peculiar to each; what they leave
	// empty and the options above have is as above.
	Inbox  inbox.Options
	Joins  join.Options
	Timers timer.Options
	Jobs   job.Options
	// Health says what counts as healthy.
	Health health.Options

	// EnableSchemaDeployment makes Run migrate the database first. Otherwise Run fails
	// with ErrSchemaMissing, ErrSchemaOld or ErrSchemaNew when the schema is not this
	// build's.
	EnableSchemaDeployment bool
}

// Validate is for packages that give options to New later; programs cannot call it. It returns
// an InvalidError that names the first field that is invalid.
func (o *Options) Validate(access.Key) error {
	box := o.outbox()
	if err := box.Validate(); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		err  error
	}{
		{"Joins", cmp.Or(engine.CheckText("Topic", o.Joins.Topic, limits.Topic, false), engine.CheckText("Queue", o.Joins.Queue, limits.Queue, false), retained(o.Joins.Retention))},
		{"Inbox", o.checkInbox()}, {"Timers", retained(o.Timers.Retention)}, {"Jobs", retained(o.Jobs.Retention)}, {"Health", checker.Validate(&o.Health)},
	} {
		if part.err != nil {
			return engine.InOptions(part.name, part.err)
		}
	}
	return engine.CheckOption("MaxPollingInterval", o.MaxPollingInterval, 1, 0)
}

func retained(d time.Duration) error { return engine.CheckOption("Retention", d, 1, 0) }

func (o *Options) checkInbox() error {
	if o.Inbox.Retry != nil {
		if err := worker.RetryPolicy(*o.Inbox.Retry).Validate(); err != nil {
			return engine.InOptions("Retry", err)
		}
	}
	return cmp.Or(
		engine.CheckOption("Lease", o.Inbox.Lease, worker.MinLease, 0), retained(o.Inbox.Retention), engine.CheckText("Queue", o.Inbox.Queue, limits.Queue, false),
	)
}

// outbox returns the options of the outbox.
func (o *Options) outbox() worker.Options {
	box := o.workers()
	if inbox := cmp.Or(o.Inbox.Queue, queue.Inbox); !slices.Contains(o.Queues, inbox) {
		box.QueueConcurrency = maps.Clone(box.QueueConcurrency)
		delete(box.QueueConcurrency, inbox)
	}
	return box
}

// workers returns the options of the outbox that hold for the inbox's queue as well.
// TestEveryOption finds one that is missing.
func (o *Options) workers() worker.Options {
	return worker.Options{
		Logger: o.Logger, RetryLogLevel: o.RetryLogLevel, Queues: slices.Clone(o.Queues), Concurrency: o.Concurrency, QueueConcurrency: o.QueueConcurrency,
		BatchSize: o.BatchSize, Lease: o.Lease, PriorityWait: o.PriorityWait, PollInterval: o.PollInterval, Grace: o.Grace, Retry: (*worker.RetryPolicy)(o.Retry), Retention: o.Retention, MaxPayload: o.MaxPayload,
		KeptAttempts: o.KeptAttempts, MaxBacklog: o.MaxBacklog, WarnOfBacklog: o.WarnOfBacklog, Fair: o.Fair, FairWeights: o.FairWeights, Worker: o.Worker, StopWhenEmpty: o.StopWhenEmpty,
	}
}

func (o *Options) joins() join.Options {
	j := o.Joins
	j.Retention = cmp.Or(j.Retention, o.Retention)
	return j
}

func (o *Options) inbox() inbox.Options {
	i := o.Inbox
	i.Retry = cmp.Or(i.Retry, o.Retry)
	return i
}

func (o *Options) timers() timer.Options {
	t := o.Timers
	t.Retention = cmp.Or(t.Retention, o.Retention)
	return t
}

func (o *Options) jobs() job.Options {
	j := o.Jobs
	j.Retention = cmp.Or(j.Retention, o.Retention)
	return j
}

// program returns the default of Options.Program.
func program() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && len(info.Main.Path) <= limits.JobOwner {
		return info.Main.Path
	}
	return filepath.Base(os.Args[0])
}
