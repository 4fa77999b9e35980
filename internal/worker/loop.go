package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/google/uuid"
)

// Item is one claimed piece of work.
type Item[M any] struct {
	ID        int64
	MessageID fmt.Stringer // for logs
	Topic     string
	Retry     int       // failed attempts so far
	Created   time.Time // when it was enqueued
	Since     time.Time // when it became claimable
	Scheduled bool      // it had a due time
	Fault     error     // why it cannot be read; it fails with this error, without being handled
	Ordered   bool      // others wait behind it in a line
	Order     OrderPolicy
	InTurn    bool // it takes turns with others: its retry waits for one
	Body      M
}

// Queue is what a component implements for the loop. Each method is called by at most one
// goroutine at a time.
type Queue[M any] interface {
	// Exchange settles and then claims, in one transaction. Settling what is no longer held
	// is no error. The loop may keep and change the items.
	Exchange(ctx context.Context, done *Settlement, c ClaimRequest) ([]Item[M], error)
	// ClaimSuspects claims up to n items that came back from an expired lease,
	// which Exchange never does.
	ClaimSuspects(ctx context.Context, owner uuid.UUID, lease time.Duration, n int) ([]Item[M], error)
	// Extend extends the lease of what is still held and returns the number of
	// those items.
	Extend(ctx context.Context, held []Held, lease time.Duration) (int64, error)
	// Reap puts back a bounded number of items whose lease expired.
	Reap(ctx context.Context) (Reaped, error)
	// NextDue returns how long until something is due; ok is false for never.
	NextDue(ctx context.Context) (d time.Duration, ok bool, err error)
	// Waiter returns a new waiter for work.
	Waiter() engine.Waiter
}

// Reaped is what Reap did and found.
type Reaped struct {
	N        int64 // items that it put back
	Suspects bool  // some can be claimed
	Stops    []Stop
}

// ClaimRequest says what to claim.
type ClaimRequest struct {
	Owner uuid.UUID
	Lease time.Duration
	N     int    // at most; may be 0
	Apart string // a topic that fills the handlers, so that others are searched for behind it; "": none
}

// Config configures a loop. Zero values mean the defaults given.
type Config[M any] struct {
	Queue  Queue[M]
	Handle func(ctx context.Context, item Item[M]) error
	// Result returns what the handler of an item that is acked returned beside that, which
	// is settled with the ack: empty for nothing. It is called once Handle has returned nil;
	// nil: there is never any.
	Result func(body M) []byte
	// Policy is the retry policy of a topic; nil = DefaultRetryPolicy.
	Policy func(topic string) RetryPolicy
	Logger *slog.Logger // not nil
	// RetryLogLevel is the level of failed attempts that will be retried; nil =
	// slog.LevelError.
	RetryLogLevel slog.Leveler
	// Name is the name of the queue, for observers.
	Name string
	// Tag marks the owner tokens of claims; 0: they are random.
	Tag Tag
	// Observers are notified of what happens.
	Observers Observers
	// Paused says whether items of a topic may begin; nil: always. RefreshPauses is called
	// before the first claim and several times in two seconds, to learn what is
	// paused; nil: nothing to do.
	Paused        func(topic string) PauseState
	RefreshPauses func(ctx context.Context) error
	// Limited says whether a limit of the database holds for items of a topic: when one ends,
	// another one may be claimed. nil: there are none.
	Limited func(topic string) bool

	// SlotsOf returns the slots of a topic whose items are bounded, always the same ones;
	// nil for other topics. nil: there are none.
	SlotsOf func(topic string) *Slots
	Extra   int // workers for items that have slots of their own

	Concurrency int           // handlers at once, default 64
	BatchSize   int           // most items per claim, default 500, at most 1000
	Lease       time.Duration // default 30 s, at least 1 s
	PollMin     time.Duration // first poll interval when idle, default 250 ms
	PollMax     time.Duration // longest poll interval when idle, default 1 s
	FlushDelay  time.Duration // how long a finished item may wait for its batch, default 5 ms
	Grace       time.Duration // how long handlers may go on after a stop, default 20 s
	StopEmpty   bool          // return as soon as nothing is due and nothing runs
	Slice       TimeSlice     // limits how long the loop runs; zero: no limit
	Gate        *Gate         // shared by the loops of a process; nil: one of its own
	Stats       *Stats        // where to count, so that several runs add up; nil: a new one

	// Jitter varies a delay by ± a share; nil: engine.Jitter, at random. Any goroutine may
	// call it.
	Jitter func(d time.Duration, share float64) time.Duration
}

