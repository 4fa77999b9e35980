package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// ScheduleQueue is the queue whose sleepers schedulers are. No message can name
// it, so nobody but them is woken.
const ScheduleQueue = ""

// Source is what a component has fall due, as a Scheduler sees it.
type Source interface {
	// Name is for logs.
	Name() string
	// Fire does what is due, a bounded part of it at a time, and returns how much
	// that was. Several processes may fire at once.
	Fire(ctx context.Context) (int64, error)
	// NextDue returns how long until something is due; ok is false for never.
	NextDue(ctx context.Context) (d time.Duration, ok bool, err error)
}

// ScheduleConfig sets a scheduler up.
type ScheduleConfig struct {
	DB      engine.DB
	Sources []Source
	Logger  *slog.Logger // not nil
	// MaxPollingInterval bounds how long it sleeps, default 30 s.
	MaxPollingInterval time.Duration
	Tracker            *LoopTracker // where to report status; nil: a new one
}

// Scheduler fires what is due, at the time. Any number of them, in any number of
// processes, work on one database: there is no leader to lose. An source that
// fails does not hold up the others.
type Scheduler struct {
	cfg     ScheduleConfig
	sources []*dueSource
}

type dueSource struct {
	Source
	failures   int
	emptyPolls int       // polls in a row that found something due and could not claim it
	retry      time.Time // not before, after a failure
}

const (
	defaultMaxPolling = 30 * time.Second
	// deafPolling is how often to poll where notifications do not arrive, as behind a
	// connection pooler.
	deafPolling = time.Second
	// gatherSchedule is how long notifications may accumulate before a poll: on SQLite
	// every commit of anyone ends a sleep.
	gatherSchedule = 5 * time.Millisecond
	// longestVain bounds the pause while something is due that we cannot have, to
	// 1 ms << 6: it hides from us when the next is due, and that may not be late
	// because of a transaction that somebody keeps open (D-72).
	longestEmpty = 6
)

// NewScheduler returns a scheduler that is not running yet.
func NewScheduler(cfg ScheduleConfig) *Scheduler {
	set(&cfg.MaxPollingInterval, defaultMaxPolling)
	if cfg.Tracker == nil {
		cfg.Tracker = &LoopTracker{}
	}
	s := &Scheduler{cfg: cfg}
	for _, a := range cfg.Sources {
		s.sources = append(s.sources, &dueSource{Source: a})
	}
	return s
}

// LastSuccess returns when all sources were last up to date; zero if never.
func (s *Scheduler) LastSuccess() time.Time { return s.cfg.Tracker.lastSuccess() }

// Run fires what is due until ctx ends, and returns nil then. Errors of the
// database are survived.
func (s *Scheduler) Run(ctx context.Context) error {
	sleep := s.cfg.DB.Waiter(ScheduleQueue)
	defer sleep.Close()
	defer s.cfg.Tracker.begin()()
	for ctx.Err() == nil {
		s.cfg.Tracker.turn(0)
		s.Dispatch(ctx)
		deaf := false
		if again, err := sleep.Subscribe(ctx); err != nil {
			deaf = true
		} else if again {
			s.Dispatch(ctx) // one poll between subscribing and sleeping
		}
		pause := s.delay(ctx, deaf)
		s.cfg.Tracker.turn(pause)
		if sleep.Sleep(ctx, pause) {
			_ = engine.Sleep(ctx, gatherSchedule)
		}
	}
	return nil
}

// Fire does everything that is due now, once.
func (s *Scheduler) Dispatch(ctx context.Context) {
	ok := true
	for _, a := range s.sources {
		if time.Now().Before(a.retry) {
			ok = false
			continue
		}
		if err := a.drain(ctx, s.cfg.Tracker); err != nil {
			s.failed(ctx, a, err)
			ok = false
		}
	}
	if ok && ctx.Err() == nil {
		s.cfg.Tracker.succeeded(time.Now())
	}
}

// drain fires until nothing is due: there is no cap per pass.
func (a *dueSource) drain(ctx context.Context, tracker *LoopTracker) error {
	for ctx.Err() == nil {
		tracker.turn(0)
		n, err := a.Source.Fire(ctx)
		if err != nil {
			return err
		}
		a.failures = 0
		if n == 0 {
			return nil
		}
		a.emptyPolls = 0
	}
	return ctx.Err()
}

// failed backs off from one source: 0.25 s … 30 s, with jitter (D-6).
func (s *Scheduler) failed(ctx context.Context, a *dueSource, err error) {
	if ctx.Err() != nil {
		return
	}
	a.failures++
	s.cfg.Tracker.failed(err)
	pause := engine.Jitter(min(250*time.Millisecond<<min(a.failures-1, 7), longest), 0.2)
	a.retry = time.Now().Add(pause)
	level := slog.LevelError
	if engine.Away(err) {
		level = slog.LevelWarn
	}
	s.cfg.Logger.Log(ctx, level, "could not fire what is due, will retry", "component", a.Name(), "error", err, "failures", a.failures, "delay", pause)
}

// delay is how long to sleep without a notification: until the next of all sources is due.
func (s *Scheduler) delay(ctx context.Context, deaf bool) time.Duration {
	most := s.cfg.MaxPollingInterval
	if deaf {
		most = min(most, deafPolling)
	}
	for _, a := range s.sources {
		most = min(most, s.until(ctx, a, most))
	}
	return most
}

// until is how long one source lets us sleep.
func (s *Scheduler) until(ctx context.Context, a *dueSource, most time.Duration) time.Duration {
	if wait := time.Until(a.retry); wait > 0 {
		return wait
	}
	due, ok, err := a.NextDue(ctx)
	switch {
	case err != nil:
		s.failed(ctx, a, err)
		return max(time.Until(a.retry), time.Millisecond)
	case !ok:
		return most
	case due <= 0: // due just now, or held by somebody's open transaction
		a.emptyPolls++
		return min(most, time.Millisecond<<min(a.emptyPolls-1, longestEmpty))
	}
	a.emptyPolls = 0
	return due + time.Millisecond
}

// farAway is as far as a worker plans ahead.
const farAway = 365 * 24 * time.Hour

// NextDue asks an operation when something is due; ok is false for never.
func NextDue(ctx context.Context, db engine.DB, ask engine.Answering[op.Wait]) (d time.Duration, ok bool, err error) {
	w, _, err := engine.Get(ctx, db, ask)
	if err != nil || w.Micros == nil {
		return 0, false, err
	}
	// A Duration ends after 292 years; due times that other programs wrote may be
	// thousands of years off, either way.
	most := farAway.Microseconds()
	return time.Duration(max(-most, min(*w.Micros, most))) * time.Microsecond, true, nil
}
