package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Store is one database of a fleet with its components. It is the same instance
// for as long as its configuration is, also when it left the fleet and came back.
// Do not call its Run and Close: that is the fleet's.
type Store struct {
	// Key is the store's name in the fleet.
	Key string
	// Pawl has the components. It is there once the store was asked for by its key,
	// and in handlers.
	Pawl *pawl.Pawl

	fleet *Fleet
	at    Database
	log   *slog.Logger
	door  *lazyDB

	once    sync.Once
	process *worker.Process // of Pawl
	failure error           // of once

	mu       sync.Mutex
	checked  bool // the schema is what it should be
	quiet    int  // looks in a row that found nothing to do
	eager    int  // looks to come for what may be committed soon
	vain     int  // turns in a row that could do nothing
	failures int  // in a row
	lastErr  error
	lastGood time.Time // when the database last answered
	cleaned  time.Time
	shown    bool      // its list of workers may name this process
	print    string    // of the file when it was last looked at
	due      time.Time // as the last look had it; zero: never
}

func newStore(f *Fleet, at Database) *Store {
	s := &Store{Key: at.Key, fleet: f, at: at, log: f.log.With("store", at.Key), cleaned: time.Now()}
	s.door = &lazyDB{s: s}
	return s
}

// Database returns where the store is.
func (s *Store) Database() Database { return s.at }

// DB returns the store's database, for transactions of your own: a *sqlite.DB, a
// *postgres.DB.
func (s *Store) DB() (engine.DB, error) { return s.door.open() }

// open makes the components. It makes no connection.
func (s *Store) open() error {
	s.once.Do(func() {
		opts := s.fleet.opts.Pawl
		opts.Logger, opts.Concurrency, opts.StopWhenEmpty = s.log, s.fleet.opts.HandlersPerStore, false
		opts.Joins.Logger, opts.Inbox.Logger, opts.Timers.Logger, opts.Jobs.Logger = s.log, s.log, s.log, s.log
		s.Pawl, s.failure = pawl.New(s.door, opts)
		if s.failure != nil {
			return
		}
		s.process = s.Pawl.Internal(access.Key{})
		s.Pawl.Use(s.admit)
		for _, setup := range s.fleet.begin() {
			setup(s)
		}
	})
	if s.failure != nil {
		return s.failure
	}
	_, err := s.door.open()
	return err
}

type storeKey struct{}

// StoreOf returns the store that a handler's message came from; nil elsewhere.
func StoreOf(ctx context.Context) *Store {
	s, _ := ctx.Value(storeKey{}).(*Store)
	return s
}

// admit keeps to the fleet's budget of handlers, and tells the handler where it is.
func (s *Store) admit(next outbox.Handler) outbox.Handler {
	return outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
		if !s.fleet.admitted(ctx) {
			return worker.PutBack(0) // it was not begun: no attempt is counted
		}
		defer s.fleet.handlers.give()
		return next.Handle(context.WithValue(ctx, storeKey{}, s), m)
	})
}

// lookLimit is how long a store may take to say whether there is work.
const lookLimit = 5 * time.Second

// look asks when something is due. In a file that nobody wrote to since the last
// look it is what it was.
func (s *Store) look(ctx context.Context) (d time.Duration, ok bool, err error) {
	if err := s.open(); err != nil {
		return 0, false, err
	}
	if err := s.prepare(ctx); err != nil {
		return 0, false, err
	}
	print, told := s.fingerprint()
	if told && print == s.print && (s.due.IsZero() || time.Now().Before(s.due)) {
		return time.Until(s.due), !s.due.IsZero(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	d, ok, err = worker.NextDue(ctx, s.door, op.FleetLook{Queues: s.process.Queues()})
	s.print, s.due = "", time.Time{}
	if err == nil && told {
		s.print = print
	}
	if err == nil && ok {
		s.due = time.Now().Add(d)
	}
	return d, ok, err
}

func (s *Store) fingerprint() (string, bool) {
	w, ok := engine.As[engine.Fingerprinter](s.door.opened())
	if !ok {
		return "", false
	}
	return w.Fingerprint()
}

// prepareLimit is how long a migration may take. What is cut off early would be
// begun anew for ever.
const prepareLimit = 15 * time.Minute

// prepare sees to the schema, once.
func (s *Store) prepare(ctx context.Context) error {
	s.mu.Lock()
	checked := s.checked
	s.mu.Unlock()
	if checked {
		return nil
	}
	check, limit := s.door.CheckSchema, lookLimit
	if s.fleet.opts.Pawl.EnableSchemaDeployment {
		check, limit = s.door.Migrate, prepareLimit
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

// fails reports whether the last that was tried failed.
func (s *Store) fails() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures > 0
}

// answered notes that the database answered, though not yet that it is well.
func (s *Store) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastGood = time.Now()
}

// shows notes that the store's list of workers is going to name this process.
func (s *Store) shows() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = true
}

// named reports whether the list of workers names this process, as far as known, in
// a store that is well.
func (s *Store) named() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown && s.failures == 0
}

