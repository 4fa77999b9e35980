package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// ScheduleQueue is the queue that schedulers wait on. No message can name it, so notifying
// it wakes only schedulers.
const ScheduleQueue = ""

// Source is what a component schedules: due work that a Scheduler dispatches.
type Source interface {
	// Name is for logs.
	Name() string
	// Dispatch does what is due, a bounded part of it at a time, and returns how much
	// that was. Several processes may call it at once.
	Dispatch(ctx context.Context) (int64, error)
	// NextDue returns how long until something is due; ok is false for never.
	NextDue(ctx context.Context) (d time.Duration, ok bool, err error)
}

// ScheduleConfig configures a scheduler.
type ScheduleConfig struct {
	DB      engine.DB
	Sources []Source
	Logger  *slog.Logger // not nil
	// MaxPollingInterval bounds how long it sleeps, default 30 s.
	MaxPollingInterval time.Duration
	Tracker            *LoopTracker // where to report status; nil: a new one
	// Jitter varies a delay by ± a share; nil: engine.Jitter, at random.
	Jitter func(d time.Duration, share float64) time.Duration
}

// Scheduler dispatches what is due, on time. Any number of them, in any number of processes,
// work on one database: there is no leader. A source that fails does not hold up the
// others.
type Scheduler struct {
	cfg     ScheduleConfig
	sources []*dueSource
}

type dueSource struct {
	Source
	failures   int       // in a row
	emptyPolls int       // polls in a row that found something due and could not claim it
	retry      time.Time // not before, after a failure
}

const (
	defaultMaxPolling = 30 * time.Second
	// pollOnlyInterval is the poll interval where notifications do not arrive, as behind a
	// connection pooler.
	pollOnlyInterval = time.Second
	// scheduleDelay is how long notifications accumulate before a poll: on SQLite every
	// commit of any writer ends a sleep.
	scheduleDelay = 5 * time.Millisecond
	// maxEmptyPolls bounds the poll interval, to 1 ms << 6, while something is due that
	// cannot be claimed: the next due time is not visible then, and must not be missed
	// because another transaction stays open (D-72).
	maxEmptyPolls = 6
)

// NewScheduler returns a scheduler that does not run yet.
func NewScheduler(cfg ScheduleConfig) *Scheduler {
	set(&cfg.MaxPollingInterval, defaultMaxPolling)
	if cfg.Tracker == nil {
		cfg.Tracker = &LoopTracker{}
	}
	if cfg.Jitter == nil {
		cfg.Jitter = engine.Jitter
	}
	s := &Scheduler{cfg: cfg}
	for _, a := range cfg.Sources {
		s.sources = append(s.sources, &dueSource{Source: a})
	}
	return s
}

// LastSuccess returns when all sources were last up to date; zero if never.
func (s *Scheduler) LastSuccess() time.Time { return s.cfg.Tracker.lastSuccess() }

// Run dispatches what is due until ctx ends, and returns nil then. It survives errors of
// the database.
func (s *Scheduler) Run(ctx context.Context) error {
	waiter := s.cfg.DB.Waiter(ScheduleQueue)
	defer waiter.Close()
	defer s.cfg.Tracker.begin()()
	refused := 0 // subscriptions in a row that failed as a transaction that may add something was open
	for ctx.Err() == nil {
		s.cfg.Tracker.iterate(0)
		s.Dispatch(ctx)
		most := s.cfg.MaxPollingInterval
		again, err := waiter.Subscribe(ctx)
		if refused++; !errors.Is(err, engine.ErrUncommitted) {
			refused = 0
		}
		switch {
		case refused > 0: // what is committed now notifies nobody
			most = min(most, pollOnlyInterval, time.Millisecond<<min(refused, maxDuePolls))
		case err != nil:
			most = min(most, pollOnlyInterval)
		case again:
			s.Dispatch(ctx) // one poll between subscribing and sleeping
		}
		delay := s.delay(ctx, most)
		s.cfg.Tracker.iterate(delay)
		if waiter.Sleep(ctx, delay) {
			_ = engine.Sleep(ctx, scheduleDelay)
		}
	}
	return nil
}

