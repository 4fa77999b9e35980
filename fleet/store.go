package fleet

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Store is one database of a fleet with its components. It is the same instance as long as
// its configuration is the same, also after it left the fleet and came back. Do not call its
// Run and Close: the fleet does.
type Store struct {
	// Key is the store's name in the fleet.
	Key string
	// Pawl has the components. It is there once the store was asked for by its key,
	// and in handlers.
	Pawl *pawl.Pawl

	fleet *Fleet
	at    Database
	log   *slog.Logger
	db    *lazyDB

	server *server // nil: it is a file

	once    sync.Once
	process *worker.Process // of Pawl
	failure error           // of once

	mine    atomic.Bool // this process works on it; unused where stores are not shared
	suspect atomic.Bool // a write was refused because it was moved

	mu              sync.Mutex
	checked         bool      // the schema was checked
	file            bool      // see isFile
	worked          bool      // there was work, or this process may have added some
	emptyPolls      int       // polls in a row that found nothing to do
	extraPolls      int       // remaining extra polls for what may be committed soon
	emptySlices     int       // time slices in a row without result
	sliceEnded      time.Time // when the last one did
	failures        int       // in a row
	slowPolls       int       // in a row, given up because others needed the connection
	lastErr         error
	lastSuccess     time.Time // when the database last answered
	cleaned         time.Time
	listed          bool      // its list of workers may name this process
	fingerprintSeen string    // of the file at the last poll
	due             time.Time // of the last poll; zero: never
}

func newStore(f *Fleet, at Database, on *server) *Store {
	s := &Store{Key: at.Key, fleet: f, at: at, server: on, file: at.isFile(), log: f.log.With("store", at.Key), cleaned: time.Now()}
	s.db = &lazyDB{s: s}
	return s
}

// isOurs reports whether this process works on the store.
func (s *Store) isOurs() bool { return s.fleet.opts.Share == nil || s.mine.Load() }

// isFile reports whether the database is a file.
func (s *Store) isFile() bool { return s.file }

// Database returns the store's address.
func (s *Store) Database() Database { return s.at }

// DB returns the store's database, as its engine opened it; programs cannot call it: they have
// Pawl.DB.
func (s *Store) DB(access.Key) (engine.DB, error) { return s.db.open() }

// open creates the components. It makes no connection.
func (s *Store) open() error {
	s.once.Do(func() {
		opts := s.fleet.opts.Pawl
		opts.Logger, opts.StopWhenEmpty = s.log, false // the fleet says when it ends
		s.Pawl, s.failure = pawl.New(s.db, opts)
		if s.failure != nil {
			return
		}
		s.process = s.Pawl.Internal(access.Key{})
		s.Pawl.Use(s.limitHandlers)
		for _, setup := range s.fleet.begin() {
			setup(s)
		}
	})
	if s.failure != nil {
		return s.failure
	}
	_, err := s.db.open()
	return err
}

type storeKey struct{}

// StoreOf returns the store that a handler's message came from; nil elsewhere.
func StoreOf(ctx context.Context) *Store {
	s, _ := ctx.Value(storeKey{}).(*Store)
	return s
}

// limitHandlers applies the fleet's budget of handlers, and adds the store to the context.
func (s *Store) limitHandlers(next outbox.Handler) outbox.Handler {
	return func(ctx context.Context, m *outbox.Message) error {
		if !s.fleet.admitted(ctx) {
			return worker.PutBack(0) // not started: no attempt is counted
		}
		defer s.fleet.handlers.release()
		return next(context.WithValue(ctx, storeKey{}, s), m)
	}
}

// pollTimeout is how long a poll of a store may take.
const pollTimeout = 5 * time.Second