// MaxBatch is the largest BatchSize: errors of a claim are recorded message by message, in
// one transaction.
const MaxBatch = 1000

// DefaultConcurrency is how many handlers run at once, unless Config says otherwise.
const DefaultConcurrency = 64

// MinLease is the shortest lease.
const MinLease = time.Second

// Validate returns an error that names the first invalid field.
func (c *Config[M]) Validate() error {
	return cmp.Or(
		engine.CheckOption("Concurrency", c.Concurrency, 1, 0), engine.CheckOption("BatchSize", c.BatchSize, 1, MaxBatch),
		engine.CheckOption("Lease", c.Lease, MinLease, 0), engine.CheckOption("PollMin", c.PollMin, 1, 0), engine.CheckOption("PollMax", c.PollMax, 1, 0),
		engine.CheckOption("FlushDelay", c.FlushDelay, 1, 0), engine.CheckOption("Grace", c.Grace, 1, 0),
	)
}

func (c *Config[M]) defaults() {
	set(&c.Concurrency, DefaultConcurrency)
	set(&c.BatchSize, 500)
	set(&c.Lease, 30*time.Second)
	set(&c.PollMin, 250*time.Millisecond)
	set(&c.PollMax, time.Second)
	c.PollMax = max(c.PollMax, c.PollMin)
	set(&c.FlushDelay, 5*time.Millisecond)
	set(&c.Grace, 20*time.Second)
	if c.RetryLogLevel == nil {
		c.RetryLogLevel = slog.LevelError
	}
	if c.Gate == nil {
		c.Gate = &Gate{}
	}
	if c.Jitter == nil {
		c.Jitter = engine.Jitter
	}
	if c.Policy == nil {
		c.Policy = func(string) RetryPolicy { return DefaultRetryPolicy() }
	}
}

