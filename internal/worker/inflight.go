package worker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// inflight holds every item that this process has claimed: waiting, running, or finished
// and not yet settled.
type inflight[M any] struct {
	mu         sync.Mutex
	stats      *Stats
	slots      int // handlers
	batch      int // most items per claim
	flushDelay time.Duration
	claims     []*claim[M] // in the order they came
	tasks      tasks[M]
	waiting    int // not started
	running    int
	rate       rate
	stopped    bool
	handlers   context.Context // of items that are handed over
	asleep     bool            // the main cycle sleeps, with nothing to claim
	reserved   bool            // for an item that is about to be handed over
	unknown    []Release       // of items that were handed over, perhaps
	signalled  bool
	wake       context.CancelFunc
	attempts   []Attempt          // settled, not reported to observers yet
	spare      []Attempt          // room for those of a claim
	settling   []settlingClaim[M] // collected, not yet settled; used by the main cycle only

	slotsOf   func(topic string) *Slots // nil: no topic has a limit
	limited   map[*Slots]*limited[M]
	uncounted int  // of those that wait: they keep no others from being claimed
	keepAll   bool // nothing is put back because it waits for a slot
	turns     bool // items of the last claim take turns
}

// settlingClaim is results of a claim that are being written to the database.
type settlingClaim[M any] struct {
	claim    *claim[M]
	results  []result
	attempts []Attempt // for observers, reported when they are settled
}

type outcome int

const (
	acked outcome = iota
	retried
	failedForGood
	expired
	cancelled
	released
	parked
	dropped // the lease is lost, or the handler settled it: there is nothing to write
)

// result is what became of an item.
type result struct {
	index      int
	outcome    outcome
	delay      time.Duration
	notStarted bool    // of a released item: its handler did not begin
	uncounted  bool    // of a retried item: it has as many attempts left as before
	frees      bool    // a limit of the database held for it
	text       string  // of the error; of a parked item its topic
	data       []byte  // of an acked item: what its handler returned beside that
	reported   Outcome // what observers are told
}

func (l *inflight[M]) init(cfg *Config[M], stats *Stats) {
	l.slots, l.batch, l.flushDelay, l.stats = cfg.Concurrency, cfg.BatchSize, cfg.FlushDelay, stats
	l.slotsOf, l.limited, l.keepAll = cfg.SlotsOf, map[*Slots]*limited[M]{}, cfg.StopEmpty || cfg.Slice.limited()
	if l.keepAll {
		l.slots += cfg.Extra
	}
	l.tasks.available.L, l.tasks.most = &l.mu, cfg.Concurrency
}

// finishLocked records a result and, unless a is nil, its attempt, which it clears; it
// wakes the main cycle if there is something to do. It is false for an item that was
// abandoned before: its result is no longer needed.
func (l *inflight[M]) finishLocked(done ended[M], r result, a *Attempt) (wanted bool) {
	c := done.claim
	l.running--
	l.rate.finished++
	if done.from.counted() {
		l.tasks.running--
	}
	if done.from != nil {
		l.endedLocked(done.from, done.took)
	}
	if c.states[r.index] == gone {
		return false
	}
	c.states[r.index] = finished
	c.open--
	c.done = append(c.done, r)
	c.frees = c.frees || r.frees
	if a != nil {
		if c.attempts == nil {
			c.attempts, l.spare = l.spare, nil
		}
		c.attempts = append(c.attempts, *a)
		*a = Attempt{} // a worker may now wait for long, and must not keep a body in memory
	}
	if len(c.done) == 1 {
		c.first = time.Now()
	}
	if waiting, running := l.heldLocked(); c.open == 0 || len(c.done) == 1 || waiting+running <= l.slots {
		l.signalLocked()
	}
	return true
}

// collect moves results into s: of claims that are complete, of those whose first result
// waited long enough, or all of them. Waiting for the rest of a claim saves writes: a run
// that is settled whole is one row, in parts it is many.
func (l *inflight[M]) collect(s *Settlement, now time.Time, all bool) {
	before := len(l.settling)
	l.take(s, now, all)
	for _, f := range l.settling[before:] {
		for _, r := range f.results {
			item := &f.claim.items[r.index]
			s.add(Held{f.claim.owner, item.ID}, r)
			if item.Ordered {
				s.order(item.Order, r.outcome)
			} else if item.InTurn && r.outcome == retried {
				s.Retries[len(s.Retries)-1].Yield = true
			}
			s.Freed = s.Freed || r.frees
		}
	}
}

