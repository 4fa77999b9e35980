package anydriver

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/filewatch"
)

// watcher finds commits of transactions that pawl did not make, the program's own and other
// processes', and wakes all waiters of a DB. It works only while one of them sleeps.
//
// PRAGMA data_version tells whether there was one. It is read on the writer's connection, where
// pawl's own commits do not change it. A check costs 5 µs in a process that is busy, but 100 to
// 250 in one that is idle and wakes up for it, so what matters is how many there are:
//
//   - On Linux the system reports writes to the log. That is before the commit, which has to wait
//     for the disk, so checks follow the report until the commit is visible.
//   - pawl's own transactions are not reported: the watch is disarmed while they hold the write
//     lock, when nobody else can write, and there is a check after them.
//   - Elsewhere, and where the system reports nothing, it polls: often while commits come, rarely
//     when it is quiet.
type watcher struct {
	db     *DB
	file   *filewatch.Watch // nil: poll
	ctx    context.Context  // of checks, until close
	stop   context.CancelFunc
	timing sync.Mutex // held while tick runs

	suffix   string                                       // of the file that commits write to
	backstop time.Duration                                // see the constant
	poll     func(quiet, gap time.Duration) time.Duration // see pollInterval

	mu      sync.Mutex
	closed  bool
	waiting int
	writers int // transactions of this process that hold the write lock
	timer   *time.Timer
	due     time.Time // when the timer fires; zero: it is stopped

	armed    bool      // the next write will be reported
	armedAt  time.Time // since when
	reported time.Time // when one was that is not committed yet; zero: none
	missed   int       // commits in a row that were not reported
	pollOnly time.Time // until then, reports are not relied on

	session *session // of the last check
	version int64    // what it read
	failed  bool     // it failed
	unsure  bool     // somebody subscribed and there was no check yet
	checked time.Time
	pending bool          // there was no check after a transaction of this process yet
	busy    bool          // the writer's connection was in use
	commit  time.Time     // when one was found
	gap     time.Duration // the mean time between those
}

const (
	// backstop is how often to check while nothing is reported: a report may get lost.
	backstop = 500 * time.Millisecond
	// firstCheck is how long after a report to check first. Checks are made further and further
	// apart, up to lastChecks, until reportLimit, when a transaction that wrote to the log before its end will be
	// reported again.
	firstCheck  = 300 * time.Microsecond
	lastChecks  = 5 * time.Millisecond
	reportLimit = 250 * time.Millisecond
	// followUp is how long after the watch was armed to check once more: a commit that wrote to the
	// log before then, and waits for the disk, is not reported. Each further check comes after
	// followUps times as long, up to backstop.
	followUp  = 10 * time.Millisecond
	followUps = 5
	// ownChecks is the least time between checks after transactions of this process.
	ownChecks = 2 * time.Millisecond
	// missedMax is how many commits may go unreported in a row, and pollOnlyFor how long it polls then.
	missedMax   = 3
	pollOnlyFor = time.Minute
)

func (w *watcher) init(db *DB) {
	w.db, w.suffix, w.backstop, w.poll = db, "-wal", backstop, pollInterval
	w.ctx, w.stop = context.WithCancel(context.Background())
	if db.opts.WatchEvery == 0 {
		w.file = filewatch.New(w.report)
	}
}

// close waits for a check that is under way.
func (w *watcher) close() {
	w.stop()
	w.mu.Lock()
	w.closed = true
	w.stopTimer()
	w.mu.Unlock()
	if w.file != nil {
		w.file.Close()
	}
	w.timing.Lock() // for tick to end
	defer w.timing.Unlock()
}

// subscribe makes commits from now on be found.
func (w *watcher) subscribe(ctx context.Context) {
	w.mu.Lock()
	current := w.armed && !w.failed // nobody has written since the last check
	if !current {
		w.arm()
	}
	w.mu.Unlock()
	if !current {
		w.check(ctx)
		w.mu.Lock()
		w.unsure = w.session == nil
		w.mu.Unlock()
	}
}

// begin is called when a waiter goes to sleep, end when it wakes.
func (w *watcher) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	w.schedule()
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting--; w.waiting == 0 {
		w.stopTimer()
	}
}

// ownBegin is called when a transaction of this process got the write lock, and ownEnd when that
// is free again, with the writer's connection if it was its transaction.
func (w *watcher) ownBegin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writers++
	if w.armed { // also while nobody sleeps: a report of its own writes would count as another's
		w.armed = false
		w.file.Disarm()
	}
}

