package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// clockwork is a scheduler on a fake clock, with sources that are lists of times.
type clockwork struct {
	t        *testing.T
	cfg      worker.ScheduleConfig
	log      logBuffer
	notifier chan struct{}
	*worker.Scheduler

	mu          sync.Mutex
	calls       []string         // its calls, in order
	refused     error            // what subscribing fails with
	subscribing func(c *planner) // called while it subscribes
	plans       []*planner
	closed      bool
	start       func()
	stop        func()
}

// planner is a source with a list of due times.
type planner struct {
	c     *clockwork
	name  string
	batch int

	dues      []time.Time
	held      bool        // another transaction has locked what is due
	err       error       // of Dispatch
	did       func()      // is called by Dispatch; nil: nothing
	noDueTime error       // of NextDue
	polls     []time.Time // calls of Dispatch
	fired     []time.Duration
}

// clock runs a test with a scheduler of some sources, which the test starts and
// which ends with it.
func clock(t *testing.T, most time.Duration, names []string, test func(c *clockwork)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{t: t, notifier: make(chan struct{}, 1)}
		c.cfg = worker.ScheduleConfig{DB: c.database(), Logger: slog.New(slog.NewTextHandler(&c.log, nil)), MaxPollingInterval: most}
		for _, name := range names {
			p := &planner{c: c, name: name, batch: 100}
			c.plans = append(c.plans, p)
			c.cfg.Sources = append(c.cfg.Sources, p)
		}
		c.Scheduler = worker.NewScheduler(c.cfg)
		ctx, cancel := context.WithCancel(t.Context())
		c.stop = sync.OnceFunc(func() {
			cancel()
			synctest.Wait()
			if !c.closed {
				t.Error("the scheduler did not end, or left its waiter open")
			}
		})
		defer c.stop()
		c.start = func() {
			go func() {
				if err := c.Run(ctx); err != nil {
					t.Errorf("it ended with %v", err)
				}
			}()
		}
		test(c)
	})
}

func (c *clockwork) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *clockwork) note(format string, args ...any) {
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
}

// database is a DB of which a scheduler uses only the waiter.
func (c *clockwork) database() engine.DB { return waiters{c: c} }

type waiters struct {
	engine.DB
	c *clockwork
}

func (s waiters) Waiter(queue string) engine.Waiter {
	if queue != worker.ScheduleQueue {
		s.c.t.Errorf("it sleeps on queue %q", queue)
	}
	return &bed{c: s.c}
}

type bed struct {
	c          *clockwork
	subscribed bool
}

func (b *bed) Subscribe(context.Context) (again bool, err error) {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	b.c.note("subscribe")
	if b.c.subscribing != nil {
		b.c.subscribing(b.c.plans[0])
	}
	if b.c.refused != nil {
		return false, b.c.refused
	}
	again, b.subscribed = !b.subscribed, true
	return again, nil
}

func (b *bed) Unsubscribe() {}

func (b *bed) Sleep(ctx context.Context, d time.Duration) bool {
	b.c.locked(func() { b.c.note("sleep") })
	if d <= 0 {
		b.c.t.Errorf("it sleeps %v", d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.c.notifier:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (b *bed) Close() { b.c.locked(func() { b.c.closed = true }) }

// notify notifies the scheduler.
func (c *clockwork) notify() {
	select {
	case c.notifier <- struct{}{}:
	default:
	}
}

func (p *planner) Name() string { return p.name }

// Dispatch does a batch of what is due and records how late each was.
func (p *planner) Dispatch(context.Context) (n int64, err error) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	now := time.Now()
	p.c.note("poll")
	p.polls = append(p.polls, now)
	if p.did != nil {
		p.did()
	}
	if p.err != nil {
		return 0, p.err
	}
	for !p.held && len(p.dues) > 0 && !p.dues[0].After(now) && n < int64(p.batch) {
		p.fired = append(p.fired, now.Sub(p.dues[0]))
		p.dues = p.dues[1:]
		n++
	}
	return n, nil
}

func (p *planner) NextDue(context.Context) (time.Duration, bool, error) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.noDueTime != nil || len(p.dues) == 0 {
		return 0, false, p.noDueTime
	}
	return time.Until(p.dues[0]), true, nil
}

// in adds due times, relative to now.
func (p *planner) in(ds ...time.Duration) {
	p.c.locked(func() { p.add(ds...) })
}

func (p *planner) add(ds ...time.Duration) {
	for _, d := range ds {
		p.dues = append(p.dues, time.Now().Add(d))
	}
	slices.SortFunc(p.dues, time.Time.Compare)
}

// wantFired checks how many were dispatched, none early and none later than most.
func (p *planner) wantFired(n int, most time.Duration) {
	p.c.t.Helper()
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if len(p.fired) != n {
		p.c.t.Errorf("%s: %d fired, want %d", p.name, len(p.fired), n)
	}
	for _, late := range p.fired {
		if late < 0 || late > most {
			p.c.t.Errorf("%s: fired %v late, want at most %v", p.name, late, most)
		}
	}
}

// gaps returns the times between polls since one.
func (p *planner) gaps(since int) (gaps []time.Duration) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	for i := since + 1; i < len(p.polls); i++ {
		gaps = append(gaps, p.polls[i].Sub(p.polls[i-1]))
	}
	return gaps
}