// poll reads when something is due. For a file that was not written to since the last poll it
// returns the last result, and that nobody works on it.
func (s *Store) poll(ctx context.Context) (found pollResult, err error) {
	if err := s.open(); err != nil {
		return found, err
	}
	if err := s.prepare(ctx); err != nil {
		return found, err
	}
	print, told := s.fingerprint()
	if told && print == s.fingerprintSeen && (s.due.IsZero() || time.Now().Before(s.due)) {
		return pollResult{due: time.Until(s.due), ok: !s.due.IsZero()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	polled, _, err := engine.Get(ctx, s.db, op.FleetPoll{Queues: s.process.Queues()})
	if err == nil && polled.Phase != nil {
		if moved, err := s.moved(ctx); err != nil || moved {
			return found, err
		}
	}
	found.due, found.ok = worker.Until(polled.Micros)
	if polled.Idle != nil {
		found.idle = time.Duration(*polled.Idle) * time.Microsecond
		found.busy = s.othersWorked(found.idle)
	}
	s.fingerprintSeen, s.due = "", time.Time{}
	if err == nil && told {
		s.fingerprintSeen = print
	}
	if err == nil && found.ok {
		s.due = time.Now().Add(found.due)
	}
	return found, err
}

func (s *Store) fingerprint() (string, bool) {
	w, ok := engine.As[engine.Fingerprinter](s.db.opened())
	if !ok {
		return "", false
	}
	return w.Fingerprint()
}

// prepareLimit is how long a migration may take. One that is cancelled too early would start
// again and never finish.
const prepareLimit = 15 * time.Minute

// prepare checks or migrates the schema, once.
func (s *Store) prepare(ctx context.Context) error {
	s.mu.Lock()
	checked := s.checked
	s.mu.Unlock()
	if checked {
		return nil
	}
	check, limit := s.db.CheckSchema, pollTimeout
	if s.fleet.opts.Pawl.EnableSchemaDeployment {
		check, limit = s.db.Migrate, prepareLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := check(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = true
	return nil
}

// fails reports whether the last attempt failed.
func (s *Store) fails() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures > 0
}

// answered records that the database answered; it may still be unhealthy.
func (s *Store) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastSuccess, s.slowPolls = time.Now(), 0
}

// markListed records that the store's list of workers is about to name this process.
func (s *Store) markListed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
}

// takeListed reports whether the list of workers of a healthy store names this process, as far
// as known. It is about to be removed from it.
func (s *Store) takeListed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := s.listed && s.failures == 0
	s.listed = s.listed && !listed
	return listed
}

// reset drops what was known about a store that another process worked on.
func (s *Store) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emptyPolls, s.extraPolls, s.emptySlices, s.failures, s.lastErr = 0, 0, 0, 0, nil
}

// maxSlowPolls is how often a poll may be slow before the store counts as failing. On a machine
// with ten processes for each core polls of healthy databases took longer than slowPoll.
const maxSlowPolls = 3

// slowAgain records a poll that was given up, and reports whether the store fails.
func (s *Store) slowAgain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowPolls++
	return s.slowPolls >= maxSlowPolls || s.failures > 0
}

// markHealthy records a success.
func (s *Store) markHealthy() {
	s.mu.Lock()
	again := s.failures > 0
	s.slowPolls = 0
	s.failures, s.lastErr, s.lastSuccess = 0, nil, time.Now()
	s.mu.Unlock()
	if again {
		s.log.Info("store is back")
	}
}

// maxRetryDelay is the longest delay after failures.
const maxRetryDelay = time.Minute

// markFailed records a failure and returns the delay until the next attempt: 0.5 s … 1 min,
// with jitter (D-91).
func (s *Store) markFailed(err error) time.Duration {
	failures := s.failed(err)
	if errors.Is(err, engine.ErrMoved) {
		s.log.Info("store is being moved, will try again", "error", engine.Line(err.Error()))
		return engine.Jitter(movingDelay, 0.2)
	}
	pause := engine.Jitter(min(500*time.Millisecond<<min(failures-1, 7), maxRetryDelay), 0.2)
	s.log.Warn("store failed, will retry", "error", engine.Line(err.Error()), "failures", failures, "delay", pause)
	return pause
}

