package flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// breaking is a database whose connection breaks at one call that writes: before it took effect, or after.
type breaking struct {
	engine.DB
	at    int64
	after bool
	dies  bool // with it the process: no later call succeeds
	calls atomic.Int64
}

func (d *breaking) Unwrap() engine.DB { return d.DB }

func (d *breaking) run(name string, forward func() error) error {
	n := d.calls.Add(1)
	broken := func(class error) error {
		return &engine.Error{Op: name, Class: class, Err: errors.New("cut by the test")}
	}
	switch {
	case n > d.at && d.dies:
		return broken(engine.ErrUnreachable)
	case n != d.at:
		return forward()
	case !d.after:
		return broken(engine.ErrConnLost)
	}
	if err := forward(); err != nil {
		return err
	}
	return broken(engine.ErrCommitUnknown)
}

func (d *breaking) Do(ctx context.Context, calls ...*engine.Call) error {
	return d.run(calls[0].Name(), func() error { return d.DB.Do(ctx, calls...) })
}

func (d *breaking) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	return d.run("in a transaction", func() error { return d.DB.InTx(ctx, fn) })
}

// D-770: whichever call breaks, before it took effect or after, and whether the process survives or
// another one goes on: each transaction of a step takes effect once, each signal is taken once, and the flow ends once.
func TestCrashAtCalls(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for _, after := range []bool{false, true} {
			for _, dies := range []bool{false, true} {
				t.Run(fmt.Sprintf("after it: %t, dies: %t", after, dies), func(t *testing.T) {
					db := e.Open(t)
					n := int64(1)
					for ; crashAt(t, db, &breaking{DB: db.DB, at: n, after: after, dies: dies}); n++ {
						if n > 200 {
							t.Fatal("it does not end")
						}
					}
					if n < 8 {
						t.Errorf("there were only %d calls", n)
					}
				})
			}
		}
	})
}

// crashAt runs a flow whose database breaks, and returns whether it came to that.
func crashAt(t *testing.T, db dbtest.Database, broken *breaking) bool {
	t.Helper()
	count := func(topic string) int {
		return db.Count(t, "SELECT count(*) FROM "+db.Table("outbox_message")+" WHERE topic = '"+topic+"'")
	}
	before := []int{count("written"), count("over")}
	p, other := crashing(t, broken, time.Second), crashing(t, db.DB, time.Second)
	id, err := other.all.Start(t.Context(), other, 3)
	check(t, err)
	for _, by := range []string{"ann", "bob"} {
		check(t, approved.Send(t.Context(), other, id, approval{by}))
	}
	broken.calls.Store(0)
	check(t, p.Start(t.Context()))
	if broken.dies {
		over := make(chan error, 1)
		go func() { _, err := other.all.Await(t.Context(), other, id); over <- err }()
		for dead := false; !dead; {
			select {
			case <-over:
				dead = true
				over <- nil
			case <-time.After(time.Millisecond):
				dead = broken.calls.Load() >= broken.at
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = p.Stop(ctx)
		_, err := db.SQL.Exec("UPDATE " + db.Table("outbox_claim") + " SET locked_until = " + db.Ago(time.Hour))
		check(t, err)
		check(t, other.Start(t.Context()))
		check(t, <-over)
		p = other
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	got, err := other.all.Await(ctx, other, id)
	check(t, err)
	if got != "ann bob [0 1 2] 30" {
		t.Errorf("call %d: the result is %q", broken.at, got)
	}
	if w, o := count("written")-before[0], count("over")-before[1]; w != 1 || o != 1 {
		t.Errorf("call %d: written %d times, over %d times", broken.at, w, o)
	}
	check(t, p.Stop(context.Background()))
	db.CheckPlaces(t)
	return broken.calls.Load() >= broken.at
}

// crashProgram is a program with a flow that does everything.
type crashProgram struct {
	*pawl.Pawl
	all *flow.Flow[int, string]
}

func crashing(t *testing.T, db engine.DB, lease time.Duration) *crashProgram {
	t.Helper()
	p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), MaxPollingInterval: 100 * time.Millisecond, Grace: time.Millisecond, Lease: lease})
	check(t, err)
	c := &crashProgram{Pawl: p}
	written, over := pawl.NewTopic[int]("written"), pawl.NewTopic[int]("over")
	child := flow.New("child", func(_ *flow.Run, n int) (int, error) { return n * 10, nil }, atOnce(100))
	c.all = flow.New("all", func(f *flow.Run, n int) (string, error) {
		a, err := flow.Wait[approval](f, "approval")
		if err != nil {
			return "", err
		}
		if err := flow.StepTx(f, "write", func(ctx context.Context, tx pawl.Tx) error {
			_, err := written.EnqueueTx(ctx, p, tx, n)
			return err
		}); err != nil {
			return "", err
		}
		items, err := flow.Step(f, "items", func(context.Context) ([]int, error) { return []int{0, 1, 2}, nil })
		if err != nil {
			return "", err
		}
		parts, err := flow.All(f, "parts", items, func(_ context.Context, n int) (int, error) { return n, nil })
		if err != nil {
			return "", err
		}
		b, err := flow.Wait[approval](f, "approval")
		if err != nil {
			return "", err
		}
		if err := f.Sleep("a little", time.Millisecond); err != nil {
			return "", err
		}
		called, err := flow.Call(f, "call", child, n)
		f.OnDone(func(ctx context.Context, tx pawl.Tx) error {
			_, err := over.EnqueueTx(ctx, p, tx, n)
			return err
		})
		return fmt.Sprint(a.By, " ", b.By, " ", parts, " ", called), err
	}, atOnce(100))
	c.all.Handle(p)
	child.Handle(p)
	none := func(context.Context, *outbox.Message) error { return nil }
	p.Handle("written", none)
	p.Handle("over", none)
	return c
}

