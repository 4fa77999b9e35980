package pawltest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/timer"
)

// Code that computes due times from time.Now works with a clock that only moves on.
func TestAdvance(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	d.Handle("expire", ok())
	d.Handle("later", ok())
	_, err := d.Timers.Schedule(t.Context(), timer.Timer{Topic: "expire", Due: time.Now().Add(time.Hour)})
	check(t, err)
	_, err = d.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "later", Due: time.Now().Add(2 * time.Hour)})
	check(t, err)
	for _, step := range []struct {
		by   time.Duration
		want string
	}{{0, ""}, {59 * time.Minute, ""}, {time.Minute, "expire"}, {0, ""}, {59 * time.Minute, ""}, {time.Minute, "later"}, {1000 * time.Hour, ""}} {
		d.Clock.Advance(step.by)
		if got := topics(d.MustDrain(t)); got != step.want {
			t.Errorf("%v later it handled %q, want %q", step.by, got, step.want)
		}
	}
	fails(t, func(t testing.TB) { pawltest.New(t).Clock.Advance(-time.Second) }, "cannot be advanced by -1s")
}

// A clock that was set stands still, to the microsecond.
func TestSet(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	d.Handle("expire", ok())
	start := time.Date(2031, 12, 31, 23, 59, 0, 0, time.UTC)
	d.Clock.Set(start)
	_, err := d.Timers.Schedule(t.Context(), timer.Timer{Topic: "expire", Due: start.Add(time.Minute)})
	check(t, err)
	d.AssertTimer(t, pawltest.Due(start.Add(time.Minute), 0))
	d.Clock.Advance(time.Minute - time.Microsecond)
	if got := topics(d.MustDrain(t)); got != "" {
		t.Errorf("handled %q a microsecond early", got)
	}
	d.Clock.Advance(time.Microsecond)
	if now := d.Clock.Now(); !now.Equal(start.Add(time.Minute)) {
		t.Errorf("it is %v", now)
	}
	if got := topics(d.MustDrain(t)); got != "expire" {
		t.Errorf("handled %q in time", got)
	}
	if m := d.AssertEnqueued(t, pawltest.Topic("expire")); !m.CreatedAt.Equal(start.Add(time.Minute)) {
		t.Errorf("the message was made at %v", m.CreatedAt)
	}
	enqueue(t, d, "expire", "") // of a clock that is then put back
	d.Clock.Set(start)
	if r := d.MustDrain(t); len(r.Handled) != 0 {
		t.Errorf("handled %v before its time", r.Handled)
	}
}

// Jobs follow the database's clock: time.Now of the test's machine does not matter.
func TestJobs(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	var runs []time.Time
	d.Handle("report", func(_ context.Context, m *outbox.Message) error {
		runs = append(runs, m.Due)
		return nil
	})
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	// Clocks are put forward in the night to Sunday, March 30.
	friday := time.Date(2031, 3, 28, 5, 59, 0, 0, berlin)
	d.Clock.Set(friday)
	check(t, d.Jobs.Put(t.Context(), job.Job{Name: "report", Topic: "report", Schedule: "0 6 * * *", Zone: "Europe/Berlin"}))
	if r := d.MustDrain(t); r.Jobs != 0 {
		t.Error("it ran too early")
	}
	d.Clock.Advance(time.Minute)
	if r := d.MustDrain(t); r.Jobs != 1 || len(runs) != 1 || !runs[0].Equal(friday.Add(time.Minute)) {
		t.Errorf("at six it made %d runs: %v", r.Jobs, runs)
	}
	// Whoever jumps gets one run for three missed times.
	d.Clock.Advance(72 * time.Hour)
	d.MustDrain(t)
	if last := time.Date(2031, 3, 31, 6, 0, 0, 0, berlin); len(runs) != 2 || !runs[1].Equal(last) {
		t.Errorf("after a jump the runs are %v", runs)
	}
	history, err := engine.Collect(d.Jobs.Runs(t.Context(), "report", job.RunsOptions{}), 100)
	check(t, err)
	if len(history) != 3 || history[0].Status != job.Succeeded || history[1].Status != job.Missed || history[1].Missed != 2 {
		t.Errorf("the history is %+v", history)
	}
	// Whoever lets time pass gets them all.
	r, err := d.Pass(t.Context(), 72*time.Hour)
	check(t, err)
	if r.Jobs != 3 || len(r.Handled) != 3 || len(runs) != 5 || !runs[4].Equal(time.Date(2031, 4, 3, 6, 0, 0, 0, berlin)) {
		t.Errorf("after three days the runs are %v, of %d jobs", runs, r.Jobs)
	}
}

// Retries come when their time has come, and Pass ends at its end.
func TestPass(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	start := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	d.Clock.Set(start)
	var at []time.Duration
	d.Handle("flaky", func(context.Context, *outbox.Message) error {
		at = append(at, d.Clock.Now().Sub(start))
		if len(at) < 4 {
			return errors.New("not yet")
		}
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{Delay: func(n int) time.Duration { return time.Duration(n) * time.Minute }}})
	enqueue(t, d, "flaky", "")
	r, err := d.Pass(t.Context(), 90*time.Second)
	check(t, err)
	if len(r.Handled) != 2 || len(r.Left) != 1 || d.Clock.Now().Sub(start) != 90*time.Second {
		t.Errorf("after 90 s: %d attempts, %v, at %v", len(r.Handled), r.Err(), d.Clock.Now())
	}
	r, err = d.Pass(t.Context(), time.Hour)
	check(t, err)
	if want := []time.Duration{0, time.Minute, 3 * time.Minute, 6 * time.Minute}; !slices.Equal(at, want) || r.Err() != nil {
		t.Errorf("attempts at %v, want %v; %v", at, want, r.Err())
	}
	if now := d.Clock.Now().Sub(start); now != time.Hour+90*time.Second {
		t.Errorf("it is %v after the start", now)
	}
}

// A lease runs out by the database's clock.
func TestLeases(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	l, err := d.Leases.Acquire(t.Context(), "books", lease.Options{Duration: time.Minute})
	check(t, err)
	defer l.Close(context.Background())
	if _, err := d.Leases.Acquire(t.Context(), "books", lease.Options{Duration: time.Minute}); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("a second holder: %v", err)
	}
	d.Clock.Advance(time.Hour)
	next, err := d.Leases.Acquire(t.Context(), "books", lease.Options{Duration: time.Minute})
	check(t, err)
	check(t, next.Close(t.Context()))
}

// On PostgreSQL nobody moves the clock, but everybody can read it.
func TestTheServersClock(t *testing.T) {
	t.Parallel()
	d := onPostgres(t)
	if off := time.Since(d.Clock.Now()).Abs(); off > time.Hour {
		t.Errorf("the server's clock is off by %v", off)
	}
	for name, move := range map[string]func(*pawltest.DB){
		"advance": func(d *pawltest.DB) { d.Clock.Advance(time.Hour) },
		"set":     func(d *pawltest.DB) { d.Clock.Set(time.Now()) },
		"pass":    func(d *pawltest.DB) { _, _ = d.Pass(context.Background(), time.Hour) },
	} {
		text := failure(t, func(t testing.TB) {
			move(onPostgres(t))
			t.Errorf("it went on")
		})
		if !strings.Contains(text, "the server's clock decides") || strings.Contains(text, "went on") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