// closeIdleAfter is after how many polls without work a store closes its connections after
// every poll. One that never had any does so from its first poll on: ten thousand files would
// otherwise reach the limit of descriptors while they are polled for the first time.
const closeIdleAfter = 4

// failed records a failure, and returns how many there were in a row.
func (s *Store) failed(err error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	s.lastErr = err
	return s.failures
}

// minIdle is the shortest delay between polls of a store because others work on it.
const minIdle = time.Second

// nextDelay returns how long not to poll a store without work: growing, but not past the next
// due time. One that others work on is polled again after as long as nobody did anything in it:
// should they die, its work is found soon, and polls are no more than what is done in it.
func (s *Store) nextDelay(found pollResult) (pause time.Duration, cold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause = engine.Jitter(min(s.fleet.opts.PollMin<<min(s.emptyPolls, 16), s.longestPause()), 0.1)
	if s.extraPolls > 0 {
		pause = min(pause, soonDelay<<(maxExtraPolls-s.extraPolls))
		s.extraPolls--
	}
	s.emptyPolls++
	s.emptySlices = 0
	cold = !s.worked || s.emptyPolls >= closeIdleAfter
	if found.busy {
		pause = min(pause, max(found.idle, minIdle))
		cold = cold && found.idle > minIdle
	}
	if found.ok {
		pause = min(pause, found.due+time.Millisecond)
	}
	return max(pause, time.Millisecond), cold
}

// othersWorked reports whether it was another process that did something in a store that long
// ago: since this one last worked on it, and since it may have been polled for the last time.
func (s *Store) othersWorked(ago time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ago < s.longestPause() && (s.sliceEnded.IsZero() || ago < time.Since(s.sliceEnded))
}

// endSlice records that a time slice of this process ended.
func (s *Store) endSlice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sliceEnded = time.Now()
}

// longestPause is how long a store without work is left alone between two polls.
func (s *Store) longestPause() time.Duration {
	if s.isFile() {
		return s.fleet.opts.PollFiles
	}
	return s.fleet.opts.PollMax
}

// foundWork records that there was something to do.
func (s *Store) foundWork() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worked, s.emptyPolls = true, 0
}

// maxExtraPolls is how many extra polls follow at growing intervals, 5 s in all, for what a
// transaction of the program's own commits that long after it enqueued.
const maxExtraPolls = 8

// expectCommit records that something may be committed soon.
func (s *Store) expectCommit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worked, s.emptyPolls, s.extraPolls = true, 0, maxExtraPolls
}

// maxEmptyDelay is the longest delay after time slices without result.
const maxEmptyDelay = 10 * time.Second

// afterSlice returns how long to leave a store alone after a time slice: a moment if the slice
// did something, since nothing was polled meanwhile; longer if it did not, since something
// due may be locked by another transaction.
func (s *Store) afterSlice(something bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if something {
		s.emptySlices = 0
		return time.Millisecond
	}
	s.emptySlices++
	return min(time.Millisecond<<min(s.emptySlices, 14), maxEmptyDelay)
}

// cleanEvery is how often a store that is worked on is cleaned up.
const cleanEvery = 10 * time.Minute

// clean deletes what is past its retention, at that interval.
func (s *Store) clean(ctx context.Context) {
	s.mu.Lock()
	wanted := time.Since(s.cleaned) >= cleanEvery
	if wanted {
		s.cleaned = time.Now()
	}
	s.mu.Unlock()
	if !wanted || ctx.Err() != nil {
		return
	}
	if err := s.fleet.work.cleanUp(ctx, s); err != nil {
		s.log.Warn("clean-up failed, will try again", "error", engine.Line(err.Error()))
	}
}

// closeIdle closes the connections that the store does not need now.
func (s *Store) closeIdle() { s.fleet.work.closeIdle(s) }