// take is the part of collect that holds the lock.
func (l *inflight[M]) take(s *Settlement, now time.Time, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalled = false
	l.relieveLocked(now)
	s.Releases, l.unknown = append(s.Releases, l.unknown...), nil
	for _, c := range l.claims {
		if len(c.done) == 0 || !(all || now.Sub(c.first) >= l.flushAfterLocked(c)) {
			continue
		}
		l.settling = append(l.settling, settlingClaim[M]{c, c.done, c.attempts})
		c.done, c.attempts, c.frees = c.done[len(c.done):], nil, false
	}
}

// pendingAttempts returns the attempts that were settled since the last call, and keeps
// room for the next ones.
func (l *inflight[M]) pendingAttempts(room []Attempt) []Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	attempts := l.attempts
	l.attempts = room
	return attempts
}

// fullClaimDelays is how many flush delays a result waits for a claim that will soon be
// complete.
const fullClaimDelays = 10

// flushAfterLocked returns how long the first result of a claim may wait for the others:
// not at all if there are none, longer if they are about to finish. What was claimed under a
// limit keeps others from being claimed, here and in other processes, until it is settled:
// unless items finish at a high rate it does not wait.
func (l *inflight[M]) flushAfterLocked(c *claim[M]) time.Duration {
	if c.open == 0 || c.frees && l.rate.perSecond < highRate {
		return 0
	}
	long := fullClaimDelays * l.flushDelay
	if float64(c.open) < l.rate.within(long) {
		return long
	}
	return l.flushDelay
}

// add adds a result to its list. A dropped one has none.
func (s *Settlement) add(h Held, r result) {
	switch r.outcome {
	case acked:
		s.Acks = append(s.Acks, h)
		if len(r.data) > 0 {
			s.Results = append(s.Results, Result{h, r.data})
		}
	case retried:
		delay := r.delay
		s.Retries = append(s.Retries, Retry{Held: h, Delay: &delay, Error: r.text, Uncounted: r.uncounted})
	case failedForGood:
		s.Failures = append(s.Failures, Failure{Held: h, Error: r.text})
	case expired:
		s.Failures = append(s.Failures, Failure{Held: h, Expired: true})
	case cancelled:
		s.Failures = append(s.Failures, Failure{Held: h, Error: r.text, Cancelled: true})
	case released:
		s.Releases = append(s.Releases, Release{h, r.delay, r.notStarted})
	case parked:
		s.Parks = append(s.Parks, Park{h, r.text})
	case dropped:
	}
}

// settled removes what collect returned: the database has it, but for those that were missed.
func (l *inflight[M]) settled(missed map[Held]struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.markMissed(missed)
	for _, f := range l.settling {
		for _, r := range f.results {
			f.claim.remove(r.index)
		}
		l.attempts = append(l.attempts, f.attempts...)
		clear(f.attempts) // free their bodies
		l.spare = f.attempts[:0]
		l.releaseLocked(f.claim)
	}
	clear(l.settling)
	l.settling = l.settling[:0]
}

// markMissed sets the outcomes of attempts that the database did not take.
func (l *inflight[M]) markMissed(missed map[Held]struct{}) {
	if len(missed) == 0 {
		return
	}
	for _, f := range l.settling {
		for k := range f.attempts { // of the results, in their order
			if _, lost := missed[Held{f.claim.owner, f.claim.items[f.results[k].index].ID}]; lost {
				f.attempts[k].Outcome = OutcomeLost
			}
		}
	}
}

// settleLost reports as OutcomeLost what collect returned: the database did not take it in
// time.
func (l *inflight[M]) settleLost() {
	for _, f := range l.settling {
		for i := range f.attempts {
			f.attempts[i].Outcome = OutcomeLost
		}
	}
	l.settled(nil)
}

// settledByHandlers removes what collect returned when the settlement is empty, and reports
// whether there was anything.
func (l *inflight[M]) settledByHandlers() bool {
	if len(l.settling) == 0 {
		return false
	}
	l.settled(nil)
	return true
}

// releaseLocked ends a claim all of whose items are gone.
func (l *inflight[M]) releaseLocked(c *claim[M]) {
	if c.left == 0 {
		c.cancel(nil)
		c.expiry.Stop()
		l.claims = slices.DeleteFunc(l.claims, func(other *claim[M]) bool { return other == c })
	}
}

