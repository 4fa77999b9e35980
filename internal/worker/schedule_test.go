package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

	mu     sync.Mutex
	diary  []string         // what it did, in order
	deaf   bool             // arming fails
	arming func(c *planner) // called while it arms
	plans  []*planner
	closed bool
	start  func()
	stop   func()
}

// planner is an source.
type planner struct {
	c     *clockwork
	name  string
	batch int

	dues  []time.Time
	held  bool        // somebody's open transaction has what is due
	err   error       // of Fire
	blind error       // of NextDue
	looks []time.Time // calls of Fire
	fired []time.Duration
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
				t.Error("the scheduler did not end, or left its sleeper open")
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
	c.diary = append(c.diary, fmt.Sprintf(format, args...))
}

// database is one of which a scheduler needs nothing but a sleeper.
func (c *clockwork) database() engine.DB { return sleepers{c: c} }

type sleepers struct {
	engine.DB
	c *clockwork
}

func (s sleepers) Waiter(queue string) engine.Waiter {
	if queue != worker.ScheduleQueue {
		s.c.t.Errorf("it sleeps on queue %q", queue)
	}
	return &bed{c: s.c}
}

type bed struct {
	c     *clockwork
	armed bool
}

func (b *bed) Subscribe(context.Context) (again bool, err error) {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	b.c.note("arm")
	if b.c.arming != nil {
		b.c.arming(b.c.plans[0])
	}
	if b.c.deaf {
		return false, errAway
	}
	again, b.armed = !b.armed, true
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

// ring tells the scheduler of news.
func (c *clockwork) ring() {
	select {
	case c.notifier <- struct{}{}:
	default:
	}
}

func (p *planner) Name() string { return p.name }

// Fire does a batch of what is due and notes how late each was.
func (p *planner) Fire(context.Context) (n int64, err error) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	now := time.Now()
	p.c.note("look")
	p.looks = append(p.looks, now)
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
	if p.blind != nil || len(p.dues) == 0 {
		return 0, false, p.blind
	}
	return time.Until(p.dues[0]), true, nil
}

// in has things fall due after these times from now.
func (p *planner) in(ds ...time.Duration) {
	p.c.locked(func() { p.add(ds...) })
}

func (p *planner) add(ds ...time.Duration) {
	for _, d := range ds {
		p.dues = append(p.dues, time.Now().Add(d))
	}
	slices.SortFunc(p.dues, time.Time.Compare)
}

// wantFired insists on how many were done, none early and none later than most.
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

// gaps are the times between looks since one.
func (p *planner) gaps(since int) (gaps []time.Duration) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	for i := since + 1; i < len(p.looks); i++ {
		gaps = append(gaps, p.looks[i].Sub(p.looks[i-1]))
	}
	return gaps
}

func (p *planner) count() (n int) {
	p.c.locked(func() { n = len(p.looks) })
	return n
}

func one() []string { return []string{"a"} }

const day = 24 * time.Hour

// D-72: what is due happens then: not before, and a millisecond after at most,
// whether it is moments or months away.
func TestSchedulerFiresWhenDue(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		a := c.plans[0]
		a.in(-time.Hour, 0, time.Millisecond, 3*time.Second, time.Hour, time.Hour, 30*day)
		c.start()
		pass(2 * time.Second)
		c.locked(func() { a.fired = a.fired[1:] }) // it was due before we began
		pass(31 * day)
		a.wantFired(6, 2*time.Millisecond)
		if n := a.count(); n > 60 {
			t.Errorf("%d looks in 31 days", n)
		}
	})
}

// D-72: it sleeps no longer than MaxPollingInterval, default 30 s, without news.
func TestSchedulerSleepIsBounded(t *testing.T) {
	for most, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
		clock(t, most, one(), func(c *clockwork) {
			c.start()
			a := c.plans[0]
			a.in(day)
			pass(time.Second)
			from := a.count() - 1
			pass(10 * want)
			gaps := a.gaps(from)
			if len(gaps) != 10 || slices.Max(gaps) != want || slices.Min(gaps) != want {
				t.Errorf("looks %v apart, want %v", gaps, want)
			}
		})
	}
}

