// Package checker checks the health of a database and of the process that works on it.
//
// Health that lies is worse than none, in both directions: what is well must not be
// restarted, and what stands still must not look well. So only what keeps work from being
// done is a problem (D-110).
package checker

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/worker"
)

// Validate returns an InvalidError that names the first invalid option.
func Validate(o *health.Options) error {
	return cmp.Or(
		engine.CheckOption("Timeout", o.Timeout, 1, 0), engine.CheckOption("Waiting", o.Waiting, 1, 0), engine.CheckOption("Busy", o.Busy, 1, 0),
		engine.CheckOption("Failing", o.Failing, 1, 0), engine.CheckOption("Stalled", o.Stalled, 1, 0), engine.CheckOption("Unhandled", o.Unhandled, 1, 0),
		engine.CheckOption("FailingShare", o.FailingShare, 0, 1), engine.CheckOption("FailingAttempts", o.FailingAttempts, 1, 0),
	)
}

func defaults(o *health.Options) {
	set(&o.Timeout, 2*time.Second)
	set(&o.Waiting, time.Minute)
	set(&o.Busy, 10*time.Minute)
	o.Busy = max(o.Busy, o.Waiting)
	set(&o.Failing, time.Minute)
	set(&o.Stalled, 2*time.Minute)
	set(&o.Unhandled, 5*time.Minute)
	if o.FailingShare <= 0 {
		o.FailingShare = 0.8
	}
	if o.FailingAttempts <= 0 {
		o.FailingAttempts = 20
	}
}

func set(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// Config sets a Checker up.
type Config struct {
	DB engine.DB
	// LoopStatus returns how the loops are; nil: there are none.
	LoopStatus func() []worker.LoopStatus
	// Life is the process's; nil: it has none.
	Life *Life
	// Ends says that loops may end by themselves, as those that stop when nothing
	// is left.
	Ends bool
	health.Options
}

// Checker is a health.Source: the health of one database and of the loops of this process.
// It remembers what waited at the last look, for that tells whether anybody claims.
// It is safe for concurrent use.
type Checker struct {
	cfg Config

	mu      sync.Mutex
	waiting watch
}

var _ health.Source = (*Checker)(nil)

// New returns a checker.
func New(cfg Config) *Checker {
	defaults(&cfg.Options)
	return &Checker{cfg: cfg, waiting: watch{}}
}

// Alive reports whether the loops of this process iterate. It queries no database, and a
// database that is away does not make it fail: a restart would not bring it back.
func (c *Checker) Alive() health.Report { return health.NewReport(c.loops(checkLife)) }

// Health checks everything.
func (c *Checker) Health(ctx context.Context) health.Report {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var found []health.Finding
	if c.cfg.Life != nil {
		found = append(found, c.cfg.Life.Finding())
	}
	found = append(found, c.loops(checkWork)...)
	found, usable := database(ctx, c.cfg.DB, found)
	if !usable {
		c.forgive()
	} else {
		list := workers(ctx, c.cfg.DB)
		found = append(found, c.work(ctx, list)...)
		found = append(found, users(ctx, c.cfg.DB, list, &c.cfg.Options)...)
		found = append(found, bulk(ctx, c.cfg.DB, list, &c.cfg.Options)...)
		found = append(found, aside(ctx, c.cfg.DB)...)
	}
	return health.NewReport(found)
}

// listing returns the workers of a database, which it reads when it is first called.
type listing func() (inspect.Workers, error)

func workers(ctx context.Context, db engine.DB) listing {
	return sync.OnceValues(func() (inspect.Workers, error) { return inspect.ListWorkers(ctx, db) })
}
