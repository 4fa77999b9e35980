package worker

import (
	"context"
	"sync"
	"time"
)

// inflight holds every item that this process has claimed: waiting, running, or finished
// and not yet settled.
type inflight[M any] struct {
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
	attempts  []Attempt          // settled, not reported to observers yet
	spare     []Attempt          // room for those of a claim
	settling  []settlingClaim[M] // collected, not yet settled; the main cycle's own
}

// flight is results of a claim on their way to the database.
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

func (l *inflight[M]) init(slots, batch int, linger time.Duration, stats *Stats) {
	l.slots, l.batch, l.linger, l.stats = slots, batch, linger, stats
	l.claims = map[*claim[M]]struct{}{}
	l.tasks.more.L = &l.mu
}

// finishLocked enters a result, and its attempt if somebody wants to know, which it
// takes away from the caller, and wakes the main cycle if that matters to it. It is
// false for an item that was given up before: its result is no longer needed.
func (l *inflight[M]) finishLocked(c *claim[M], r result, a *Attempt) (wanted bool) {
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
func (l *inflight[M]) collect(s *Settlement, now time.Time, all bool) {
	known := len(l.settling)
	l.take(now, all)
	for _, f := range l.settling[known:] {
		for _, r := range f.results {
			s.add(Held{f.claim.owner, f.claim.items[r.index].ID}, r)
		}
	}
}

// take is the part of collect that workers wait for.
func (l *inflight[M]) take(now time.Time, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalled = false
	for c := range l.claims {
		if len(c.done) == 0 || !(all || now.Sub(c.first) >= l.patienceLocked(c)) {
			continue
		}
		l.settling = append(l.settling, settlingClaim[M]{c, c.done, c.attempts})
		c.done, c.attempts = c.done[len(c.done):], nil
	}
}

// pendingAttempts returns the attempts that were settled since it was last asked, and takes
// room for the next ones.
func (l *inflight[M]) pendingAttempts(room []Attempt) []Attempt {
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
func (l *inflight[M]) patienceLocked(c *claim[M]) time.Duration {
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

// settled removes what collect returned: the database has it.
func (l *inflight[M]) settled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.settling {
		for _, r := range f.results {
			f.claim.remove(r.index)
		}
		l.attempts = append(l.attempts, f.attempts...)
		clear(f.attempts) // their bodies may be large
		l.spare = f.attempts[:0]
		l.releaseLocked(f.claim)
	}
	clear(l.settling)
	l.settling = l.settling[:0]
}

// giveUp has observers hear that nobody will know what came of the attempts
// that collect gave out: the database did not take them in time.
func (l *inflight[M]) giveUp() {
	for _, f := range l.settling {
		for i := range f.attempts {
			f.attempts[i].Outcome = OutcomeLost
		}
	}
	l.settled()
}

// settledByHandlers removes what collect returned if there is nothing in it to settle, and
// reports whether there was any.
func (l *inflight[M]) settledByHandlers() bool {
	if len(l.settling) == 0 {
		return false
	}
	l.settled()
	return true
}

// releaseLocked ends a claim of which nothing is left.
func (l *inflight[M]) releaseLocked(c *claim[M]) {
	if c.left == 0 {
		c.cancel(nil)
		c.alarm.Stop()
		delete(l.claims, c)
	}
}

// nextFlush is when the next unfinished claim's results are due, if any has some.
func (l *inflight[M]) nextFlush() (at time.Time, ok bool) {
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
func (l *inflight[M]) capacityLocked() int {
	return l.slots + min(int(l.rate*ahead.Seconds()), l.batch)
}

// room is how many items to claim now. A round trip that is made anyway takes
// what fits; otherwise one is only worth it for half a load or an idle handler.
func (l *inflight[M]) room(anyway bool) int {
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

func (l *inflight[M]) sampleLocked(now time.Time) {
	elapsed := now.Sub(l.counted)
	if elapsed < measure {
		return
	}
	if !l.counted.IsZero() {
		l.rate = (l.rate + float64(l.finished)/elapsed.Seconds()) / 2
	}
	l.counted, l.finished = now, 0
}

// highRate is how many items a second make it worth to let them gather. Below,
// waiting would cost more than it saves.
const highRate = 1000

// busy reports whether items come fast.
func (l *inflight[M]) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rate >= highRate
}

// signalLocked ends the main cycle's nap, or keeps it from beginning one.
func (l *inflight[M]) signalLocked() {
	if l.signalled {
		return
	}
	l.signalled = true
	if l.wake != nil {
		l.wake()
	}
}

// signal is signalLocked for others.
func (l *inflight[M]) signal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.signalLocked()
}

// onSignal arms wake; false means that something has happened already.
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

// idle reports whether no handler runs and none is about to.
func (l *inflight[M]) idle() bool {
	waiting, running := l.holding()
	return waiting+running == 0
}

// holding reports whether handlers run or items wait.
func (l *inflight[M]) holding() (waiting, running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting, l.running
}

// halt makes every task that has not begun come back unbegun.
func (l *inflight[M]) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// abandonRunning gives up on what still runs: it is released, and what it says
// later is ignored.
func (l *inflight[M]) abandonRunning(s *Settlement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.claims {
		for i, state := range c.states {
			if state == open {
				s.Releases = append(s.Releases, Release{Held: Held{c.owner, c.items[i].ID}})
				c.remove(i)
			}
		}
		l.releaseLocked(c)
	}
}
