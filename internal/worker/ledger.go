package worker

import (
	"context"
	"sync"
	"time"
)

// ledger knows every item this process holds: waiting, running, or finished
// and not yet settled.
type ledger[M any] struct {
	mu        sync.Mutex
	stats     *Stats
	slots     int // handlers
	batch     int // most items per claim
	linger    time.Duration
	claims    map[*claim[M]]struct{}
	tasks     tasks[M]
	waiting   int // not begun
	running   int
	rate      float64 // finished per second, smoothed
	finished  int     // since counted
	counted   time.Time
	stopped   bool
	signalled bool
	wake      context.CancelFunc
	attempts  []Attempt   // settled, no observer was told yet
	spare     []Attempt   // room for those of a claim
	flying    []flight[M] // collected, not yet settled; the main cycle's own
}

// flight is results of a claim on their way to the database.
type flight[M any] struct {
	claim    *claim[M]
	results  []result
	attempts []Attempt // for observers, who hear of them when they are settled
}

type outcome int

const (
	acked outcome = iota
	retried
	failedForGood
	released
	parked
	dropped // the lease is lost, or the handler settled it: nothing more to say
)

// result is what became of an item.
type result struct {
	index   int
	outcome outcome
	delay   time.Duration
	unbegun bool    // of a released item: its handler did not begin
	text    string  // of the error; of a parked item its topic
	fate    Outcome // the same for observers
}

func (l *ledger[M]) init(slots, batch int, linger time.Duration, stats *Stats) {
	l.slots, l.batch, l.linger, l.stats = slots, batch, linger, stats
	l.claims = map[*claim[M]]struct{}{}
	l.tasks.more.L = &l.mu
}

// finishLocked enters a result, and its attempt if somebody wants to know, which it
// takes away from the caller, and wakes the main cycle if that matters to it. It is
// false for an item that was given up before: nobody asks for its result any more.
func (l *ledger[M]) finishLocked(c *claim[M], r result, a *Attempt) (wanted bool) {
	l.running--
	l.finished++
	if c.states[r.index] == gone {
		return false
	}
	c.states[r.index] = finished
	c.open--
	c.done = append(c.done, r)
	if a != nil {
		if c.attempts == nil {
			c.attempts, l.spare = l.spare, nil
		}
		c.attempts = append(c.attempts, *a)
		*a = Attempt{} // a worker may now wait for long, and should not keep a body
	}
	if len(c.done) == 1 {
		c.first = time.Now()
	}
	if c.open == 0 || len(c.done) == 1 || l.waiting+l.running <= l.slots {
		l.signalLocked()
	}
	return true
}

// collect moves results into s: of claims that are complete, of those whose
// first result waited long enough, or all of them. Waiting for the rest of a
// claim pays: a run that is settled whole is one row, in parts it is many.
func (l *ledger[M]) collect(s *Settlement, now time.Time, all bool) {
	known := len(l.flying)
	l.depart(now, all)
	for _, f := range l.flying[known:] {
		for _, r := range f.results {
			s.add(Held{f.claim.owner, f.claim.items[r.index].ID}, r)
		}
	}
}

// depart is the part of collect that workers have to wait for.
func (l *ledger[M]) depart(now time.Time, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalled = false
	for c := range l.claims {
		if len(c.done) == 0 || !(all || now.Sub(c.first) >= l.patienceLocked(c)) {
			continue
		}
		l.flying = append(l.flying, flight[M]{c, c.done, c.attempts})
		c.done, c.attempts = c.done[len(c.done):], nil
	}
}

// untold hands out the attempts that were settled since it was last asked, and takes
// room for the next ones.
func (l *ledger[M]) untold(room []Attempt) []Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	attempts := l.attempts
	l.attempts = room
	return attempts
}

// patience is how many lingers a result waits for a claim that will soon be
// complete.
const patience = 10

// patienceLocked is how long the first result of a claim may wait for the
// others: not at all if there are none, long if they are about to come.
func (l *ledger[M]) patienceLocked(c *claim[M]) time.Duration {
	if c.open == 0 {
		return 0
	}
	long := patience * l.linger
	if float64(c.open) < l.rate*long.Seconds() {
		return long
	}
	return l.linger
}

// add files a result under what it asks for. A dropped one asks for nothing.
func (s *Settlement) add(h Held, r result) {
	switch r.outcome {
	case acked:
		s.Acks = append(s.Acks, h)
	case retried:
		delay := r.delay
		s.Retries = append(s.Retries, Retry{h, &delay, r.text})
	case failedForGood:
		s.Failures = append(s.Failures, Failure{h, r.text})
	case released:
		s.Releases = append(s.Releases, Release{h, r.delay, r.unbegun})
	case parked:
		s.Parks = append(s.Parks, Park{h, r.text})
	case dropped:
	}
}

