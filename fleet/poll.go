package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// maxPolls is how many stores are polled at once.
	maxPolls = 32
	// slowPoll is after how long a poll no longer counts against maxPolls: a hundred
	// databases that hang must not prevent polls of the others (D-91).
	slowPoll = 500 * time.Millisecond
	// maxFailingPolls is how many stores that failed the last time are polled at once, in
	// addition to the others. On servers a poll counts until it ends: those that hang would
	// hold all connections.
	maxFailingPolls = 8
)

// soonDelay is the delay of a poll for what a caller's transaction may have committed.
const soonDelay = 20 * time.Millisecond

// pollNow schedules a poll of a store at once.
func (f *Fleet) pollNow(s *Store) { f.timetable.pollBy(s, time.Now()) }

// pollSoon schedules a poll of a store in a moment, and several more after that.
func (f *Fleet) pollSoon(s *Store) {
	s.expectCommit()
	f.timetable.pollBy(s, time.Now().Add(soonDelay))
}

// pollLoop polls stores on time, until ctx ends.
func (f *Fleet) pollLoop(ctx context.Context) {
	well, failing := newBudget(maxPolls), newBudget(maxFailingPolls)
	var polls sync.WaitGroup
	defer polls.Wait()
	for ctx.Err() == nil {
		s, wait := f.timetable.next(time.Now(), failing.used() < failing.total())
		if s == nil {
			timeout, cancel := context.WithTimeout(ctx, wait)
			select {
			case <-f.timetable.wake:
			case <-timeout.Done():
			}
			cancel()
			continue
		}
		admitted := s.server.admit()
		if !admitted.ok {
			f.putOff(s, admitted.silent)
			continue
		}
		free, fails := well, s.fails()
		if fails {
			free = failing
		}
		if free.acquire(ctx) != nil {
			s.server.polled(admitted, false, false)
			f.giveBack(s, 0)
			return
		}
		polls.Go(func() {
			release := sync.OnceFunc(func() {
				free.release()
				if fails { // the loop leaves failing stores out while they have no place
					f.timetable.notify()
				}
			})
			defer release()
			f.pollWatched(ctx, s, admitted, fails, release)
		})
	}
}

// pollWatched polls a store. When that takes long it calls release, unless the store failed the last
// time and is on a server.
func (f *Fleet) pollWatched(ctx context.Context, s *Store, a admission, fails bool, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	connected := func() bool { return f.conns.holders.has(s) }
	defer time.AfterFunc(slowPoll, func() {
		if !fails || s.isFile() {
			release()
		}
		if !connected() {
			return
		}
		s.server.markSlow()
		if f.conns.waiting.Load() > 0 && !fails { // others need its connection
			cancel(errSlow)
		}
	}).Stop()
	began := time.Now()
	found, err := f.work.poll(ctx, s)
	answered := err == nil || time.Since(began) < slowPoll && ctx.Err() == nil && !errors.Is(err, errNoConnection)
	s.server.polled(a, answered, !answered && connected())
	f.pollEnded(ctx, s, found, err)
}

// errSlow is why a poll is given up before its time.
var errSlow = errors.New("the database does not answer in time, and other stores need the connection")

// pollEnded acts on the result of a poll: if there is work, the store waits for its time slice;
// otherwise it is polled again later. So does one that others work on while stores are kept
// warm: new work is this process's, too, and it goes on if they die.
func (f *Fleet) pollEnded(ctx context.Context, s *Store, found pollResult, err error) {
	slow := errors.Is(context.Cause(ctx), errSlow)
	switch {
	case ctx.Err() != nil && !slow:
		f.giveBack(s, 0) // it may have left
	case errors.Is(err, errNoConnection): // that is the fleet's, not the store's
		f.giveBack(s, engine.Jitter(f.opts.PollMin, 0.1))
	case err != nil && slow && !s.slowAgain(): // a busy machine, perhaps
		f.giveBack(s, engine.Jitter(f.opts.PollMin, 0.1))
	case err != nil && slow:
		f.giveBack(s, s.markFailed(errSlow))
	case err != nil:
		f.giveBack(s, s.markFailed(err))
	case found.ok && found.due <= 0, found.busy && f.keepsReady():
		// It can be read, but may still fail when it is worked on: the time slice will
		// show whether it is healthy again.
		s.answered()
		s.foundWork()
		f.turns.enqueue(s)
	default:
		s.markHealthy()
		delay, cold := s.nextDelay(found)
		if cold && f.workedOn() > f.opts.KeepReady {
			s.closeIdle()
		}
		f.giveBack(s, delay)
	}
}

// giveBack puts a store back into the timetable or, if it left meanwhile, closes it.
func (f *Fleet) giveBack(s *Store, delay time.Duration) {
	if !f.timetable.putBack(s, time.Now().Add(delay)) {
		f.closeStore(s)
	}
}

// leave removes a store from the fleet. Its current work is finished first.
func (f *Fleet) leave(s *Store) {
	f.share.mu.Lock()
	over := f.stopWorkLocked(s)
	f.share.mu.Unlock()
	if over {
		f.closeStore(s)
	}
}

// closeStore closes a store that left, unless it came back or only its work is another
// process's now.
func (f *Fleet) closeStore(s *Store) {
	if f.opts.Share != nil && f.registry.get(s.Key) == s {
		f.handedOver(s)
		return
	}
	if db := f.registry.detach(s); db != nil {
		if err := db.Close(); err != nil {
			s.log.Warn("could not close the store", "error", err)
		}
	}
}
