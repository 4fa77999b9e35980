package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/bravellian/pawl/internal/worker"
)

// scenario holds the parameters of a simulation; seed determines what happens when.
type scenario struct {
	seed        uint64
	items       int
	loops       int
	slots       int
	batch       int
	lease       time.Duration
	attempts    int
	failBefore  int // per mille of calls that fail without an effect
	failAfter   int // per mille of calls that fail though they took effect
	latency     time.Duration
	outages     int // of all links, each up to a minute
	endedLeases int // leases ended before their time
	restarts    int // graceful stops of a loop, followed by a new one
	crashes     int // loops that stop answering for good, followed by a new one
	handlerMost time.Duration
	failures    int // per mille of executions that fail, panic, snooze, …
}

func drawScenario(t *rapid.T) scenario {
	return scenario{
		seed:        rapid.Uint64().Draw(t, "seed"),
		items:       rapid.IntRange(1, 120).Draw(t, "items"),
		loops:       rapid.IntRange(1, 4).Draw(t, "loops"),
		slots:       rapid.SampledFrom([]int{1, 2, 5, 20}).Draw(t, "slots"),
		batch:       rapid.SampledFrom([]int{1, 3, 10, 100}).Draw(t, "batch"),
		lease:       rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Second, 30 * time.Second}).Draw(t, "lease"),
		attempts:    rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "attempts"),
		failBefore:  rapid.SampledFrom([]int{0, 0, 50, 200}).Draw(t, "failBefore"),
		failAfter:   rapid.SampledFrom([]int{0, 0, 50, 200}).Draw(t, "failAfter"),
		latency:     rapid.SampledFrom([]time.Duration{0, time.Millisecond, 50 * time.Millisecond, 700 * time.Millisecond}).Draw(t, "latency"),
		outages:     rapid.IntRange(0, 2).Draw(t, "outages"),
		endedLeases: rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "endedLeases"),
		restarts:    rapid.IntRange(0, 4).Draw(t, "restarts"),
		crashes:     rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "crashes"),
		handlerMost: rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond, 2 * time.Second, 20 * time.Second}).Draw(t, "handlerMost"),
		failures:    rapid.SampledFrom([]int{0, 100, 400}).Draw(t, "failures"),
	}
}

// OBX-058, OBX-059, OBX-100, D-12, D-13, D-15, D-19: several loops on one queue, whose
// calls fail before or after taking effect, whose leases are ended early, and that are
// stopped and killed at random: in the end every item was acked or failed exactly once,
// each end is one that a handler or the policy decided, and no handler ran without a lease
// or beside another one that still had its own.
func TestSimulation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawScenario(rt)
		var problems []string
		synctest.Test(t, func(*testing.T) { problems = sc.run() })
		for _, p := range problems {
			rt.Error(p)
		}
	})
}

// sim is a running scenario.
type sim struct {
	scenario
	rng  *rand.Rand
	s    *store
	away bool // an outage of the database
	calm bool // nothing goes wrong any more
	all  []*rig
	live []*rig
	dead map[*rig]bool
}

// run returns what went wrong.
func (sc scenario) run() []string {
	m := &sim{scenario: sc, s: newStore(), rng: rand.New(rand.NewPCG(sc.seed, 1)), dead: map[*rig]bool{}}
	for i := range sc.items {
		m.s.add(1, "t", time.Duration(i%3)*m.upTo(20*time.Second))
	}
	plan := m.plan()
	for range sc.loops {
		m.launch()
	}
	for _, act := range plan {
		time.Sleep(m.upTo(8 * time.Second))
		act()
	}
	m.settleDown()
	return m.verdict()
}

func (m *sim) upTo(d time.Duration) time.Duration {
	m.s.mu.Lock() // guards rng as well: handlers draw from it
	defer m.s.mu.Unlock()
	return time.Duration(m.rng.Int64N(int64(d) + 1))
}

// chance is true so many times in a thousand, until failures stop.
func (m *sim) chance(perMille int) bool {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return !m.calm && m.rng.IntN(1000) < perMille
}

func (m *sim) launch() {
	policy := worker.RetryPolicy{MaxAttempts: m.attempts, Jitter: 0.1, Delay: func(n int) time.Duration { return time.Duration(min(n, 5)) * time.Second }}
	r := newRig(m.s, worker.Config[payload]{Lease: m.lease, Concurrency: m.slots, BatchSize: m.batch, Grace: 3 * time.Second,
		Policy: func(string) worker.RetryPolicy { return policy }}, m.handler)
	r.link.before = func(ctx context.Context, c *call) error {
		if err := until(ctx, m.upTo(m.latency)); err != nil {
			return err
		}
		m.s.mu.Lock()
		gone := m.away || m.dead[r]
		m.s.mu.Unlock()
		if gone || m.chance(m.failBefore) {
			return errAway
		}
		return nil
	}
	r.link.after = func(_ context.Context, c *call) error {
		if m.chance(m.failAfter) {
			return errAway
		}
		return nil
	}
	m.all, m.live = append(m.all, r), append(m.live, r)
	r.start()
}