func (p *planner) count() (n int) {
	p.c.locked(func() { n = len(p.polls) })
	return n
}

func one() []string { return []string{"a"} }

const day = 24 * time.Hour

// D-72: what is due is dispatched on time: not before, and at most a millisecond after,
// whether it is moments or months away.
func TestSchedulerFiresWhenDue(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		a := c.plans[0]
		a.in(-time.Hour, 0, time.Millisecond, 3*time.Second, time.Hour, time.Hour, 30*day)
		c.start()
		advance(2 * time.Second)
		c.locked(func() { a.fired = a.fired[1:] }) // it was due before we began
		advance(31 * day)
		a.wantFired(6, 2*time.Millisecond)
		if n := a.count(); n > 60 {
			t.Errorf("%d polls in 31 days", n)
		}
	})
}

// D-72: it sleeps no longer than MaxPollingInterval, default 30 s, without a notification.
func TestSchedulerSleepIsBounded(t *testing.T) {
	for most, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
		clock(t, most, one(), func(c *clockwork) {
			c.start()
			a := c.plans[0]
			a.in(day)
			advance(time.Second)
			from := a.count() - 1
			advance(10 * want)
			gaps := a.gaps(from)
			if len(gaps) != 10 || slices.Max(gaps) != want || slices.Min(gaps) != want {
				t.Errorf("polls %v apart, want %v", gaps, want)
			}
		})
	}
}

// D-72: a notification ends the sleep: what is due earlier than everything known is
// dispatched on time.
func TestSchedulerIsWoken(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		a.in(20 * time.Hour)
		for range 10 {
			advance(time.Hour)
			a.in(0)
			c.notify()
			advance(10 * time.Millisecond)
			a.in(time.Minute)
			c.notify()
		}
		advance(time.Hour)
		a.wantFired(20, 6*time.Millisecond)
	})
}

// D-72: the order that misses nothing: poll, subscribe, poll again, sleep. What is
// committed before the subscription, and so notifies nobody, is found.
func TestSchedulerLooksAfterArming(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		added := false
		c.subscribing = func(p *planner) {
			if !added {
				added = true
				p.add(0)
			}
		}
		c.start()
		advance(time.Second)
		c.plans[0].wantFired(1, 0)
		c.locked(func() {
			if got := fmt.Sprint(c.calls); got != "[poll subscribe poll poll sleep]" { // one of them says that there is no more
				t.Errorf("it did %s", got)
			}
		})
	})
}

// D-72: a waiter that has subscribed already needs no second poll.
func TestSchedulerLooksOnceWhenArmed(t *testing.T) {
	clock(t, time.Minute, one(), func(c *clockwork) {
		c.start()
		advance(time.Second)
		c.locked(func() { c.calls = nil })
		advance(time.Minute)
		c.locked(func() {
			if got := fmt.Sprint(c.calls); got != "[poll subscribe sleep]" {
				t.Errorf("it did %s", got)
			}
		})
	})
}

// D-72: a pass dispatches everything that is due: nothing is left for the next poll.
func TestSchedulerDrains(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		c.locked(func() { a.batch = 7 })
		advance(time.Second)
		from := a.count()
		a.in(make([]time.Duration, 10_000)...)
		c.notify()
		advance(5 * time.Millisecond)
		a.wantFired(10_000, 5*time.Millisecond)
		if n := a.count() - from; n < 10_000/7 || n > 10_000/7+3 {
			t.Errorf("%d polls", n)
		}
	})
}

