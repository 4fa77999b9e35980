package admin_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// loop is how one loop of a pawl is.
func (f *fixture) loop(name string) worker.LoopStatus {
	f.t.Helper()
	for _, v := range f.Internal(access.Key{}).Status() {
		if v.Name == name {
			return v
		}
	}
	f.t.Fatalf("there is no loop %q in %+v", name, f.Internal(access.Key{}).Status())
	return worker.LoopStatus{}
}

// A pawl names all its loops, whether they run or not.
func TestLoopStatusOfAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Queues: []string{"a", "b"}})
		f.HandleInbox("p", func(context.Context, *inbox.Message) error { return nil })
		running := func() (on, off []string) {
			for _, v := range f.Internal(access.Key{}).Status() {
				if v.Running {
					on = append(on, v.Name)
				} else {
					off = append(off, v.Name)
				}
			}
			return on, off
		}
		on, all := running()
		if len(on) != 0 {
			t.Fatalf("running before Run: %v", on)
		}
		for _, want := range []string{"queue a", "queue b", "scheduler", "heartbeat", "clean-up of the audit trail", "clean-up of messages"} {
			if !slices.Contains(all, want) {
				t.Errorf("no %q in %v", want, all)
			}
		}
		if sorted := slices.Sorted(slices.Values(all)); len(slices.Compact(sorted)) != len(all) {
			t.Errorf("names are not unique: %v", all)
		}
		// One for all queues: the inbox's workers may have another retention period.
		if n := len(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !strings.HasPrefix(name, "clean-up of messages") })); n != 1 {
			t.Errorf("%d loops clean up messages", n)
		}
		stop := f.runAll()
		dbtest.Until(t, "all run", func() bool { _, off := running(); return len(off) == 0 })
		for _, name := range []string{"queue a", "queue b", "scheduler", "heartbeat"} {
			dbtest.Until(t, name+" succeeds", func() bool { v := f.loop(name); return !v.LastSuccess.IsZero() && v.Failures == 0 && v.Error == "" })
		}
		for _, v := range f.Internal(access.Key{}).Status() {
			if v.LastTurn.IsZero() || v.NextTurn.Before(v.LastTurn) {
				t.Errorf("%+v", v)
			}
		}
		first := f.loop("queue a").LastTurn
		dbtest.Until(t, "the loop goes round", func() bool { return f.loop("queue a").LastTurn.After(first) })
		stop()
		if on, _ := running(); len(on) != 0 {
			t.Errorf("running after Run: %v", on)
		}
	})
}

// While the database is away, loops say so and when they will try again; when it is
// back, that it is.
func TestLoopStatusInOutage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		var away atomic.Bool
		w := on(t, f.db, &flaky{DB: f.db.DB, fail: func(string) bool { return away.Load() }}, pawl.Options{})
		w.runAll()
		loops := []string{"queue default", "scheduler"}
		for _, name := range loops {
			dbtest.Until(t, name+" succeeds", func() bool { return !w.loop(name).LastSuccess.IsZero() })
		}
		away.Store(true)
		w.db.Notify("") // the scheduler's notifier
		f.fill(1, "u", outbox.DefaultQueue)
		dbtest.Until(t, "the queue's loop fails", func() bool { return w.loop("queue default").Failures >= 2 })
		v := w.loop("queue default")
		if !v.Running || !strings.Contains(v.Error, errFlaky.Error()) || v.LastSuccess.IsZero() {
			t.Errorf("%+v", v)
		}
		dbtest.Until(t, "it says when it tries again", func() bool {
			v := w.loop("queue default")
			return v.NextTurn.Sub(v.LastTurn) > 200*time.Millisecond // it polls every 20 ms otherwise
		})
		away.Store(false)
		dbtest.Until(t, "it is back", func() bool {
			again := w.loop("queue default")
			return again.Failures == 0 && again.Error == "" && again.LastSuccess.After(v.LastSuccess)
		})
	})
}

// stuck is a database in which claims hang.
type stuck struct {
	engine.DB
	wait atomic.Pointer[chan struct{}]
}

func (d *stuck) Do(ctx context.Context, calls ...*engine.Call) error {
	if wait := d.wait.Load(); wait != nil {
		<-*wait
	}
	return d.DB.Do(ctx, calls...)
}

// A loop that hangs is known by the turn that does not come.
func TestLoopStatusOfStalled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		db := &stuck{DB: f.db.DB}
		w := on(t, f.db, db, pawl.Options{})
		w.start()
		dbtest.Until(t, "it works", func() bool { return !w.loop("queue default").LastSuccess.IsZero() })
		wait := make(chan struct{})
		db.wait.Store(&wait)
		dbtest.Until(t, "it is overdue", func() bool { return time.Since(w.loop("queue default").NextTurn) > 500*time.Millisecond })
		v := w.loop("queue default")
		if !v.Running || v.Failures != 0 {
			t.Errorf("%+v", v)
		}
		db.wait.Store(nil)
		close(wait)
		dbtest.Until(t, "it lives", func() bool { return w.loop("queue default").NextTurn.After(v.NextTurn) })
	})
}

// Loops that take turns share one status.
func TestLoopStatusOfTurns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		var last time.Time
		for range 3 {
			f.check(f.Internal(access.Key{}).Slice(f.ctx(), worker.TimeSlice{IdleTimeout: func() time.Duration { return 0 }}))
			v := f.loop("queue default")
			if v.Running || v.LastSuccess.IsZero() || v.LastTurn.Before(last) || v.Failures != 0 {
				t.Fatalf("%+v", v)
			}
			last = v.LastTurn
		}
	})
}
