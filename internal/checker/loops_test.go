package checker_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-110: a loop that hangs is found by both probes, and named.
func TestALoopHangs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second, Stalled: 300 * time.Millisecond}})
		f.Handle("t", newGate().Handle)
		f.run()
		f.works()
		wall := make(chan struct{})
		fall := sync.OnceFunc(func() { close(wall) })
		defer fall()
		f.breaks(func(_ context.Context, op string) error {
			if op == "outbox/claim" {
				<-wall // whatever the context says
			}
			return nil
		})
		c := f.until("loop/queue default", health.Problem)
		if !strings.Contains(c.Summary, "hangs") {
			t.Error(c.Summary)
		}
		f.awaits("Alive", f.Alive, "loop/queue default", health.Problem)
		f.breaks(nil)
		fall()
		f.awaits("Alive", f.Alive, "loop/queue default", health.OK)
		f.until("loop/queue default", health.OK)
	})
}

// D-110: a loop whose statements fail while the database answers others. A restart
// would not help it.
func TestALoopFails(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: soon()})
		f.Handle("t", newGate().Handle)
		f.run()
		f.works()
		f.breaks(func(_ context.Context, op string) error {
			if op == "outbox/claim" {
				return errors.New("permission denied for table outbox_ready")
			}
			return nil
		})
		c := f.until("loop/queue default", health.Problem)
		if !strings.Contains(c.Summary, "permission denied") || c.Facts.Get("failures").(int) < 3 {
			t.Errorf("%+v", c)
		}
		f.alive()
		f.breaks(nil)
		f.until("loop/queue default", health.OK)
		f.well()
	})
}

// D-110: a loop that ended, although nobody told it to.
func TestALoopEnds(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		f.Handle("t", newGate().Handle)
		f.breaks(func(_ context.Context, op string) error {
			if op == "worker/heartbeat" {
				runtime.Goexit()
			}
			return nil
		})
		f.run()
		c := f.until("loop/heartbeat", health.Problem)
		if !strings.Contains(c.Summary, "ended") {
			t.Error(c.Summary)
		}
		f.awaits("Alive", f.Alive, "loop/heartbeat", health.Problem)
	})
}

// D-110: a process that drains takes no more work on, and must not be restarted.
func TestDraining(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		g := newGate()
		defer g.release()
		f.Handle("t", g.Handle)
		f.enqueue(outbox.Message{})
		f.run()
		<-g.inside
		f.until("process", health.OK)
		f.stop()
		c := f.Health(f.ctx()).Find("process")
		if c.Level != health.Problem || !strings.Contains(c.Summary, "draining") {
			t.Errorf("%+v", c)
		}
		f.alive()
		g.release()
		<-f.ended
		if c := f.Health(f.ctx()).Find("process"); c.Level != health.Problem || c.Facts.Get("phase") != "stopped" {
			t.Errorf("%+v", c)
		}
		f.alive()
	})
}

// D-110: workers that stop when nothing is left are not dead.
func TestLoopsThatMayEnd(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{StopWhenEmpty: true, Queues: []string{"long", "short"}})
		g := newGate()
		defer g.release()
		f.Handle("t", g.Handle)
		f.enqueue(outbox.Message{Queue: "long"})
		f.run()
		<-g.inside
		dbtest.Until(t, "the other queue's loop ended", func() bool {
			f.alive()
			return f.Alive().Find("loop/queue short").Summary == "ended, because nothing was left"
		})
	})
}

// D-110: the database is away, says the one probe; the other does not have the
// process restarted for it.
func TestTheDatabaseIsAway(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: time.Second}})
		f.run()
		f.works()
		for name, rule := range map[string]func(context.Context, string) error{
			"is gone": func(context.Context, string) error { return engine.ErrUnreachable },
			"hangs":   func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
		} {
			f.breaks(rule)
			c := f.until("database", health.Problem)
			if name == "hangs" && !strings.Contains(c.Summary, "no answer within") {
				t.Error(c.Summary)
			}
			f.alive()
			f.breaks(nil)
			f.well()
		}
	})
}

// D-110
func TestSchema(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
		if _, err := f.db.SQL.ExecContext(f.ctx(), "DROP TABLE "+f.db.Table("worker_process")); err != nil {
			t.Fatal(err)
		}
		c := f.Health(f.ctx()).Find("schema")
		if c == nil || c.Level != health.Problem || !strings.Contains(c.Summary, "worker_process") || strings.Contains(c.Summary, "outbox") {
			t.Errorf("%+v", c)
		}
		if _, err := f.db.SQL.ExecContext(f.ctx(), "INSERT INTO "+f.db.Table("pawl_schema")+" (version, name, checksum, lowest, applied_at) SELECT 4711, name, checksum, 4711, applied_at FROM "+f.db.Table("pawl_schema")+" WHERE version = 1"); err != nil {
			t.Fatal(err)
		}
		if c := f.Health(f.ctx()).Find("schema"); c == nil || c.Level != health.Problem || !strings.Contains(c.Summary, "too new") {
			t.Errorf("%+v", c)
		}
	})
}
