package worker_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// process is a simulated process: a loop on each queue and a scheduler.
type process struct {
	m      *simulation
	n      int
	gate   worker.Gate
	slots  *worker.Slots
	lanes  []*lane
	clocks *lane // of the scheduler
	stop   context.CancelFunc

	killed, frozen bool
	stopped        time.Time // when it was asked to stop
	troubled       time.Time // when something last went wrong
	held           []*step   // while it is frozen
	ended          int       // lanes that returned; guarded by the simulation's lock
	excused        bool      // it was frozen while it stopped
	checked        bool      // after it ended
	endedAt        time.Time // guarded by the simulation's lock
	slotted        int       // handlers with slots that run
}

// lane is a loop of a process, or its scheduler.
type lane struct {
	p         *process
	n         int
	store     *store
	link      *link
	schedules bool // a scheduler

	mu      sync.Mutex
	replies map[string]fate // of calls under way, by name
	known   map[string]bool // topics known to be paused; "": the queue

	latest   uuid.UUID // of the claim under way
	calls    int       // of the main cycle, that are under way
	runs     int       // handlers that run
	busy     time.Time // when it last held or ran something
	failures int       // claims in a row
	failed   time.Time // when the last one did
	barren   int       // calls in the window since anything came of one
	window   time.Time
	inside   int // calls of its maintenance under way
	entered  time.Time
	spent    time.Duration // on those
	unread   int           // how many of them failed in a row
	resting  time.Time     // until then its maintenance backs off
}

const scheduler = 9 // the lane of schedulers

// launch starts a process.
func (m *simulation) launch() *process {
	p := &process{m: m, n: len(m.processes), slots: worker.NewSlots(m.slots, m.ownSlots), troubled: time.Now()}
	m.processes = append(m.processes, p)
	m.note("process %d starts", p.n)
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	begin := func(l *lane, run func(context.Context) error) {
		l.p, l.busy, l.window = p, time.Now(), time.Now()
		l.replies, l.known = map[string]fate{}, map[string]bool{}
		l.link.before, l.link.after = l.request, l.reply
		// Loops of a process wait for each other, until the same time.
		l.link.late = time.Duration(1 + l.n)
		go func() {
			if err := run(ctx); err != nil {
				m.complain("process %d: Run returned %v", p.n, err)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			p.ended++
			p.endedAt = time.Now()
			m.rouse()
		}()
	}
	for i, s := range m.queues {
		l := &lane{n: i, store: s, link: &link{s: s}}
		p.lanes = append(p.lanes, l)
		begin(l, worker.New(m.config(p, l)).Run)
	}
	l := &lane{n: scheduler, schedules: true, link: &link{s: m.clock}}
	p.clocks = l
	begin(l, worker.NewScheduler(worker.ScheduleConfig{
		DB: lanes{l: l}, Logger: slog.New(slog.DiscardHandler), Jitter: l.jitter,
		Sources: []worker.Source{source{l, "timers"}, source{l, "jobs"}},
	}).Run)
	return p
}

func (m *simulation) config(p *process, l *lane) worker.Config[payload] {
	c := worker.Config[payload]{
		Queue: l.link, Logger: slog.New(slog.DiscardHandler), Jitter: l.jitter, Gate: &p.gate,
		Handle:      func(ctx context.Context, i item) error { return m.handle(ctx, l, i) },
		Policy:      func(string) worker.RetryPolicy { return m.policy() },
		Lease:       m.lease,
		Concurrency: m.handlers,
		BatchSize:   m.batch,
		Grace:       m.grace,
		PollMin:     250*time.Millisecond + 3,
		PollMax:     m.pollMost,
		FlushDelay:  5*time.Millisecond + 1,

		Paused:        l.paused,
		RefreshPauses: l.refresh,
		Limited:       func(topic string) bool { return topic == "limited" },
		SlotsOf: func(topic string) *worker.Slots {
			if topic == "slots" {
				return p.slots
			}
			return nil
		},
	}
	if m.ownSlots {
		c.Extra = m.slots
	}
	return c
}

func (m *simulation) policy() worker.RetryPolicy {
	return worker.RetryPolicy{MaxAttempts: m.attempts, Delay: policyDelay}
}

func policyDelay(failures int) time.Duration {
	return time.Duration(min(failures, 5))*700*time.Millisecond + 7
}

// jitter varies a delay by what the seed, the time and the delay decide: two goroutines may ask
// at once, in any order.
func (l *lane) jitter(d time.Duration, share float64) time.Duration {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, l.p.m.seed, l.p.n, l.n, time.Since(l.p.m.began), d, share)
	part := float64(h.Sum64()>>11)/(1<<53)*2 - 1
	return d + time.Duration(part*share*float64(d))
}

func (l *lane) paused(topic string) worker.PauseState {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.known[""]:
		return worker.QueuePaused
	case l.known[topic]:
		return worker.TopicPaused
	}
	return worker.NotPaused
}

// refresh reads what is paused.
func (l *lane) refresh(ctx context.Context) error {
	var paused map[string]bool
	err := l.link.do(ctx, &call{op: "pauses"}, func() { paused = maps.Clone(l.store.paused) })
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known = paused
	}
	return err
}

func callKey(c *call) string { return fmt.Sprint(c.op, c.nth) }

