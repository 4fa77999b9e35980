package admin_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func (f *fixture) workers() []registry.Info {
	f.t.Helper()
	all, err := inspect.ListWorkers(f.ctx(), f.db)
	f.check(err)
	return all
}

// runAll runs the whole pawl until the test stops it.
func (f *fixture) runAll() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("Run: %v", err)
		}
	})
	f.t.Cleanup(stop)
	return stop
}

// A process is in the list while it runs, with all that it says of itself, and no
// longer.
func TestWorkerListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		if all := f.workers(); all == nil && len(all) != 0 {
			t.Fatalf("listed %+v", all)
		}
		w := f.another(pawl.Options{Worker: "one", Queues: []string{"a", "b"}, Concurrency: 7})
		w.Handle("p", done)
		w.Handle("q", done)
		stop := w.runAll()
		dbtest.Until(t, "it is listed", func() bool { return len(f.workers()) == 1 })
		other := f.another(pawl.Options{Worker: "two"})
		stopOther := other.runAll()
		dbtest.Until(t, "both are listed", func() bool { return len(f.workers()) == 2 })
		all := f.workers()
		one := all[0]
		host, _ := os.Hostname()
		slices.Sort(one.Topics)
		if one.ID == uuid.Nil || one.Name != "one" || one.Host != host || one.PID != int64(os.Getpid()) || one.Shared || !one.Alive ||
			!slices.Equal(one.Queues, w.Internal(access.Key{}).Queues()) || !slices.Contains(one.Queues, "a") || !slices.Equal(one.Topics, []string{"join.wait", "p", "q"}) ||
			one.Concurrency != int64(7*len(one.Queues)) || one.Started.IsZero() || one.Heartbeat.Before(one.Started) || one.Started.Location() != time.UTC {
			t.Errorf("listed as %+v", one)
		}
		if two := all[1]; two.ID == uuid.Nil || two.Name != "two" || two.ID == one.ID || !slices.Equal(two.Topics, []string{"join.wait"}) {
			t.Errorf("listed as %+v", two)
		}
		stop()
		if all := f.workers(); len(all) != 1 || all[0].Name != "two" {
			t.Errorf("left are %+v", all)
		}
		stopOther()
		if all := f.workers(); len(all) != 0 {
			t.Errorf("left are %+v", all)
		}
	})
}

// registry is a process's registry, which runs until stop.
func (f *fixture) registry(db engine.DB, self registry.Self) (r *registry.Registry, stop func()) {
	r = registry.New(db, slog.New(slog.DiscardHandler), activity.New())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx, self) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	f.t.Cleanup(stop)
	return r, stop
}

func TestWorkerInFlight(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.registry(f.db.DB, registry.Self{Name: "w", InFlight: func() int64 { return 41 }})
		dbtest.Until(t, "it is listed", func() bool { return len(f.workers()) == 1 })
		if got := f.workers()[0].InFlight; got != 41 {
			t.Errorf("listed with %d in flight", got)
		}
		g := newGate()
		w := f.another(pawl.Options{Concurrency: 2, BatchSize: 10})
		w.Handle("p", g.Handle)
		f.fill(5, "p", outbox.DefaultQueue)
		w.start()
		dbtest.Until(t, "it says what it holds", func() bool { c := w.Internal(access.Key{}).Stats(); return c.Running == 2 && c.InFlight >= 2 })
		close(g.open)
		dbtest.Until(t, "it says that it holds nothing", func() bool {
			c := w.Internal(access.Key{}).Stats()
			return c.Running == 0 && c.InFlight == 0 && c.Acked == 5
		})
	})
}

// expire lets processes' entries run out by d.
func (f *fixture) expire(d time.Duration) {
	f.t.Helper()
	if f.db.Engine() == "sqlite" {
		f.db.Pass(d)
		return
	}
	_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("UPDATE %s SET expires_at = %s", f.db.Table("worker_process"), f.db.Earlier("expires_at", d)))
	f.check(err)
}

// crash leaves the entry of a process that cannot say goodbye.
func (f *fixture) crash(self registry.Self) uuid.UUID {
	f.t.Helper()
	r, stop := f.registry(&flaky{DB: f.db.DB, fail: func(op string) bool { return op == "worker/leave" }}, self)
	dbtest.Until(f.t, "it is listed", func() bool { return f.listed(r.ID()) != nil })
	stop()
	return r.ID()
}

// listed returns a process's entry, or nil.
func (f *fixture) listed(id uuid.UUID) *registry.Info {
	f.t.Helper()
	for _, one := range f.workers() {
		if one.ID == id {
			return &one
		}
	}
	return nil
}

