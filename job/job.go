// Package job runs work on a schedule: a job has a cron schedule, and at each of its times a
// run of it enters the outbox as a message, whose handler does the work. A run's end and
// outcome are its message's.
//
// Every process may run the scheduler; each nominal time has exactly one run, and there is no
// leader. Schedules use the local time of the job's zone; package cron describes how, also for
// changes to and from daylight saving time.
package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
)

// ErrNotFound is returned when there is no job of the name, or no such run.
var ErrNotFound = errors.New("job not found")

// Misfire says what becomes of times at which no scheduler was running.
type Misfire string

// The misfire policies.
const (
	// RunOnce makes one run, for the latest of the missed times.
	RunOnce Misfire = "once"
	// RunNone makes none: the job goes on at its next time. A time counts as
	// missed if it is more than a minute ago.
	RunNone Misfire = "none"
	// RunAll makes a run for each, up to Job.MisfireLimit: the latest ones.
	RunAll Misfire = "all"
)

// misfireGrace is how late a run under RunNone may still be made.
const misfireGrace = time.Minute

// Overlap says whether a run is made while the last one is not over.
type Overlap string

// The overlap policies.
const (
	Allow Overlap = "allow"
	// Skip records the time as skipped while an earlier run is pending, running or
	// waiting for a retry.
	Skip Overlap = "skip"
)

