package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Scenario T: how long after a timer's due time its handler begins, in a process
// that has nothing else to do.

const (
	timersPerSecond = 20
	timerSeconds    = 15 // of one repetition
	// shortNotice is how long before it is due a timer may be scheduled.
	shortNotice = 100 * time.Millisecond
)

func latenesses(n int) []scenario {
	title := fmt.Sprintf("%d timers a second, every other scheduled through another handle, from due to the handler's start", timersPerSecond)
	long := max(1, min(n, 60_000)*timerSeconds/60_000)
	count := long * timersPerSecond
	var all []scenario
	for _, e := range places() {
		all = append(all, scenario{"T", e.engine, title, nil, []system{
			{"all scheduled before the first is due", count, lateness(e.open, scheduleAhead)},
			{"each scheduled 100 ms ahead", count, lateness(e.open, scheduleShortly)},
			{"a job, `* * * * * *`", long, lateness(e.open, scheduleJob)},
		}})
	}
	return all
}

// planner makes n of something that falls due, through two handles.
type planner func(ctx context.Context, handles [2]*pawl.Pawl, n int) error

// lateness measures beside a Run with all defaults.
func lateness(open opener, plan planner) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		var handles [2]*pawl.Pawl
		for i := range handles {
			db, done, err := open(ctx, r)
			if err != nil {
				return err
			}
			defer done()
			if handles[i], err = newPawl(db, false); err != nil {
				return err
			}
		}
		l := &late{all: make(chan struct{}), want: r.n}
		handles[0].Handle("tick", l.started)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- handles[0].Run(ctx) }()
		time.Sleep(time.Second) // until it listens and sleeps
		r.written = r.n
		if _, err := r.measured(ctx, r.n, func() error {
			if err := plan(ctx, handles, r.n); err != nil {
				return err
			}
			return l.await()
		}); err != nil {
			return err
		}
		stop()
		if err := <-ended; err != nil {
			return err
		}
		r.figures[colLate] = quantile(l.by, 0.5)
		r.figures[colP90] = quantile(l.by, 0.9)
		r.figures[colP99] = quantile(l.by, 0.99)
		r.figures[colMax] = slices.Max(l.by)
		return nil
	}
}

func newPawl(db engine.DB, stopWhenEmpty bool) (*pawl.Pawl, error) {
	return pawl.New(db, pawl.Options{StopWhenEmpty: stopWhenEmpty})
}

// late is by how many milliseconds handlers were late.
type late struct {
	mu   sync.Mutex
	by   []float64
	want int
	all  chan struct{}
}

func (l *late) started(_ context.Context, m *outbox.Message) error {
	by := milliseconds(time.Since(m.Due))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by = append(l.by, by); len(l.by) == l.want {
		close(l.all)
	}
	return nil
}

func (l *late) await() error {
	select {
	case <-l.all:
		return nil
	case <-time.After(stall + timerSeconds*time.Second):
		l.mu.Lock()
		defer l.mu.Unlock()
		return fmt.Errorf("%d of %d fired", len(l.by), l.want)
	}
}

// poisson are random moments from a time on.
func poisson(from time.Time, n int) []time.Time {
	moments := make([]time.Time, n)
	for i := range moments {
		from = from.Add(time.Duration(rand.ExpFloat64() / timersPerSecond * float64(time.Second)))
		moments[i] = from
	}
	return moments
}

func tickTimer(i int, due time.Time) timer.Timer {
	body := payload()
	binary.BigEndian.PutUint64(body, uint64(i))
	return timer.Timer{Topic: "tick", Payload: body, Due: due}
}

func scheduleAhead(ctx context.Context, handles [2]*pawl.Pawl, n int) error {
	var timers [2][]timer.Timer
	for i, due := range poisson(time.Now().Add(time.Second), n) {
		timers[i%2] = append(timers[i%2], tickTimer(i, due))
	}
	for i, batch := range timers {
		if _, err := handles[i].Timers.ScheduleBatch(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func scheduleShortly(ctx context.Context, handles [2]*pawl.Pawl, n int) error {
	for i, due := range poisson(time.Now().Add(2*shortNotice), n) {
		time.Sleep(time.Until(due.Add(-shortNotice)))
		if _, err := handles[i%2].Timers.Schedule(ctx, tickTimer(i, due)); err != nil {
			return err
		}
	}
	return nil
}

func scheduleJob(ctx context.Context, handles [2]*pawl.Pawl, _ int) error {
	return handles[1].Jobs.Put(ctx, job.Job{Name: "tick", Schedule: "* * * * * *", Topic: "tick", Payload: payload()})
}
