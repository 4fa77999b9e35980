package outbox

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/coalesce"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
)

// Outbox is the outbox of one database. It is safe for concurrent use.
type Outbox struct {
	db     engine.DB
	opts   worker.Options
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

	awaits   awaiting
	backlogs backlogs

	shared worker.Shared
}

// New returns the outbox of a database, and what other components and pawl.Pawl see of it. Programs
// cannot name the first parameter: pawl.New calls it.
func New(_ access.Key, db engine.DB, opts worker.Options) (*Outbox, component) { //nolint:revive // what is pawl's own has no public name
	opts = opts.Complete()
	o := &Outbox{db: db, opts: opts, log: opts.Logger, tag: newTag(), failedPage: failedPage, pauses: pause.New(db, opts.Logger), limits: throttle.New(db, opts.Logger), shared: worker.Shared{Gate: &worker.Gate{}, Reaping: make(chan struct{}, 1)}}
	o.awaits.init()
	o.cleanup = worker.NewCleanup("outbox", "messages", o.log, component{o}.CleanUp)
	o.enqueues = coalesce.Group[*batch]{Leaders: enqueueLeaders, Max: enqueueMerge, Run: o.flush}
	o.uniques = coalesce.Group[*batch]{Leaders: enqueueLeaders, Max: enqueueMerge, Run: o.flush}
	return o, component{o}
}

// RetryPolicy defines how often and when a message is tried again.
type RetryPolicy struct {
	// MaxAttempts is the number of executions in all; 0 = no limit.
	MaxAttempts int
	// Delay returns the delay after so many failures, 1 for the first; nil = 1, 2, 4, … 60 s.
	Delay func(failures int) time.Duration
	// Jitter varies each delay by ± this share, 0 … 1.
	Jitter float64
}

// Permanent returns an error that fails the message without another attempt.
func Permanent(err error) error { return worker.Permanent(err) }

// RetryAfter returns an error that fails this attempt with err and has the next one wait for d at
// least: it lengthens the backoff of the topic's RetryPolicy and never shortens it, so a d that is
// zero or negative changes nothing. The attempt counts; see Snooze for one that does not.
// [WorkQueue.Abandon], which knows no policy, waits for d.
func RetryAfter(d time.Duration, err error) error { return worker.RetryAfter(d, err) }

// Snooze returns an error that puts the message back for d without counting an attempt.
func Snooze(d time.Duration) error { return worker.Snooze(d) }