// Job is a job to store.
type Job struct {
	// Name identifies the job: 1–255 characters.
	Name string `json:"name"`
	// Schedule is a cron expression; see package cron.
	Schedule string `json:"schedule"`
	// Zone is whose clocks the schedule follows: an IANA name, "" for UTC.
	Zone string `json:"zone"`
	// Topic, Payload, Headers, Queue and Priority are the messages'; see
	// outbox.Message. The headers HeaderJob and pawl-job-owner are pawl's.
	Topic    string            `json:"topic"`
	Payload  []byte            `json:"payload_base64,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Queue    string            `json:"queue"`
	Priority int               `json:"priority"`
	// Misfire says what becomes of missed times, default RunOnce.
	Misfire Misfire `json:"misfire"`
	// MisfireLimit bounds RunAll: 1 … 1000, default 10.
	MisfireLimit int `json:"misfire_limit"`
	// Overlap says whether a run is made while the last is not over, default Allow.
	Overlap Overlap `json:"overlap"`
	// Spread delays all runs of the job by the same time, less than this and made
	// of its name, so that a thousand midnight jobs do not start together. At most
	// 24 h.
	Spread time.Duration `json:"-"`

	err error // see WithError
}

// WithError is for package pawl; programs cannot call it. It returns a job that is refused with err, if that is not nil.
func WithError(_ access.Key, j Job, err error) Job {
	j.err = err
	return j
}

// HeaderJob names the job in the messages of its runs.
const HeaderJob = "pawl-job"

const defaultMisfireLimit = 10

// check returns the first mistake in what is the job's own.
func (j *Job) check() error {
	if j.err != nil {
		return j.err
	}
	if err := engine.CheckText("name", j.Name, limits.JobName, true); err != nil {
		return err
	}
	if _, err := j.misfire(); err != nil {
		return err
	}
	if j.MisfireLimit < 0 || j.MisfireLimit > limits.Misfires {
		return engine.Invalid("misfire limit", "not within 1 … %d", limits.Misfires)
	}
	if _, err := j.overlap(); err != nil {
		return err
	}
	if j.Spread < 0 || j.Spread > limits.Spread {
		return engine.Invalid("spread", "not within 0 … %v", limits.Spread)
	}
	_, _, err := plan(j.Schedule, j.Zone)
	return err
}

// Validate returns the first error that Put returns for the job without asking a database.
func (j *Job) Validate() error {
	m, err := j.message("")
	return cmp.Or(j.check(), err, m.Validate())
}

// misfire is how tables store the job's policy.
func (j *Job) misfire() (int, error) {
	return op.Misfires().Number("misfire policy", string(cmp.Or(j.Misfire, RunOnce)))
}

// overlap is how tables store the job's policy.
func (j *Job) overlap() (int, error) {
	return op.Overlaps().Number("overlap policy", string(cmp.Or(j.Overlap, Allow)))
}

// shift is this job's part of its spread.
func (j *Job) shift() time.Duration {
	if j.Spread < time.Microsecond {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(j.Name))
	return time.Duration(h.Sum64()%uint64(j.Spread.Microseconds())) * time.Microsecond
}

// plan parses a schedule and its zone.
func plan(schedule, zone string) (*cron.Schedule, *time.Location, error) {
	s, err := cron.Parse(schedule)
	if err != nil {
		return nil, nil, engine.InvalidBecause("schedule", err)
	}
	if zone == "Local" { // it differs between processes
		return nil, nil, engine.InvalidBecause("zone", errors.New(`"Local" is another zone on every machine`))
	}
	if len(zone) > limits.Zone { // it would be part of a path, and of an error
		return nil, nil, engine.InvalidBecause("zone", fmt.Errorf("more than %d characters", limits.Zone))
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, nil, engine.InvalidBecause("zone", err)
	}
	return s, loc, nil
}

// Options configure jobs. The zero value is right for most programs.
type Options struct {
	// Retention is how long runs are kept after they ended, default 30 days. Each
	// job's last run stays.
	Retention time.Duration
}

const defaultRetention = 30 * 24 * time.Hour

// Jobs are the jobs of one database. They are safe for concurrent use.
type Jobs struct {
	db     engine.DB
	outbox *outbox.Outbox
	queue  queue.Queue[outbox.Message, outbox.MessageID]
	leases *lease.Leases
	opts   Options
	log    *slog.Logger

	observers worker.Observers
}

// messages is the outbox that runs are messages of.
type messages interface {
	queue.Queue[outbox.Message, outbox.MessageID]
	Use(mw ...outbox.Middleware)
}

// New returns the jobs of an outbox's database, and what pawl.Pawl runs of them. It adds a middleware
// to the outbox's handlers that records when a run starts. Programs cannot name the first parameter:
// pawl.New calls it.
func New(_ access.Key, db engine.DB, o *outbox.Outbox, m messages, leases *lease.Leases, opts Options, log *slog.Logger) (*Jobs, *worker.Component) {
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	j := &Jobs{db: db, outbox: o, queue: m, leases: leases, opts: opts, log: engine.Logger(log)}
	m.Use(j.recordStart)
	return j, &worker.Component{
		Cleanup: worker.NewCleanup("jobs", "jobs", j.log, j.cleanUp), Sources: j.sources(),
		Observe: func(o *worker.Observer) { j.observers = append(j.observers, o) },
	}
}

// recordStart records the start of a run before its handler starts, if it is the first: an
// earlier attempt may have crashed before that. If it fails, the ack will fail too: the handler
// runs all the same.
func (j *Jobs) recordStart(next outbox.Handler) outbox.Handler {
	return func(ctx context.Context, m *outbox.Message) error {
		if m.Headers[HeaderJob] != "" {
			if err := j.db.Do(ctx, engine.Ask(op.JobStart{ID: int64(m.Position)})); err != nil {
				j.log.WarnContext(ctx, "could not record the start of a run", "job", m.Headers[HeaderJob], "message_id", m.ID.String(), "error", err)
			}
		}
		return next(ctx, m)
	}
}

// cleanRuns bounds one transaction of the clean-up.
const cleanRuns = 1000

// cleanUp deletes runs that ended longer ago than the retention period, and
// returns how many. Run does this by itself.
func (j *Jobs) cleanUp(ctx context.Context) (int64, error) {
	if err := j.db.Do(ctx, engine.Ask(op.JobSettle{})); err != nil {
		return 0, err
	}
	return worker.Purge(ctx, j.db, op.JobPurge{Age: j.opts.Retention, Most: cleanRuns})
}

func notFound(name string) error { return fmt.Errorf("%w: %q", ErrNotFound, name) }