// settled strikes what collect gave out: the database has it now.
func (l *ledger[M]) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flying {
		for _, r := range f.results {
			f.claim.strike(r.index)
		}
		l.attempts = append(l.attempts, f.attempts...)
		clear(f.attempts) // their bodies may be large
		l.spare = f.attempts[:0]
		l.forgetLocked(f.claim)
	}
	clear(l.flying)
	l.flying = l.flying[:0]
}

// giveUp has observers hear that nobody will know what came of the attempts
// that collect gave out: the database did not take them in time.
func (l *ledger[M]) giveUp() {
	for _, f := range l.flying {
		for i := range f.attempts {
			f.attempts[i].Outcome = OutcomeLost
		}
	}
	l.settled()
}

// landed strikes what collect gave out if there is nothing in it to settle, and
// reports whether there was any.
func (l *ledger[M]) landed() bool {
	if len(l.flying) == 0 {
		return false
	}
	l.settled()
	return true
}

// forgetLocked ends a claim of which nothing is left.
func (l *ledger[M]) forgetLocked(c *claim[M]) {
	if c.left == 0 {
		c.cancel(nil)
		c.alarm.Stop()
		delete(l.claims, c)
	}
}

// nextFlush is when the next unfinished claim's results are due, if any has some.
func (l *ledger[M]) nextFlush() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.claims {
		if len(c.done) == 0 {
			continue
		}
		due := c.first.Add(l.patienceLocked(c))
		if !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	return at, ok
}

const (
	// ahead is how much work is fetched before it is needed: as much as is
	// finished in this time. Slow handlers thus leave work to other processes,
	// fast ones never wait for the database.
	ahead = 500 * time.Millisecond
	// measure is how long a sample of the rate takes at least.
	measure = 20 * time.Millisecond
)

// capacityLocked is how many items may be here unfinished: one per handler and
// what is fetched ahead, at most one batch (D-20).
func (l *ledger[M]) capacityLocked() int {
	return l.slots + min(int(l.rate*ahead.Seconds()), l.batch)
}

// room is how many items to claim now. A round trip that is made anyway takes
// what fits; otherwise one is only worth it for half a load or an idle handler.
func (l *ledger[M]) room(anyway bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sampleLocked(time.Now())
	capacity := l.capacityLocked()
	room := min(capacity-l.waiting-l.running, l.batch)
	least := capacity - l.slots // what is fetched ahead is used up
	if anyway {
		least = capacity / 2
	}
	if room <= 0 || (room < least && l.waiting > 0) {
		return 0
	}
	return room
}

func (l *ledger[M]) sampleLocked(now time.Time) {
	elapsed := now.Sub(l.counted)
	if elapsed < measure {
		return
	}
	if !l.counted.IsZero() {
		l.rate = (l.rate + float64(l.finished)/elapsed.Seconds()) / 2
	}
	l.counted, l.finished = now, 0
}

// brisk is how many items a second make it worth to let them gather. Below,
// waiting would cost more than it saves.
const brisk = 1000

// busy reports whether items come fast.
func (l *ledger[M]) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rate >= brisk
}

// signalLocked ends the main cycle's nap, or keeps it from beginning one.
func (l *ledger[M]) signalLocked() {
	if l.signalled {
		return
	}
	l.signalled = true
	if l.wake != nil {
		l.wake()
	}
}

// signal is signalLocked for others.
func (l *ledger[M]) signal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalLocked()
}

// onSignal arms wake; false means that there is news already.
func (l *ledger[M]) onSignal(wake context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
	return !l.signalled
}

// empty reports whether nothing is held.
func (l *ledger[M]) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.claims) == 0
}

// idle reports whether no handler runs and none is about to.
func (l *ledger[M]) idle() bool {
	waiting, running := l.holding()
	return waiting+running == 0
}

// holding reports whether handlers run or items wait.
func (l *ledger[M]) holding() (waiting, running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting, l.running
}

// halt makes every task that has not begun come back unbegun.
func (l *ledger[M]) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// abandonRunning gives up on what still runs: it is released, and what it says
// later is ignored.
func (l *ledger[M]) abandonRunning(s *Settlement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.claims {
		for i, state := range c.states {
			if state == open {
				s.Releases = append(s.Releases, Release{Held: Held{c.owner, c.items[i].ID}})
				c.strike(i)
			}
		}
		l.forgetLocked(c)
	}
}