// request waits until a call reaches the database.
func (l *lane) request(ctx context.Context, c *call) error {
	f := l.p.m.park(ctx, &step{key: stepKey{l.p.n, l.n, c.op, 0, c.nth, 0}, lane: l, call: c})
	if f.err != nil {
		return f.err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replies[callKey(c)] = f
	return nil
}

// reply waits until the reply of a call, which took effect, reaches the process.
func (l *lane) reply(ctx context.Context, c *call) error {
	l.mu.Lock()
	f := l.replies[callKey(c)]
	delete(l.replies, callKey(c))
	l.mu.Unlock()
	s := &step{key: stepKey{l.p.n, l.n, c.op, 0, c.nth, 1}, lane: l, call: c, fate: f}
	return l.p.m.park(ctx, s).late
}

// handling is what a handler does.
type handling int

const (
	succeeds handling = iota
	fails
	retriesAfter
	snoozes
	failsForGood
	panics
	exits
	gives // the cause why its context ended
	returnsCancelled
)

func (h handling) String() string {
	return []string{"succeeds", "fails", "retries", "snoozes", "fails for good", "panics", "exits", "gives the cause", "returns cancelled"}[h]
}

// verdict is what a handler does at its end.
type verdict struct {
	how     handling
	delay   time.Duration
	ignores bool // to its context
}

// run is one execution of a handler.
type run struct {
	held      worker.Held
	lane      *lane
	topic     string
	retry     int
	suspect   time.Time // when it was claimed as one
	ctx       context.Context
	began     time.Time
	ended     bool
	cancelled bool // its context ended before it did
	verdict
}

func (m *simulation) handle(ctx context.Context, l *lane, i item) error {
	r := &run{held: worker.Held{Owner: i.Body.owner, ID: i.ID}, lane: l, topic: i.Topic, retry: i.Retry, ctx: ctx}
	v := m.park(ctx, &step{key: stepKey{l.p.n, l.n, "handle", i.ID, m.claimNumber(r.held.Owner), 0}, lane: l, run: r}).verdict
	switch v.how {
	case succeeds:
		return nil
	case retriesAfter:
		return worker.RetryAfter(v.delay, errBoom)
	case snoozes:
		return worker.Snooze(v.delay)
	case failsForGood:
		return worker.Permanent(errBoom)
	case panics:
		panic("boom")
	case exits:
		runtime.Goexit()
	case gives:
		return context.Cause(ctx)
	case returnsCancelled:
		return fmt.Errorf("interrupted: %w", context.Canceled)
	}
	return errBoom
}

// kill ends a process at once: nothing of it reaches the database or a handler any more.
func (m *simulation) kill(p *process) {
	p.killed = true
	p.stop()
	m.unfreeze(p)
	for _, x := range slices.Clone(m.agenda) {
		if s, ok := x.(*step); ok && s.lane.p == p && !s.void {
			s.void = true
			m.schedule(&step{key: s.key, lane: s.lane, call: s.call, run: s.run, goes: s.goes, at: time.Now(), fate: s.fate})
		}
	}
	for r := range m.running {
		if r.lane.p == p {
			delete(m.running, r)
		}
	}
}

// freeze takes the processor from a process.
func (m *simulation) freeze(p *process) {
	p.frozen, p.excused = true, !p.stopped.IsZero()
}

func (m *simulation) unfreeze(p *process) {
	p.frozen, p.troubled = false, time.Now()
	held := p.held
	p.held = nil
	for _, s := range held {
		s.at = time.Now().Add(m.upTo(time.Millisecond))
		m.schedule(s)
	}
	for _, l := range p.lanes {
		l.spent, l.entered = l.spent+time.Hour, time.Now() // it learned nothing meanwhile
	}
}

var errReadOnly = &engine.Error{Op: "fake", Class: engine.ErrReadOnly, Err: errBoom}
var errUnknown = &engine.Error{Op: "fake", Class: engine.ErrCommitUnknown, Err: errBoom}

// Schedulers.

// lanes is the database of a scheduler, of which it uses only the waiter.
type lanes struct {
	engine.DB
	l *lane
}

func (d lanes) Waiter(string) engine.Waiter { return d.l.link.Waiter() }

// source is what a scheduler dispatches: items of the simulation's clock, which become items of
// the first queue, or a job that is due again and again.
type source struct {
	l    *lane
	name string
}

func (s source) Name() string { return s.name }

func (s source) Dispatch(ctx context.Context) (n int64, err error) {
	m := s.l.p.m
	err = s.l.link.do(ctx, &call{op: "dispatch " + s.name}, func() { n = m.dispatch(s) })
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (s source) NextDue(ctx context.Context) (d time.Duration, ok bool, err error) {
	m := s.l.p.m
	err = s.l.link.do(ctx, &call{op: "due " + s.name}, func() { d, ok = m.nextDue(s) })
	return d, ok && err == nil, err
}

const (
	jobPeriod  = 7*time.Second + 13
	timersMost = 4 // that one call dispatches
)

// dispatch is called with the lock of the clock.
func (m *simulation) dispatch(s source) (n int64) {
	var late time.Time
	if s.name == "jobs" {
		if now := time.Now(); !m.calm && !now.Before(m.jobDue) {
			late, n, m.jobDue = m.jobDue, 1, m.jobDue.Add(jobPeriod)
			m.runsDue++
		}
	} else {
		for _, e := range m.clock.entries {
			if e.place == ready && !e.at.After(time.Now()) && n < timersMost {
				if late.IsZero() || e.at.Before(late) {
					late = e.at
				}
				e.place, e.ends = acked, e.ends+1
				n++
			}
		}
	}
	if n > 0 {
		m.queues[0].add(int(n), "t", 0)
		m.queues[0].notify()
		m.note("process %d dispatches %d of %s", s.l.p.n, n, s.name)
		m.checkDispatch(s, late)
		s.l.progress()
	}
	return n
}

func (m *simulation) nextDue(s source) (d time.Duration, ok bool) {
	if s.name == "jobs" {
		return time.Until(m.jobDue), !m.calm
	}
	for _, e := range m.clock.entries {
		if wait := time.Until(e.at); e.place == ready && (!ok || wait < d) {
			d, ok = wait, true
		}
	}
	return d, ok
}