// A process without a heartbeat for half a minute does not count as alive.
func TestWorkerCrashed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id := f.crash(registry.Self{Name: "w"})
		if one := f.listed(id); one == nil || !one.Alive {
			t.Fatalf("just now: %+v", one)
		}
		f.expire(31 * time.Second)
		if one := f.listed(id); one == nil || one.Alive || one.Heartbeat.IsZero() {
			t.Fatalf("later: %+v", one)
		}
		r, _ := f.registry(f.db.DB, registry.Self{Name: "w"}) // again, under the same name
		dbtest.Until(t, "it is listed", func() bool { return f.listed(r.ID()) != nil })
		if one := f.listed(r.ID()); !one.Alive || f.listed(id).Alive {
			t.Fatalf("%+v", f.workers())
		}
	})
}

// Entries of processes that crashed long ago are deleted by the others.
func TestWorkerCleanedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		old := f.crash(registry.Self{Name: "old"})
		f.expire(2 * time.Hour)
		late := f.crash(registry.Self{Name: "late"})
		if f.listed(old) == nil {
			t.Fatal("forgotten too early")
		}
		f.expire(23 * time.Hour)
		r, _ := f.registry(f.db.DB, registry.Self{Name: "w"})
		dbtest.Until(t, "it is listed", func() bool { return f.listed(r.ID()) != nil })
		if f.listed(old) != nil || f.listed(late) == nil {
			t.Fatalf("left are %+v", f.workers())
		}
	})
}

// A process that takes turns shows itself now and then, is believed for a day, and
// leaves when it stops.
func TestWorkerShared(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		var beats atomic.Int64
		var away atomic.Bool
		r := registry.New(&flaky{DB: f.db.DB, fail: func(string) bool { return away.Load() }, did: func(op string) {
			if op == "worker/heartbeat" {
				beats.Add(1)
			}
		}}, slog.New(slog.DiscardHandler), activity.New())
		away.Store(true)
		r.Show(f.ctx(), registry.Self{Name: "w"})
		away.Store(false)
		for range 3 {
			r.Show(f.ctx(), registry.Self{Name: "w"})
		}
		if beats.Load() != 1 {
			t.Fatalf("it showed itself %d times in a row", beats.Load())
		}
		if one := f.listed(r.ID()); one == nil || !one.Shared || !one.Alive {
			t.Fatalf("%+v", one)
		}
		f.expire(23 * time.Hour)
		if one := f.listed(r.ID()); !one.Alive {
			t.Fatalf("%+v", one)
		}
		r.Leave(f.ctx())
		if f.listed(r.ID()) != nil {
			t.Fatal("it did not leave")
		}
		r.Show(f.ctx(), registry.Self{Name: "w"})
		if f.listed(r.ID()) == nil {
			t.Fatal("it did not come back")
		}
	})
}

// A process survives an outage of the database, reports it, and is listed again.
func TestWorkerSurvivesOutage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		var away atomic.Bool
		away.Store(true)
		r, stop := f.registry(&flaky{DB: f.db.DB, fail: func(string) bool { return away.Load() }}, registry.Self{Name: "w"})
		status := r.Status
		dbtest.Until(t, "it fails", func() bool { return status()[0].Failures > 0 })
		if v := status()[0]; !v.Running || v.Error == "" || !v.LastSuccess.IsZero() || len(f.workers()) != 0 {
			t.Fatalf("%+v", v)
		}
		away.Store(false)
		dbtest.Until(t, "it is listed", func() bool { return f.listed(r.ID()) != nil && status()[0].Failures == 0 })
		if v := status()[0]; !v.Running || v.Error != "" || v.LastSuccess.IsZero() {
			t.Fatalf("%+v", v)
		}
		stop()
		if v := status()[0]; v.Running || len(f.workers()) != 0 {
			t.Fatalf("%+v, %+v", v, f.workers())
		}
	})
}

// A database that is away keeps nobody from stopping.
func TestWorkerCannotLeave(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		id := f.crash(registry.Self{})
		if one := f.listed(id); one == nil || len(one.Queues) != 0 || one.Queues == nil || one.Name != "" {
			t.Fatalf("%+v", one)
		}
	})
}

func TestWorkerTexts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, name := range odd() {
			r, stop := f.registry(f.db.DB, registry.Self{Name: name, Queues: []string{name, "a"}, Topics: odd(), Concurrency: 1 << 30})
			dbtest.Until(t, "it is listed", func() bool { return f.listed(r.ID()) != nil })
			if one := f.listed(r.ID()); one.Name != name || !slices.Equal(one.Queues, []string{name, "a"}) || !slices.Equal(one.Topics, odd()) || one.Concurrency != 1<<30 {
				t.Errorf("%+v", one)
			}
			stop()
		}
	})
}

// A process that only drains the queue leaves no trace.
func TestWorkerThatDrains(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{StopWhenEmpty: true})
		f.check(f.Run(f.ctx()))
		if all := f.workers(); len(all) != 0 {
			t.Fatalf("left are %+v", all)
		}
	})
}