// D-72: a notifier ends the sleep: what is to be done earlier than all the rest is
// done in time.
func TestSchedulerIsWoken(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		a.in(20 * time.Hour)
		for range 10 {
			pass(time.Hour)
			a.in(0)
			c.ring()
			pass(10 * time.Millisecond)
			a.in(time.Minute)
			c.ring()
		}
		pass(time.Hour)
		a.wantFired(20, 6*time.Millisecond)
	})
}

// D-72: the order that misses nothing: look, arm, look once more, sleep. What is
// committed before the arming, and so rings no notifier, is found.
func TestSchedulerLooksAfterArming(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		added := false
		c.arming = func(p *planner) {
			if !added {
				added = true
				p.add(0)
			}
		}
		c.start()
		pass(time.Second)
		c.plans[0].wantFired(1, 0)
		c.locked(func() {
			if got := fmt.Sprint(c.diary); got != "[look arm look look sleep]" { // one of them says that there is no more
				t.Errorf("it did %s", got)
			}
		})
	})
}

// D-72: what is armed already needs no second look.
func TestSchedulerLooksOnceWhenArmed(t *testing.T) {
	clock(t, time.Minute, one(), func(c *clockwork) {
		c.start()
		pass(time.Second)
		c.locked(func() { c.diary = nil })
		pass(time.Minute)
		c.locked(func() {
			if got := fmt.Sprint(c.diary); got != "[look arm sleep]" {
				t.Errorf("it did %s", got)
			}
		})
	})
}

// D-72: a pass does everything that is due: nothing is left for the next look.
func TestSchedulerDrains(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		c.locked(func() { a.batch = 7 })
		pass(time.Second)
		from := a.count()
		a.in(make([]time.Duration, 10_000)...)
		c.ring()
		pass(5 * time.Millisecond)
		a.wantFired(10_000, 5*time.Millisecond)
		if n := a.count() - from; n < 10_000/7 || n > 10_000/7+3 {
			t.Errorf("%d looks", n)
		}
	})
}

// D-6: an source that fails is tried again after 0.25 s … 30 s, and does not hold
// up another one.
func TestSchedulerFailingAgenda(t *testing.T) {
	clock(t, day, []string{"a", "b"}, func(c *clockwork) {
		a, b := c.plans[0], c.plans[1]
		c.locked(func() { a.err = errBoom })
		for i := range 600 {
			b.in(time.Duration(i) * time.Second)
		}
		a.in(0)
		c.start()
		pass(10 * time.Minute)
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

// D-6: when it is well again it is as if nothing had been: the next failure
// begins with the shortest pause.
func TestSchedulerRecovers(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		for range 2 {
			c.locked(func() { a.err = errAway })
			c.ring()
			pass(10 * time.Minute)
			a.in(0)
			c.locked(func() { a.err = nil })
			pass(40 * time.Second)
		}
		a.wantFired(2, 40*time.Second)
		from := a.count()
		c.locked(func() { a.err = errAway })
		c.ring()
		pass(time.Second)
		if gaps := a.gaps(from); len(gaps) == 0 || !near(gaps[0], 250*time.Millisecond, 0.25) {
			t.Errorf("after a recovery it paused %v", gaps)
		}
		if len(c.log.lines("level=WARN")) == 0 || len(c.log.lines("level=ERROR")) != 0 {
			t.Error("a database that is away is worth a warning, not an error")
		}
	})
}

// D-6: the same if it cannot be asked when it is due next.
func TestSchedulerBlindAgenda(t *testing.T) {
	clock(t, day, []string{"a", "b"}, func(c *clockwork) {
		a, b := c.plans[0], c.plans[1]
		c.locked(func() { a.blind = errBoom })
		for i := range 60 {
			b.in(time.Duration(i) * time.Second)
		}
		c.start()
		pass(time.Minute)
		b.wantFired(60, 2*time.Millisecond)
		if n := a.count(); n > 400 {
			t.Errorf("%d looks in a minute", n)
		}
		c.locked(func() { a.blind = nil })
		a.in(time.Minute)
		pass(2 * time.Minute)
		a.wantFired(1, 2*time.Millisecond)
	})
}

// D-72: something due that an open transaction holds is looked for at 1, 2, 4 …
// 64 ms: soon after it ends, and what is due next is not late because of it.
func TestSchedulerLooksInVain(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		a := c.plans[0]
		c.locked(func() { a.held = true })
		a.in(0)
		c.ring()
		c.start()
		pass(10 * time.Second)
		gaps := a.gaps(1)
		for i, gap := range gaps[2:] {
			if want := time.Millisecond << min(i+2, 6); gap > want || gap < want/2 {
				c.t.Fatalf("look %d in vain is %v after the one before: %v", i+2, gap, gaps[:i+3])
			}
		}
		a.in(0, 5*time.Millisecond)
		c.locked(func() { a.held, a.dues = false, a.dues[1:] })
		pass(100 * time.Millisecond)
		a.wantFired(2, 65*time.Millisecond)
		from := a.count()
		pass(time.Hour)
		if n := a.count() - from; n > 1 {
			t.Errorf("%d looks when there was nothing to do", n)
		}
	})
}