func (w *watcher) ownEnd(s *session) {
	w.mu.Lock()
	w.writers--
	now := w.waiting > 0 && time.Since(w.checked) >= ownChecks
	w.pending = !now
	if now {
		w.arm()
	}
	w.mu.Unlock()
	switch {
	case !now:
	case s != nil:
		w.checkOn(s)
	default:
		w.check(w.ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedule()
}

// report is called when somebody else writes to the log.
func (w *watcher) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed, w.reported, w.missed = false, time.Now(), 0
	w.schedule()
}

// arm makes the next write be reported. The caller checks afterwards, and holds mu.
func (w *watcher) arm() {
	w.reported = time.Time{}
	if w.armed || w.file == nil || w.closed || w.writers > 0 || time.Now().Before(w.pollOnly) {
		return
	}
	seen := w.db.guard.open.Load().seen.Load()
	w.armedAt = time.Now()
	if w.armed = seen != nil && w.file.Arm(seen.path+w.suffix); !w.armed {
		w.pollOnly = w.armedAt.Add(pollOnlyFor)
	}
}

// schedule sets the timer for the next check; the caller holds mu. One that is due sooner stays.
func (w *watcher) schedule() {
	if w.waiting == 0 || w.closed {
		return
	}
	now := time.Now()
	at := now.Add(w.pause(now))
	if !w.due.IsZero() && !at.Before(w.due) {
		return
	}
	w.due = at
	if w.timer == nil {
		w.timer = time.AfterFunc(at.Sub(now), w.tick)
		return
	}
	w.timer.Reset(at.Sub(now))
}

func (w *watcher) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.due = time.Time{}
}

// pause returns how long to wait until the next check; the caller holds mu.
func (w *watcher) pause(now time.Time) time.Duration {
	switch {
	case w.db.opts.WatchEvery > 0:
		return w.db.opts.WatchEvery
	case w.busy:
		return followUp
	case w.armed:
		return min(max(followUp, (followUps-1)*w.checked.Sub(w.armedAt)), w.backstop)
	case !w.reported.IsZero():
		return min(max(firstCheck, now.Sub(w.reported)/4), lastChecks)
	case w.pending:
		return ownChecks
	}
	return w.poll(now.Sub(w.commit), w.gap)
}

// pollInterval returns how long to wait between polls, so long after a commit was found, and with
// such a mean time between commits. The longest costs a third of a percent of a core.
func pollInterval(quiet, gap time.Duration) time.Duration {
	return min(max(time.Millisecond, quiet/16, gap/16), 50*time.Millisecond)
}

// tick checks when the timer fires.
func (w *watcher) tick() {
	w.timing.Lock()
	defer w.timing.Unlock()
	w.mu.Lock()
	if w.closed || w.waiting == 0 {
		w.due = time.Time{}
		w.mu.Unlock()
		return
	}
	relied := w.armed && w.checked.Sub(w.armedAt) >= reportLimit // what was under way then has ended
	if w.reported.IsZero() || time.Since(w.reported) > reportLimit {
		w.arm()
	}
	w.mu.Unlock()
	found := w.check(w.ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if found && relied && w.armed {
		if w.missed++; w.missed >= missedMax {
			w.missed, w.armed, w.pollOnly = 0, false, time.Now().Add(pollOnlyFor)
			w.file.Disarm()
		}
	}
	if found {
		w.arm()
	}
	w.due = time.Time{}
	w.schedule()
}

// check reads whether there were commits, unless a transaction is under way on the writer's connection: that
// checks when it ends. It reports whether there was one.
func (w *watcher) check(ctx context.Context) (found bool) {
	if w.db.guard.check() != nil {
		return w.found(nil, 0)
	}
	tried, err := w.db.writer.try(ctx, func(s *session) error {
		found = w.checkOn(s)
		return nil
	})
	switch {
	case !tried:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy = true
	case err != nil:
		return w.found(nil, 0)
	}
	return found
}

// checkOn checks on the writer's connection.
func (w *watcher) checkOn(s *session) bool {
	var v int64
	s.ctx = context.Background()
	if err := s.query("PRAGMA data_version", nil, func(r engine.Row) error { return r.Scan(&v) }); err != nil {
		s = nil
	}
	return w.found(s, v)
}

// found records what a check read, with no session if it failed, and wakes the waiters if that is
// new: a worker finds out what is wrong, and opens a lost database again.
func (w *watcher) found(s *session, v int64) bool {
	now := time.Now()
	w.mu.Lock()
	failed := s == nil
	found := failed && !w.failed || !failed && (s != w.session || v != w.version) && (w.session != nil || w.unsure)
	w.failed, w.checked, w.pending, w.busy = failed, now, false, false
	if !failed {
		w.session, w.version = s, v
	}
	if found {
		w.gap = (3*w.gap + min(now.Sub(w.commit), time.Second)) / 4
		w.commit = now
	}
	w.mu.Unlock()
	if found {
		w.db.notifier.NotifyAll()
	}
	return found
}