func set[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Loop claims, handles and settles. Create it with New, run it once.
type Loop[M any] struct {
	cfg      Config[M]
	invalid  error // of the configuration
	inflight inflight[M]
	member   *member
	stats    *Stats
	waiter   engine.Waiter
	workers  sync.WaitGroup

	unfinished *Settlement   // collected, not settled yet: kept while the database does not answer
	attempts   []Attempt     // reused for those to report
	search     search        // for more to claim
	streak     streak[M]     // of what was claimed last
	failures   int           // exchanges in a row that failed
	recovered  chan struct{} // receives when one succeeds again
}

// New returns a loop that does not run yet.
func New[M any](cfg Config[M]) *Loop[M] {
	invalid := cfg.Validate()
	cfg.defaults()
	l := &Loop[M]{cfg: cfg, invalid: invalid, stats: cfg.Stats, unfinished: &Settlement{}, search: search{lastActivity: time.Now()}}
	l.recovered = make(chan struct{}, 1)
	if l.stats == nil {
		l.stats = &Stats{}
	}
	l.inflight.init(&cfg, l.stats)
	return l
}

// Stats returns the loop's counters; they may be read at any time.
func (l *Loop[M]) Stats() *Stats { return l.stats }

// Run works until ctx ends, then stops in order (D-19): it claims nothing more, releases
// what has not started, waits for handlers for the grace period, cancels and releases the
// rest, and ends the heartbeat last. It returns nil after a stop; it survives errors of the
// database and returns none of them. An invalid configuration is an error at once.
func (l *Loop[M]) Run(ctx context.Context) error {
	if l.invalid != nil {
		return l.invalid
	}
	l.waiter = l.cfg.Queue.Waiter()
	defer l.waiter.Close()
	defer l.stats.Tracker.begin()()
	defer l.stats.holds(0, 0)
	l.member = l.cfg.Gate.join(l.inflight.signal)
	defer l.member.close()

	handlers, cancelHandlers := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelHandlers(nil)
	l.inflight.handlers = handlers
	heartbeat, stopHeartbeat := context.WithCancel(context.WithoutCancel(ctx))
	ctx, stopReaping := context.WithCancel(ctx)
	_ = l.refreshPauses(ctx) // if the database does not answer, the loop logs it
	var background sync.WaitGroup
	if l.cfg.StopEmpty || l.cfg.Slice.limited() { // what a crashed worker held is due, and there may be no second poll
		_ = l.reapAll(ctx)
	}
	background.Go(func() { l.heartbeat(heartbeat) })
	background.Go(func() { l.maintain(ctx) })
	for range l.cfg.Concurrency + l.cfg.Extra {
		l.workers.Go(l.worker)
	}
	defer func() { // after a panic, too
		l.inflight.close()
		stopReaping()
		stopHeartbeat()
		background.Wait()
	}()

	l.serve(ctx, handlers)
	if l.cfg.Slice.Done != nil {
		l.cfg.Slice.Done.Store(true)
	}
	stopReaping()
	l.stats.Tracker.iterate(l.cfg.Grace + afterCancel)
	l.stop(cancelHandlers)
	return nil
}

// serve is the main cycle: settle what is finished, claim what fits, wait.
func (l *Loop[M]) serve(ctx, handlers context.Context) {
	for ctx.Err() == nil {
		l.stats.Tracker.iterate(l.cfg.PollMax)
		l.inflight.collect(l.unfinished, time.Now(), false)
		idle := l.inflight.idle()
		if idle {
			l.member.leave()
		}
		if !l.search.claims() && (l.unfinished.Freed || l.member.shouldEnter()) {
			l.search.again()
		}
		enough := l.sliceDone()
		if enough && l.inflight.empty() && l.unfinished.Len() == 0 {
			return
		}
		n, suspects := 0, false
		if !enough {
			n, suspects = l.room(idle)
		}
		switch {
		case suspects:
			l.claimSuspects(ctx, handlers, n)
		case n > 0 || l.unfinished.Len() > 0:
			l.exchange(ctx, handlers, n)
		case l.waitOrEnd(ctx):
			return
		}
	}
}

// room returns how many items to claim now, and whether only suspects. After a failure
// nothing is claimed before what is finished is settled.
func (l *Loop[M]) room(idle bool) (n int, suspects bool) {
	if !l.search.claims() || l.failures > 0 && l.unfinished.Len() > 0 {
		return 0, false
	}
	n = l.inflight.room(l.unfinished.Len() > 0)
	switch l.member.enter(idle && l.unfinished.Len() == 0) {
	case exclusive:
		return n, true
	case blocked:
		return 0, false
	}
	return n, false
}

// waitOrEnd waits for something to do. It reports whether the loop is to end.
func (l *Loop[M]) waitOrEnd(ctx context.Context) (over bool) {
	if l.cfg.StopEmpty && l.inflight.empty() && !l.waitsForGate() {
		l.search.again() // a handler may have added something
		return l.search.emptyClaim
	}
	if l.inflight.settledByHandlers() { // they need no exchange with the database
		l.notifyObservers()
	}
	l.wait(ctx)
	return false
}

// exchange settles and claims in one round trip. When it fails the settlement is kept and
// tried again before anything new is claimed: the work is done, only its ack is missing.
func (l *Loop[M]) exchange(ctx, handlers context.Context, n int) {
	owner := l.cfg.Tag.NewOwnerToken()
	sent := time.Now()
	items, err := l.cfg.Queue.Exchange(ctx, l.unfinished, ClaimRequest{owner, l.cfg.Lease, n, l.apart(n)})
	took := time.Since(sent)
	if err != nil {
		l.failed(ctx, err)
		return
	}
	if l.stale(items) {
		_ = l.refreshPauses(ctx)
	}
	l.answered()
	if l.unfinished.Len() > 0 {
		l.search.lastActivity = time.Now()
	}
	due := l.dueAgain()
	l.settled(sent)
	if n == 0 {
		if due {
			l.search.again()
		}
		l.notifyObservers()
		return
	}
	ordered := anyOrdered(items) // before the handlers have them
	l.streak.add(items)
	l.accept(ctx, handlers, owner, sent, items)
	if len(items) == n {
		l.waiter.Unsubscribe()
	}
	l.search.claimed(len(items) == n || due, ordered)
	l.search.emptyClaim = len(items) == 0 && l.inflight.empty()
	l.notifyObservers()
	if len(items) > 0 && l.search.phase == quiet {
		l.gather(ctx, took)
	}
}

// accept gives items to the handlers; sent is when their claim was sent.
func (l *Loop[M]) accept(ctx, handlers context.Context, owner uuid.UUID, sent time.Time, items []Item[M]) {
	l.claimed(len(items))
	if len(items) > 0 {
		l.recordClaim(ctx, owner, len(items))
		l.inflight.open(handlers, owner, sent.Add(l.cfg.Lease), items)
	}
}

// recordClaim records that a claim returned n items.
func (l *Loop[M]) recordClaim(ctx context.Context, owner uuid.UUID, n int) {
	l.search = search{claimedAny: true, lastActivity: time.Now(), emptyClaim: l.search.emptyClaim}
	l.cfg.Logger.Debug("claimed", "count", n, "owner_token", owner.String())
	if ctx.Err() != nil {
		l.inflight.halt() // stopped while claiming: none of this is started (D-19)
	}
}

// gather waits, where the next exchange has more for it, so that items and results form a batch. A worker that
// waits for a notification after every short claim makes each producer pay for waking it, and its acks are
// written one by one: 16 producers of single messages on PostgreSQL went from 10 % to two thirds of a plain
// insert. took is how long the last exchange did.
func (l *Loop[M]) gather(ctx context.Context, took time.Duration) {
	delay := l.inflight.gathering(took)
	if delay == 0 {
		return
	}
	l.waiter.Unsubscribe()
	_ = engine.Sleep(ctx, delay) // a notification would add nothing
	l.search.again()
}

// dueAgain reports whether some of what is being settled can be claimed again at once. If
// that is later, it schedules a poll for then.
func (l *Loop[M]) dueAgain() bool {
	d, ok := l.unfinished.soonest()
	if !ok {
		return false
	}
	if at := time.Now().Add(d + time.Millisecond); !l.search.nextPoll.IsZero() && at.Before(l.search.nextPoll) {
		l.search.nextPoll = at
	}
	return d <= 0
}

// settled removes what the database has taken.
func (l *Loop[M]) settled(at time.Time) {
	l.stats.settled(l.unfinished, at)
	l.inflight.settled(l.unfinished.Missed)
	s := l.unfinished
	clear(s.Results) // free their bytes
	*s = Settlement{
		Acks: s.Acks[:0], Retries: s.Retries[:0], Failures: s.Failures[:0], Releases: s.Releases[:0], Parks: s.Parks[:0], Results: s.Results[:0],
	}
}

// failed waits after a failed exchange: 0.25 s … 30 s, with jitter (D-6), or a second if an enqueue succeeds.
func (l *Loop[M]) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	l.failures++
	l.stats.failed(err)
	level := slog.LevelError
	if engine.Unavailable(err) {
		level = slog.LevelWarn
	}
	l.cfg.Logger.Log(ctx, level, "database unavailable, will retry", "error", err, "failures", l.failures)
	delay := l.cfg.Jitter(outageDelay(l.failures), 0.2)
	l.stats.Tracker.iterate(delay)
	if first := min(delay, time.Second); engine.Sleep(ctx, first) == nil && l.waiter.Sleep(ctx, delay-first) {
		l.search.again() // something was enqueued meanwhile: the database is back
	}
}

// answered records that an exchange succeeded. After a failure the maintenance goes on at
// once: it may have backed off for half a minute, and nobody else reads what is paused.
func (l *Loop[M]) answered() {
	if l.failures > 0 {
		select {
		case l.recovered <- struct{}{}:
		default:
		}
	}
	l.failures = 0
}
