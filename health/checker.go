package health

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/worker"
)

// Options adjust what counts as healthy. The zero value is right for most programs.
type Options struct {
	// Timeout bounds all that is asked of the database together, default 2 s.
	Timeout time.Duration
	// Waiting is how long work may be due that nobody claims, default 1 minute.
	Waiting time.Duration
	// Busy is the same while workers hold other messages of the queue, default 10
	// minutes: with all their places taken they claim no more. Make it longer than
	// the longest handler.
	Busy time.Duration
	// Failing is how long a loop may fail in a row, default 1 minute.
	Failing time.Duration
	// Stalled is how long past its time a loop may be before it counts as hanging,
	// default 2 minutes. What a database that hangs can take, time-outs and pauses
	// included, is less, unless its statement timeout is longer than 30 s.
	Stalled time.Duration
	// Queues are whose waiting work counts; nil: all of the database, whoever
	// serves them.
	Queues []string
}

// Validate returns an *pawl.InvalidError that names the first invalid field. pawl.New calls it.
func (o *Options) Validate() error {
	return cmp.Or(
		engine.CheckOption("Timeout", o.Timeout, 1, 0), engine.CheckOption("Waiting", o.Waiting, 1, 0), engine.CheckOption("Busy", o.Busy, 1, 0),
		engine.CheckOption("Failing", o.Failing, 1, 0), engine.CheckOption("Stalled", o.Stalled, 1, 0),
	)
}

func (o *Options) defaults() {
	set(&o.Timeout, 2*time.Second)
	set(&o.Waiting, time.Minute)
	set(&o.Busy, 10*time.Minute)
	o.Busy = max(o.Busy, o.Waiting)
	set(&o.Failing, time.Minute)
	set(&o.Stalled, 2*time.Minute)
}

func set(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// Config sets a Checker up.
type Config struct {
	DB engine.DB
	// LoopStatus tells how the loops are; nil: there are none.
	LoopStatus func() []worker.LoopStatus
	// Life is the process's; nil: it has none.
	Life *Life
	// Ends says that loops may end by themselves, as those that stop when nothing
	// is left.
	Ends bool
	// Unhandled returns the topics whose messages came here lately and were put
	// back for want of a handler; nil: none.
	Unhandled func() []string
	// Workers is the list of processes that work on the database.
	Workers *registry.Registry
	Options
}

// Checker is a Source: the health of one database and of the loops of this process.
// It remembers what waited at the last look, for that tells whether anybody claims.
// It is safe for concurrent use.
type Checker struct {
	cfg Config

	mu      sync.Mutex
	waiting watch
}

var _ Source = (*Checker)(nil)

// New returns a checker.
func New(cfg Config) *Checker {
	cfg.defaults()
	return &Checker{cfg: cfg, waiting: watch{}}
}

// Alive reports whether the loops of this process iterate. It queries no database, and a
// database that is away does not make it fail: a restart would not bring it back.
func (c *Checker) Alive() Report { return NewReport(c.loops(checkLife)) }

// Health checks everything.
func (c *Checker) Health(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var checks []Check
	if c.cfg.Life != nil {
		checks = append(checks, c.cfg.Life.Check())
	}
	checks = append(checks, c.loops(checkWork)...)
	checks, usable := database(ctx, c.cfg.DB, checks)
	if !usable {
		c.forgive()
	} else {
		checks = append(checks, c.work(ctx)...)
		checks = append(checks, c.unhandled(ctx)...)
		checks = append(checks, aside(ctx, c.cfg.DB)...)
	}
	return NewReport(checks)
}