// Beside runs f and, concurrently, the scheduler, which ends with it.
func (s *Scheduler) Beside(ctx context.Context, f func(context.Context) error) error {
	scheduling, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { _ = s.Run(scheduling) })
	defer background.Wait()
	defer stop()
	return f(ctx)
}

// Dispatch does everything that is due now, a part of each source in turn: one that has much to do
// does not hold up the others.
func (s *Scheduler) Dispatch(ctx context.Context) {
	due := slices.Clone(s.sources)
	ok := true
	for len(due) > 0 && ctx.Err() == nil {
		due = slices.DeleteFunc(due, func(a *dueSource) bool {
			n, err := s.dispatch(ctx, a)
			ok = ok && err == nil
			return n == 0 || err != nil
		})
	}
	if ok && ctx.Err() == nil {
		s.cfg.Tracker.succeeded(time.Now())
	}
}

// errBackoff is returned for a source that is not to be tried yet.
var errBackoff = errors.New("failed lately")

// dispatch does a part of what is due of one source, and returns how much that was.
func (s *Scheduler) dispatch(ctx context.Context, a *dueSource) (int64, error) {
	if time.Now().Before(a.retry) {
		return 0, errBackoff
	}
	s.cfg.Tracker.iterate(0)
	n, err := a.Source.Dispatch(ctx)
	if err != nil {
		s.failed(ctx, a, err)
		return 0, err
	}
	a.failures = 0
	if n > 0 {
		a.emptyPolls = 0
	}
	return n, nil
}

// failed backs off from one source: 0.25 s … 30 s, with jitter (D-6).
func (s *Scheduler) failed(ctx context.Context, a *dueSource, err error) {
	if ctx.Err() != nil {
		return
	}
	a.failures++
	s.cfg.Tracker.failed(err)
	delay := s.cfg.Jitter(outageDelay(a.failures), 0.2)
	a.retry = time.Now().Add(delay)
	level := slog.LevelError
	if engine.Unavailable(err) {
		level = slog.LevelWarn
	}
	s.cfg.Logger.Log(ctx, level, "could not fire what is due, will retry", "component", a.Name(), "error", err, "failures", a.failures, "delay", delay)
}

// delay returns how long to sleep without a notification: until the next of all sources is due.
func (s *Scheduler) delay(ctx context.Context, most time.Duration) time.Duration {
	for _, a := range s.sources {
		most = min(most, s.until(ctx, a, most))
	}
	return most
}

// until returns how long to sleep for one source.
func (s *Scheduler) until(ctx context.Context, a *dueSource, most time.Duration) time.Duration {
	if wait := time.Until(a.retry); wait > 0 {
		return wait
	}
	sent := time.Now()
	due, ok, err := a.NextDue(ctx)
	due = remaining(sent, due)
	switch {
	case err != nil:
		s.failed(ctx, a, err)
		return max(time.Until(a.retry), time.Millisecond)
	case !ok:
		return most
	case due <= 0: // it became due just now, or another transaction has it locked
		a.emptyPolls++
		return min(most, time.Millisecond<<min(a.emptyPolls-1, maxEmptyPolls))
	}
	a.emptyPolls = 0
	return due + time.Millisecond
}

// maxDue is the longest delay that NextDue returns.
const maxDue = 365 * 24 * time.Hour

// NextDue reads with an operation when something is due; ok is false for never.
func NextDue(ctx context.Context, db engine.DB, operation engine.Answering[op.Wait]) (d time.Duration, ok bool, err error) {
	w, _, err := engine.Get(ctx, db, operation)
	if err != nil {
		return 0, false, err
	}
	d, ok = Until(w.Micros)
	return d, ok, nil
}

// remaining is what is left of a time until something is due that was read by a request. The time
// counts from before the request; what was not due then is never due at once.
func remaining(sent time.Time, due time.Duration) time.Duration {
	if due > 0 {
		due = max(due-time.Since(sent), 1)
	}
	return due
}

// Until converts the time until something is due, of op.Wait.
func Until(micros *int64) (d time.Duration, ok bool) {
	if micros == nil {
		return 0, false
	}
	// A Duration ends after 292 years; due times that other programs wrote may be
	// thousands of years off, either way.
	most := maxDue.Microseconds()
	return time.Duration(max(-most, min(*micros, most))) * time.Microsecond, true
}
