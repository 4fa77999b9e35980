package timer_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// bubble is timers on SQLite under a fake clock: the process's clock is the
// database's (D-1), so years pass in moments, and moments are exact.
type bubble struct {
	*pawl.Pawl
	t    *testing.T
	mu   sync.Mutex
	came []arrival
}

// arrival is a delivery of a timer's message.
type arrival struct {
	payload string
	at      time.Time
	late    time.Duration
}

// inBubble runs a test with a process that fires and delivers timers. It sleeps
// up to most, and looks for commits of others just as rarely: what wakes it is
// what a test is about.
func inBubble(t *testing.T, most time.Duration, test func(b *bubble)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db := openIn(t, path, most)
		defer func() { _ = db.Close() }()
		p, err := pawl.New(db, pawl.Options{MaxPollingInterval: most, PollInterval: most, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		b := &bubble{Pawl: p, t: t}
		p.Handle("t", b.note)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		synctest.Wait()
		test(b)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// openIn opens a file that is looked at for commits of others every so often.
func openIn(t *testing.T, path string, watch time.Duration) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{WatchEvery: watch})
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Migrate(t, db)
	return db
}

func (b *bubble) note(_ context.Context, m *outbox.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.came = append(b.came, arrival{string(m.Payload), time.Now(), time.Since(m.Due)})
	return nil
}

// in schedules a timer that is due after d.
func (b *bubble) in(d time.Duration, payload string) timer.ID {
	b.t.Helper()
	id, err := b.Timers.Schedule(b.t.Context(), timer.Timer{Topic: "t", Payload: []byte(payload), Due: time.Now().Add(d)})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// want insists on what has come since the last time, in this order, none of it
// early and all of it in time.
func (b *bubble) want(payloads ...string) {
	b.t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.came
	b.came = nil
	if len(got) != len(payloads) {
		b.t.Fatalf("%d came, want %d: %+v", len(got), len(payloads), got)
	}
	for i, a := range got {
		if a.payload != payloads[i] {
			b.t.Errorf("%q came, want %q", a.payload, payloads[i])
		}
		if a.late < 0 || a.late > 50*time.Millisecond {
			b.t.Errorf("%q came %v late", a.payload, a.late)
		}
	}
}

const year = 365 * 24 * time.Hour

// D-71, D-72: a timer fires when it is due: not before, and moments after,
// however the process sleeps.
func TestFiresInTime(t *testing.T) {
	inBubble(t, time.Hour, func(b *bubble) {
		for _, d := range []time.Duration{time.Millisecond, time.Second, 59 * time.Minute, 61 * time.Minute, 3 * time.Hour} {
			b.in(d, d.String())
			time.Sleep(d - time.Microsecond)
			b.want()
			time.Sleep(100 * time.Millisecond)
			b.want(d.String())
		}
	})
}

// D-71: one that was due in the past fires at once.
func TestPastFiresNow(t *testing.T) {
	inBubble(t, time.Hour, func(b *bubble) {
		time.Sleep(10 * time.Minute)
		for range 3 {
			b.in(0, "now")
			time.Sleep(50 * time.Millisecond)
			b.want("now")
			time.Sleep(time.Minute)
		}
	})
}

// D-71: first due first, in whichever order they were scheduled.
func TestFiresInDueOrder(t *testing.T) {
	inBubble(t, time.Hour, func(b *bubble) {
		for _, s := range []string{"5h", "1h", "3h", "2h", "4h"} {
			d, err := time.ParseDuration(s)
			if err != nil {
				b.t.Fatal(err)
			}
			b.in(d, s)
		}
		time.Sleep(6 * time.Hour)
		b.want("1h", "2h", "3h", "4h", "5h")
	})
}

// D-71, D-72: years ahead is a due time like any other. There is only a scheduler
// here: years of everything else would take a while.
func TestFiresAfterYears(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		db := openIn(t, path, 1000*time.Hour)
		defer func() { _ = db.Close() }()
		box := parts.NewOutbox(db, worker.Options{})
		timers := parts.NewTimers(db, box, timer.Options{}, nil)
		later, never := put(t, timers, time.Now().Add(3*year)), put(t, timers, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		cfg := worker.ScheduleConfig{DB: db, Sources: timers.Sources, MaxPollingInterval: 10 * year, Logger: slog.New(slog.DiscardHandler)}
		go func() { ended <- worker.NewScheduler(cfg).Run(ctx) }()
		for _, step := range []struct {
			time.Duration
			timer.Status
		}{{3*year - time.Second, timer.Scheduled}, {2 * time.Second, timer.Fired}} {
			time.Sleep(step.Duration)
			synctest.Wait()
			for id, want := range map[timer.ID]timer.Status{later: step.Status, never: timer.Scheduled} {
				if got, err := timers.Get(t.Context(), id); err != nil || got.Status != want {
					t.Errorf("want it %v: %+v, %v", want, got, err)
				}
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func put(t *testing.T, timers *parts.Timers, due time.Time) timer.ID {
	t.Helper()
	id, err := timers.Schedule(t.Context(), timer.Timer{Topic: "t", Due: due})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// D-70, D-72: a cancelled timer does not fire, one that is moved fires when it is
// due then, and a replaced one in favour of the other, while the process sleeps
// towards what they were.
func TestChangesWhileAsleep(t *testing.T) {
	inBubble(t, time.Hour, func(b *bubble) {
		cancelled, earlier, later := b.in(30*time.Minute, "cancelled"), b.in(40*time.Minute, "earlier"), b.in(10*time.Minute, "later")
		for _, payload := range []string{"old", "young"} {
			if _, err := b.Timers.Schedule(b.t.Context(), timer.Timer{Topic: "t", Key: "k", Payload: []byte(payload), Due: time.Now().Add(20 * time.Minute)}); err != nil {
				b.t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		change := func(yes bool, err error) {
			b.t.Helper()
			if err != nil || !yes {
				b.t.Errorf("changed: %v, %v", yes, err)
			}
		}
		change(b.Timers.Cancel(b.t.Context(), cancelled))
		change(b.Timers.Reschedule(b.t.Context(), earlier, time.Now().Add(time.Second)))
		change(b.Timers.Reschedule(b.t.Context(), later, time.Now().Add(2*time.Hour)))
		time.Sleep(2 * time.Second)
		b.want("earlier")
		time.Sleep(time.Hour)
		b.want("young")
		time.Sleep(2 * time.Hour)
		b.want("later")
	})
}

// D-12, D-73: what a program claimed that then died is fired when its lease is
// over, and no sooner: the scheduler sleeps until then.
func TestDeadClaimIsHealed(t *testing.T) {
	inBubble(t, time.Hour, func(b *bubble) {
		id := b.in(time.Minute, "x")
		time.Sleep(time.Minute) // now it is due, and the scheduler gets up in a millisecond
		got, err := b.Timers.WorkQueue().Claim(b.t.Context(), outbox.NewOwnerToken(), 10*time.Minute, 1)
		if err != nil || len(got) != 1 {
			b.t.Fatalf("claimed %d, %v", len(got), err)
		}
		time.Sleep(10*time.Minute - time.Second)
		b.want()
		time.Sleep(2 * time.Second)
		if info, err := b.Timers.Get(b.t.Context(), id); err != nil || info.Status != timer.Fired || info.RetryCount != 0 {
			b.t.Errorf("%+v, %v", info, err)
		}
	})
}