// D-72: where nobody can wake it, it looks every second.
func TestSchedulerDeaf(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.locked(func() { c.deaf = true })
		a := c.plans[0]
		c.start()
		pass(time.Second)
		from := a.count() - 1
		a.in(500 * time.Millisecond)
		pass(time.Minute)
		a.wantFired(1, time.Second)
		if gaps := a.gaps(from); slices.Max(gaps) != time.Second || len(gaps) > 65 {
			t.Errorf("looks %v apart", gaps)
		}
		c.locked(func() { c.deaf = false })
		pass(2 * time.Second)
		from = a.count()
		pass(time.Hour)
		if n := a.count() - from; n != 0 {
			t.Errorf("%d looks after it could hear again", n)
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
		pass(time.Hour)
		well := c.LastSuccess()
		if time.Since(well) > time.Minute {
			t.Errorf("the last success was %v ago", time.Since(well))
		}
		c.locked(func() { c.plans[1].err = errBoom })
		pass(time.Hour)
		if broken := c.LastSuccess().Sub(well); broken > time.Minute {
			t.Errorf("a success %v after it broke", broken)
		}
		c.locked(func() { c.plans[1].err = nil })
		pass(time.Hour)
		if time.Since(c.LastSuccess()) > time.Minute {
			t.Error("no success when it was well again")
		}
	})
}

// D-19: it ends at once, also in the middle of a flood.
func TestSchedulerEnds(t *testing.T) {
	clock(t, day, one(), func(c *clockwork) {
		c.start()
		a := c.plans[0]
		pass(time.Second)
		c.locked(func() { a.batch = 1 })
		a.in(make([]time.Duration, 1000)...)
		c.ring()
		c.stop()
		if len(c.log.lines("level=")) != 0 {
			t.Errorf("it complained: %v", c.log.lines("level="))
		}
	})
}

// A shutdown is no failure of an source.
func TestSchedulerStoppedWhileFiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &clockwork{t: t, notifier: make(chan struct{}, 1)}
		s := worker.NewScheduler(worker.ScheduleConfig{DB: c.database(), Logger: slog.New(slog.NewTextHandler(&c.log, nil)), Sources: []worker.Source{slow{}}})
		go func() { _ = s.Run(ctx) }()
		pass(time.Second)
		cancel()
		synctest.Wait()
		if lines := c.log.lines("level="); len(lines) != 0 || !c.closed || !s.LastSuccess().IsZero() {
			t.Errorf("it logged %v, its sleeper is closed: %v, last success %v", lines, c.closed, s.LastSuccess())
		}
	})
}

// slow is an source that never comes to an end.
type slow struct{}

func (slow) Name() string { return "slow" }

func (slow) Fire(ctx context.Context) (int64, error) {
	<-ctx.Done()
	return 0, errors.Join(errBoom, ctx.Err())
}

func (slow) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }
