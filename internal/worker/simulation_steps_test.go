package worker_test

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// The simulation takes one step at a time. Whatever the system calls (its database, its
// handlers) waits until the simulation lets it go on, which the seed decides: when, and with
// what outcome. Between two steps everything runs until it waits again, and time passes only
// then. So at most one goroutine at a time has anything to decide.

// step is a call of the database or a handler that waits to go on.
type step struct {
	key   stepKey
	lane  *lane
	at    time.Time // when it goes on
	order int       // of admission
	fate  fate
	call  *call // nil for handlers
	run   *run  // nil for calls
	goes  chan fate
	// of is what waited before its context ended.
	of   *step
	void bool // gone on, or replaced
}

// stepKey names a step, the same in every run of a seed. Steps that arrive together are
// admitted in this order.
type stepKey struct {
	process, lane int
	op            string
	id            int64
	nth           int
	phase         int // request, reply
}

func (k stepKey) compare(o stepKey) int {
	return cmp.Or(cmp.Compare(k.process, o.process), cmp.Compare(k.lane, o.lane), cmp.Compare(k.op, o.op),
		cmp.Compare(k.id, o.id), cmp.Compare(k.nth, o.nth), cmp.Compare(k.phase, o.phase))
}

// fate is what a step goes on with.
type fate struct {
	err   error         // of a call, without an effect
	late  error         // of a call, after its effect
	reply time.Duration // how long a call's reply takes
	verdict
}

// event is something that happens at some time of its own.
type event struct {
	at    time.Time
	order int
	name  string
	do    func()
}

type agenda []any // steps and events, the next one first

func when(x any) (time.Time, int) {
	switch x := x.(type) {
	case *step:
		return x.at, x.order
	case *event:
		return x.at, x.order
	}
	panic("neither a step nor an event")
}

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, k int) bool {
	at, order := when(a[i])
	other, otherOrder := when(a[k])
	return cmp.Or(at.Compare(other), cmp.Compare(order, otherOrder)) < 0
}
func (a agenda) Swap(i, k int) { a[i], a[k] = a[k], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last], *a = nil, (*a)[:last]
	return x
}

// stepper takes the steps of a simulation.
type stepper struct {
	rng    *rand.Rand // for the simulation's goroutine alone
	began  time.Time
	agenda agenda
	orders int
	steps  int // calls of the database, and transitions of handlers
	over   bool
	admit  func(*step)
	goOn   func(*step)

	wake chan struct{}

	mu       sync.Mutex
	arrivals []*step
	keep     bool     // the trace as text
	trace    []string // what happened
	sum      uint64   // of the trace
	wrong    []string
}

func newStepper(seed uint64, keep bool) *stepper {
	return &stepper{rng: rand.New(rand.NewPCG(seed, 310)), began: time.Now(), keep: keep, wake: make(chan struct{}, 1)}
}

// note adds a line to the trace. Any goroutine may call it.
func (m *stepper) note(format string, args ...any) {
	line := fmt.Sprintf("%v ", time.Since(m.began)) + fmt.Sprintf(format, args...)
	h := fnv.New64a()
	_, _ = h.Write([]byte(line))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum = m.sum*1099511628211 ^ h.Sum64()
	if m.keep {
		m.trace = append(m.trace, line)
	}
}

// complain records a breach of an invariant, and ends the simulation. Any goroutine may call it.
func (m *stepper) complain(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, fmt.Sprintf("after %v: ", time.Since(m.began))+fmt.Sprintf(format, args...))
}

// park waits until the simulation lets a step go on. If ctx ends meanwhile it is a step of its
// own.
func (m *stepper) park(ctx context.Context, s *step) fate {
	m.arrive(s)
	select {
	case f := <-s.goes:
		return f
	case <-ctx.Done():
	}
	again := &step{key: s.key, lane: s.lane, call: s.call, run: s.run, of: s}
	m.arrive(again)
	return <-again.goes
}

func (m *stepper) arrive(s *step) {
	s.goes = make(chan fate, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrivals = append(m.arrivals, s)
	m.rouse()
}

// rouse ends the simulation's sleep.
func (m *stepper) rouse() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// schedule puts a step or an event on the agenda.
func (m *stepper) schedule(x any) {
	m.orders++
	switch x := x.(type) {
	case *step:
		x.order = m.orders
	case *event:
		x.order = m.orders
	}
	heap.Push(&m.agenda, x)
}

func (m *stepper) after(d time.Duration, name string, do func()) {
	m.schedule(&event{at: time.Now().Add(d), name: name, do: do})
}

// loop takes steps until the simulation is over.
func (m *stepper) loop() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		synctest.Wait()
		m.admitAll()
		if m.over {
			return
		}
		if len(m.agenda) == 0 {
			<-m.wake
			continue
		}
		if at, _ := when(m.agenda[0]); time.Until(at) > 0 {
			timer.Reset(time.Until(at))
			select {
			case <-timer.C:
			case <-m.wake:
			}
			continue
		}
		switch next := heap.Pop(&m.agenda).(type) {
		case *step:
			if !next.void {
				m.goOn(next)
			}
		case *event:
			if next.name != "" {
				m.note("%s", next.name)
			}
			next.do()
		}
	}
}

// admitAll decides about what arrived since the last step.
func (m *stepper) admitAll() {
	m.mu.Lock()
	arrived := m.arrivals
	m.arrivals = nil
	m.mu.Unlock()
	slices.SortFunc(arrived, func(a, b *step) int { return a.key.compare(b.key) })
	for _, s := range arrived {
		if s.of != nil {
			s.of.void = true
		}
		m.admit(s)
	}
}

// upTo returns a random duration of at most d and an odd number of nanoseconds, so that
// hardly anything happens at the same time: which of several timers fires first the seed
// does not decide.
func (m *stepper) upTo(d time.Duration) time.Duration {
	return time.Duration(m.rng.Int64N(int64(d)+2)) | 1
}

// chance is true so many times in a thousand.
func (m *stepper) chance(perMille int) bool { return m.rng.IntN(1000) < perMille }

func pick[T any](m *stepper, of ...T) T { return of[m.rng.IntN(len(of))] }