// good notes that the database does what it should.
func (s *Store) good() {
	s.mu.Lock()
	again := s.failures > 0
	s.failures, s.lastErr, s.lastGood = 0, nil, time.Now()
	s.mu.Unlock()
	if again {
		s.log.Info("store is back")
	}
}

// longestRetry is the longest pause after failures.
const longestRetry = time.Minute

// bad notes a failure and returns how long to leave the store alone: 0.5 s … 1 min,
// with jitter (D-91).
func (s *Store) bad(err error) time.Duration {
	failures := s.failed(err)
	pause := engine.Jitter(min(500*time.Millisecond<<min(failures-1, 7), longestRetry), 0.2)
	s.log.Warn("store failed, will retry", "error", engine.Line(err.Error()), "failures", failures, "delay", pause)
	return pause
}

// coldAfter is after how many looks that found nothing a store is cold: it gives
// its connections back after every look.
const coldAfter = 4

// failed notes a failure, and returns how many there were in a row.
func (s *Store) failed(err error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	s.lastErr = err
	return s.failures
}

// rest is how long to leave a store alone that has nothing to do now: ever longer,
// but not past what is due.
func (s *Store) rest(due time.Duration, ok bool) (pause time.Duration, cold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.fleet.opts.PollMax
	if s.at.isFile() {
		most = s.fleet.opts.PollFiles
	}
	pause = engine.Jitter(min(s.fleet.opts.PollMin<<min(s.quiet, 16), most), 0.1)
	if s.eager > 0 {
		pause = min(pause, soonPause<<(eagerLooks-s.eager))
		s.eager--
	}
	s.quiet++
	s.vain = 0
	if ok {
		pause = min(pause, due+time.Millisecond)
	}
	return max(pause, time.Millisecond), s.quiet >= coldAfter
}

// busy notes that there was something to do.
func (s *Store) busy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = 0
}

// eagerLooks is how many looks follow each other ever more slowly, 5 s in all, for
// what a transaction of the program's own will commit that long after it enqueued.
const eagerLooks = 8

// expect notes that somebody may commit something soon.
func (s *Store) expect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet, s.eager = 0, eagerLooks
}

// longestVain is the longest pause after turns that could do nothing.
const longestVain = 10 * time.Second

// worked says how long to leave a store alone after a turn. If the turn did
// something, only for a moment: nobody was watching. What is due and cannot be had,
// because somebody has it locked, say, must not keep us busy.
func (s *Store) worked(something bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if something {
		s.vain = 0
		return time.Millisecond
	}
	s.vain++
	return min(time.Millisecond<<min(s.vain, 14), longestVain)
}

// cleanEvery is how often a store is cleaned up that is worked on.
const cleanEvery = 10 * time.Minute

// clean forgets what is old, now and then.
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
	if err := s.process.CleanUp(ctx); err != nil {
		s.log.Warn("clean-up failed, will try again", "error", engine.Line(err.Error()))
	}
}

// idle closes the connections that the store does not need now.
func (s *Store) idle() {
	if db, ok := engine.As[engine.IdleCloser](s.door.opened()); ok {
		db.CloseIdle()
	}
}