// D-765: a flow that fails while its process stops, or a step of it, does so again in the next process: what it did is
// undone.
func TestFailsWhileStopping(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for _, inStep := range []bool{false, true} {
			db := e.Open(t)
			began, first, undone := make(chan struct{}), sync.Once{}, atomic.Int64{}
			fl := flow.New("saga", func(f *flow.Run, _ int) (int, error) {
				if _, err := flow.Step(f, "a", func(context.Context) (int, error) { return 1, nil }); err != nil {
					return 0, err
				}
				f.Undo("a", func(context.Context) error { undone.Add(1); return nil })
				fail := func(ctx context.Context) (int, error) {
					first.Do(func() { close(began); <-ctx.Done() })
					return 0, flow.Final(errBoom)
				}
				if inStep {
					return flow.Step(f, "b", fail)
				}
				return fail(f.Context())
			}, atOnce(2))
			const lease = time.Minute // an attempt that loses it has the next one undo it again
			stopping, other := crashing(t, db.DB, lease).Pawl, crashing(t, db.DB, lease).Pawl
			fl.Handle(stopping)
			fl.Handle(other)
			id, err := fl.Start(t.Context(), other, 1)
			check(t, err)
			check(t, stopping.Start(t.Context()))
			<-began
			over, cancel := context.WithCancel(t.Context())
			cancel()
			_ = stopping.Stop(over)
			check(t, other.Start(t.Context()))
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			_, err = fl.Await(ctx, other, id)
			cancel()
			var end *outbox.EndError
			if !errors.As(err, &end) || end.Status != outbox.Failed || undone.Load() != 1 {
				t.Errorf("in a step %t: it ended with %v, and was undone %d times", inStep, err, undone.Load())
			}
			check(t, other.Stop(context.Background()))
		}
	})
}

// D-793: a flow that is cancelled just before it parks for what it calls, or for the parts of All, ends at once: not
// when these end.
func TestCancelBeforeCall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		child := flow.New("child", func(f *flow.Run, _ int) (int, error) { return flow.Wait[int](f, "never") })
		fl := flow.New("parent", func(f *flow.Run, _ int) (int, error) {
			if _, err := flow.Step(f, "cancel", func(ctx context.Context) (int, error) { return 0, r.Flows().Cancel(ctx, f.ID()) }); err != nil {
				return 0, err
			}
			return flow.Call(f, "call", child, 1)
		})
		fl.Handle(r)
		child.Handle(r)
		r.work()
		if got := reason(t, r, fl, start(t, r, fl, 1)); got != flow.ErrCancelled.Error() {
			t.Errorf("it failed: %s", got)
		}
	})
}

// D-794: a flow whose OnDone is committed is done: a cancellation that comes before its message is settled is too late.
func TestCancelAfterOnDone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		fl := flow.New("done", func(f *flow.Run, _ int) (int, error) {
			f.OnDone(func(context.Context, pawl.Tx) error { r.did("done"); return nil })
			f.Undo("a", func(context.Context) error { r.did("undo"); return nil })
			return 7, nil
		}, atOnce(3))
		r.Use(func(next outbox.Handler) outbox.Handler {
			return func(ctx context.Context, m *outbox.Message) error {
				err := next(ctx, m)
				if err == nil && m.RetryCount == 0 {
					return errors.Join(r.Flows().Cancel(ctx, m.ID), errBoom)
				}
				return err
			}
		})
		fl.Handle(r)
		r.work()
		if got := result(t, r, fl, start(t, r, fl, 1)); got != 7 {
			t.Errorf("the result is %d", got)
		}
		r.want("done")
	})
}