// handler returns a random result after a random time. It mostly respects its context.
func (m *sim) handler(ctx context.Context, i item) error {
	d := m.upTo(m.handlerMost)
	if m.chance(30) {
		time.Sleep(d)
	} else if err := until(ctx, d); err != nil {
		if m.chance(500) {
			return fmt.Errorf("interrupted")
		}
		return context.Cause(ctx)
	}
	if !m.chance(m.failures) {
		return nil
	}
	switch m.upTo(4) {
	case 0:
		return worker.RetryAfter(m.upTo(3*time.Second), errBoom)
	case 1:
		return worker.Snooze(m.upTo(3 * time.Second))
	case 2:
		panic("boom")
	case 3:
		if m.chance(200) {
			return worker.Permanent(errBoom)
		}
	}
	return errBoom
}

// plan returns the list of events, in random order.
func (m *sim) plan() (acts []func()) {
	add := func(n int, act func()) {
		for range n {
			acts = append(acts, act)
		}
	}
	add(m.outages, func() {
		m.setAway(true)
		time.Sleep(m.upTo(time.Minute))
		m.setAway(false)
	})
	add(m.endedLeases, func() { m.s.endLease(worker.Position(1 + m.upTo(time.Duration(m.items-1)))) })
	add(m.restarts, func() {
		m.remove().end()
		m.launch()
	})
	add(m.crashes, func() {
		r := m.remove()
		m.s.mu.Lock()
		m.dead[r] = true
		m.s.mu.Unlock()
		r.stop()
		m.launch()
	})
	m.rng.Shuffle(len(acts), func(i, k int) { acts[i], acts[k] = acts[k], acts[i] })
	return acts
}

func (m *sim) setAway(away bool) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.away = away
}

// remove takes a random loop out of the live ones.
func (m *sim) remove() *rig {
	i := int(m.upTo(time.Duration(len(m.live) - 1)))
	r := m.live[i]
	m.live = append(m.live[:i], m.live[i+1:]...)
	return r
}

// settleDown ends the run: failures stop, and after a long while so do the loops.
func (m *sim) settleDown() {
	m.s.mu.Lock()
	m.calm = true
	m.s.mu.Unlock()
	// Most end within minutes. With answers that take most of a short lease it is lost so
	// often that 120 items of one slot took over an hour.
	for range 24 * 60 {
		time.Sleep(time.Minute)
		if m.s.count(ready)+m.s.count(leased) == 0 {
			break
		}
	}
	for _, r := range m.live {
		r.end()
	}
	for _, r := range m.all {
		<-r.done
	}
}

func (m *sim) verdict() []string {
	s := m.s
	wrong := s.violations()
	executions := map[worker.Position][]*execution{}
	for _, r := range m.all {
		for _, x := range r.executions(0) {
			executions[x.id] = append(executions[x.id], x)
		}
	}
	for _, e := range s.entries {
		complain := func(format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("item %d: ", e.id)+fmt.Sprintf(format, args...))
		}
		if (e.place != acked && e.place != dead) || e.ends != 1 {
			complain("is %v, ended %d times", e.place, e.ends)
			continue
		}
		good, late := 0, 0 // late: after its context ended
		for _, x := range executions[e.id] {
			switch {
			case x.err != nil || x.end.IsZero():
			case x.cancelled.IsZero():
				good++
			default:
				late++
			}
			for _, y := range executions[e.id] {
				beside := x != y && !y.start.Before(x.start) && y.start.Before(x.end)
				if beside && x.owner == y.owner {
					complain("handed out twice under one claim")
				}
				// A handler whose lease was lost is cancelled before the next one starts.
				if beside && !e.endedEarly && (x.cancelled.IsZero() || x.cancelled.After(y.start)) {
					complain("started at %v beside an execution started at %v that was not cancelled", y.start, x.start)
				}
			}
		}
		if e.place == acked && good+late == 0 {
			complain("acked although no handler succeeded")
		}
		if m.attempts > 0 && e.retry > m.attempts+e.lapses {
			complain("%d retries of %d attempts", e.retry, m.attempts)
		}
		if good > 1+e.lapses {
			complain("succeeded %d times although its lease lapsed only %d times", good, e.lapses)
		}
	}
	return wrong
}