// D-480: a source that has much to do does not hold up the others: each does a part in turn.
func TestSchedulerTakesTurns(t *testing.T) {
	clock(t, day, []string{"a", "b"}, func(c *clockwork) {
		a, b := c.plans[0], c.plans[1]
		a.batch, b.batch = 1, 1
		a.in(make([]time.Duration, 50)...)
		b.in(make([]time.Duration, 3)...)
		var order []string
		a.did = func() { order = append(order, "a") }
		b.did = func() { order = append(order, "b") }
		c.Dispatch(t.Context())
		if got := strings.Join(order[:8], ""); got != "abababab" || len(order) != 51+4 {
			t.Errorf("%d polls, which begin with %s", len(order), got)
		}
		c.start()
	})
}

// D-6: a source that fails is tried again after 0.25 s … 30 s, and does not hold up another
// one.
func TestSchedulerFailingAgenda(t *testing.T) {
	clock(t, day, []string{"a", "b"}, func(c *clockwork) {
		a, b := c.plans[0], c.plans[1]
		c.locked(func() { a.err = errBoom })
		for i := range 600 {
			b.in(time.Duration(i) * time.Second)
		}
		a.in(0)
		c.start()
		advance(10 * time.Minute)
		b.wantFired(600, 2*time.Millisecond)
		a.wantFired(0, 0)
		want := 250 * time.Millisecond
		for i, gap := range a.gaps(0) {
			if !near(gap, want, 0.21) || gap > 30*time.Second+10*time.Millisecond {
				t.Errorf("pause %d is %v, want about %v", i, gap, want)
			}
			want = min(2*want, 25*time.Second)
		}
		if n := a.count(); n < 25 || n > 40 {
			t.Errorf("%d attempts in ten minutes", n)
		}
		if n := len(c.log.lines("level=ERROR", "component=a", errBoom.Error())); n != a.count() {
			t.Errorf("%d lines for %d failures", n, a.count())
		}
	})
}

// D-6: after a success the next failure begins with the shortest delay.
func TestSchedulerRecovers(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		for range 2 {
			c.locked(func() { a.err = errAway })
			c.notify()
			advance(10 * time.Minute)
			a.in(0)
			c.locked(func() { a.err = nil })
			advance(40 * time.Second)
		}
		a.wantFired(2, 40*time.Second)
		from := a.count()
		c.locked(func() { a.err = errAway })
		c.notify()
		advance(time.Second)
		if gaps := a.gaps(from); len(gaps) == 0 || !near(gaps[0], 250*time.Millisecond, 0.25) {
			t.Errorf("after a recovery it paused %v", gaps)
		}
		if len(c.log.lines("level=WARN")) == 0 || len(c.log.lines("level=ERROR")) != 0 {
			t.Error("a database that is away is worth a warning, not an error")
		}
	})
}

// D-6: the same if its next due time cannot be read.
func TestSchedulerBlindAgenda(t *testing.T) {
	clock(t, day, []string{"a", "b"}, func(c *clockwork) {
		a, b := c.plans[0], c.plans[1]
		c.locked(func() { a.noDueTime = errBoom })
		for i := range 60 {
			b.in(time.Duration(i) * time.Second)
		}
		c.start()
		advance(time.Minute)
		b.wantFired(60, 2*time.Millisecond)
		if n := a.count(); n > 400 {
			t.Errorf("%d polls in a minute", n)
		}
		c.locked(func() { a.noDueTime = nil })
		a.in(time.Minute)
		advance(2 * time.Minute)
		a.wantFired(1, 2*time.Millisecond)
	})
}

// D-72: something due that an open transaction holds is polled for after 1, 2, 4 … 64 ms:
// soon after that ends, and what is due next is not late because of it.
func TestSchedulerLooksInVain(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		a := c.plans[0]
		c.locked(func() { a.held = true })
		a.in(0)
		c.notify()
		c.start()
		advance(10 * time.Second)
		gaps := a.gaps(1)
		for i, gap := range gaps[2:] {
			if want := time.Millisecond << min(i+2, 6); gap > want || gap < want/2 {
				c.t.Fatalf("empty poll %d is %v after the one before: %v", i+2, gap, gaps[:i+3])
			}
		}
		a.in(0, 5*time.Millisecond)
		c.locked(func() { a.held, a.dues = false, a.dues[1:] })
		advance(100 * time.Millisecond)
		a.wantFired(2, 65*time.Millisecond)
		from := a.count()
		advance(time.Hour)
		if n := a.count() - from; n > 1 {
			t.Errorf("%d polls when there was nothing to do", n)
		}
	})
}