// nextFlush returns when the next claim with unsettled results is due; ok is false for none.
func (l *inflight[M]) nextFlush() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.claims {
		if len(c.done) == 0 {
			continue
		}
		due := c.first.Add(l.flushAfterLocked(c))
		if !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	return at, ok
}

const (
	// prefetchTime is how much work is claimed before it is needed: as much as is finished
	// in this time. Slow handlers thus leave work to other processes, fast ones never wait
	// for the database.
	prefetchTime = 500 * time.Millisecond
	// turnsTime is the same of items that take turns: what is claimed ahead is ahead of every turn that comes
	// meanwhile. With 64 handlers of 10 ms the p99 of another's item was 99 ms by prefetchTime, 11 with 5 ms,
	// 8 with this (SQLite).
	turnsTime = 2 * time.Millisecond
)

// capacityLocked returns how many items may be unfinished: one per handler and what is
// claimed ahead, at most one batch (D-20).
func (l *inflight[M]) capacityLocked() int {
	ahead := prefetchTime
	if l.turns {
		ahead = turnsTime
	}
	return l.slots + min(int(l.rate.within(ahead)), l.batch)
}

// heldLocked returns how many items wait and run, without those that have slots of their own
// and the first that wait for any, unless everything is kept.
func (l *inflight[M]) heldLocked() (waiting, running int) {
	if l.keepAll {
		return l.waiting, l.running
	}
	return l.waiting - l.uncounted, l.tasks.running
}

// room returns how many items to claim now. A round trip that is made anyway takes what
// fits; otherwise one is made for half the capacity or an idle handler.
func (l *inflight[M]) room(anyway bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate.sample(time.Now())
	capacity := l.capacityLocked()
	waiting, running := l.heldLocked()
	room := min(capacity-waiting-running, l.batch)
	least := capacity - l.slots // what was claimed ahead is used up
	if anyway {
		least = capacity / 2
	}
	if room <= 0 || (room < least && waiting > 0) {
		return 0
	}
	return room
}

// From highRate items per second on results and claims are batched, for leastGathered at least: below, waiting costs
// more than it saves. With 1 ms SQLite handled 10 % less in the one run that was made.
const highRate, leastGathered = 1000, 2 * time.Millisecond

// gathering returns how long to wait before the next exchange: as long as the last one took, where the rate is high or
// two items finish in that time; a flush delay at most. So a database that is slow, or busy for others, is asked
// less often. At a high rate it always was a flush delay: single messages at half of what PostgreSQL takes waited
// 5.6 ms in the median, and 3.9 since, for at most 6 % more of its time (bench -scenario load, three runs of each).
func (l *inflight[M]) gathering(took time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate.perSecond >= highRate {
		took = max(took, leastGathered)
	} else if l.rate.within(took) < 2 {
		return 0
	}
	return min(took, l.flushDelay)
}

// slow reports whether most handlers run, and items finish at a low rate.
func (l *inflight[M]) slow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 2*l.tasks.running >= l.slots && l.rate.perSecond < highRate
}

// signalLocked ends the main cycle's wait, or prevents the next one.
func (l *inflight[M]) signalLocked() {
	if l.signalled {
		return
	}
	l.signalled = true
	if l.wake != nil {
		l.wake()
	}
}

// signal is signalLocked for callers that do not hold the lock.
func (l *inflight[M]) signal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalLocked()
}

// onSignal sets the function that a signal calls; false means that there was a signal
// already.
func (l *inflight[M]) onSignal(wake context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
	return !l.signalled
}

// empty reports whether nothing is held.
func (l *inflight[M]) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.claims) == 0
}

// idle reports whether no handler runs, and no item waits for one or is about to be handed
// over.
func (l *inflight[M]) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting+l.running == 0 && !l.reserved
}

// holding returns how many items wait for a handler and how many handlers run.
func (l *inflight[M]) holding() (waiting, running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting, l.running
}

// halt makes every task that has not started come back as not started.
func (l *inflight[M]) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.tasks.end(l.limited)
}

// abandonRunning releases what still runs; later results of it are ignored.
func (l *inflight[M]) abandonRunning(s *Settlement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range slices.Clone(l.claims) {
		for i, state := range c.states {
			if state == open {
				s.Releases = append(s.Releases, Release{Held: Held{c.owner, c.items[i].ID}})
				c.remove(i)
			}
		}
		l.releaseLocked(c)
	}
}