// D-72: without notifications it polls every second.
func TestSchedulerDeaf(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.locked(func() { c.refused = errAway })
		a := c.plans[0]
		c.start()
		advance(time.Second)
		from := a.count() - 1
		a.in(500 * time.Millisecond)
		advance(time.Minute)
		a.wantFired(1, time.Second)
		if gaps := a.gaps(from); slices.Max(gaps) != time.Second || len(gaps) > 65 {
			t.Errorf("polls %v apart", gaps)
		}
		c.locked(func() { c.refused = nil })
		advance(2 * time.Second)
		from = a.count()
		advance(time.Hour)
		if n := a.count() - from; n != 0 {
			t.Errorf("%d polls after notifications arrive again", n)
		}
	})
}

// D-856: what is scheduled while a transaction that may schedule is open is found soon, and a transaction that stays
// open costs a poll a second.
func TestSchedulerBesideOpenTransaction(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.locked(func() { c.refused = engine.ErrUncommitted })
		a := c.plans[0]
		c.start()
		advance(10 * time.Millisecond)
		a.in(0)
		advance(time.Second)
		a.wantFired(1, 20*time.Millisecond)
		from := a.count()
		advance(time.Minute)
		if n := a.count() - from; n > 70 {
			t.Errorf("%d polls in a minute", n)
		}
	})
}

// D-110: the last success is when all sources were up to date.
func TestSchedulerLastSuccess(t *testing.T) {
	clock(t, time.Minute, []string{"a", "b"}, func(c *clockwork) {
		c.start()
		if !worker.NewScheduler(c.cfg).LastSuccess().IsZero() {
			t.Error("a success before the start")
		}
		advance(time.Hour)
		well := c.LastSuccess()
		if time.Since(well) > time.Minute {
			t.Errorf("the last success was %v ago", time.Since(well))
		}
		c.locked(func() { c.plans[1].err = errBoom })
		advance(time.Hour)
		if broken := c.LastSuccess().Sub(well); broken > time.Minute {
			t.Errorf("a success %v after it broke", broken)
		}
		c.locked(func() { c.plans[1].err = nil })
		advance(time.Hour)
		if time.Since(c.LastSuccess()) > time.Minute {
			t.Error("no success when it was well again")
		}
	})
}

// D-19: it ends at once, also while much is due.
func TestSchedulerEnds(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		advance(time.Second)
		c.locked(func() { a.batch = 1 })
		a.in(make([]time.Duration, 1000)...)
		c.notify()
		c.stop()
		if len(c.log.lines("level=")) != 0 {
			t.Errorf("it complained: %v", c.log.lines("level="))
		}
	})
}

// A shutdown is no failure of a source.
func TestSchedulerStoppedWhileFiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &clockwork{t: t, notifier: make(chan struct{}, 1)}
		s := worker.NewScheduler(worker.ScheduleConfig{DB: c.database(), Logger: slog.New(slog.NewTextHandler(&c.log, nil)), Sources: []worker.Source{slow{}}})
		go func() { _ = s.Run(ctx) }()
		advance(time.Second)
		cancel()
		synctest.Wait()
		if lines := c.log.lines("level="); len(lines) != 0 || !c.closed || !s.LastSuccess().IsZero() {
			t.Errorf("it logged %v, its waiter is closed: %v, last success %v", lines, c.closed, s.LastSuccess())
		}
	})
}

// slow is a source whose Dispatch never returns.
type slow struct{}

func (slow) Name() string { return "slow" }

func (slow) Dispatch(ctx context.Context) (int64, error) {
	<-ctx.Done()
	return 0, errors.Join(errBoom, ctx.Err())
}

func (slow) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }

// D-440, D-72: the time until something is due counts from before the request.
func TestNextDueCountsFromTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ due, want time.Duration }{{5 * time.Second, 3 * time.Second}, {time.Second, 1}, {0, 0}, {-time.Second, -time.Second}} {
			sent := time.Now()
			time.Sleep(2 * time.Second)
			if got := worker.Remaining(sent, c.due); got != c.want {
				t.Errorf("due in %v: %v, want %v", c.due, got, c.want)
			}
		}
	})
}
