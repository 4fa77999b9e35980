package flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/google/uuid"
)

// rig is a program with flows on a fresh database.
type rig struct {
	*pawl.Pawl
	t  *testing.T
	db dbtest.Database

	mu   sync.Mutex
	done []string
}

func open(t *testing.T, e dbtest.Engine) *rig {
	t.Helper()
	db := e.Open(t)
	return &rig{Pawl: program(t, db), t: t, db: db}
}

func program(t *testing.T, db dbtest.Database) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(db.DB, pawl.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Concurrency: 8, MaxPollingInterval: time.Second})
	check(t, err)
	return p
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// work works until the test ends.
func (r *rig) work() {
	r.t.Helper()
	check(r.t, r.Start(r.t.Context()))
	r.t.Cleanup(func() { check(r.t, r.Stop(context.Background())) })
}

// did notes what a step did.
func (r *rig) did(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, what)
}

// want compares what steps did, and forgets it.
func (r *rig) want(what ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.done, what) {
		r.t.Errorf("did %q, not %q", r.done, what)
	}
	r.done = nil
}

// at once is the policy of tests.
func atOnce(attempts int) flow.Settings {
	return flow.Settings{Retry: &outbox.RetryPolicy{MaxAttempts: attempts, Delay: func(int) time.Duration { return 0 }}}
}

var errBoom = errors.New("boom")

// fails fails so often, and then succeeds.
func (r *rig) fails(what string, times int) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done = append(r.done, what)
		if times--; times >= 0 {
			return "", errBoom
		}
		return what + "!", nil
	}
}

func start[I, O any](t *testing.T, r *rig, fl *flow.Flow[I, O], in I, opts ...flow.Options) outbox.MessageID {
	t.Helper()
	id, err := fl.Start(t.Context(), r, in, opts...)
	check(t, err)
	return id
}

func result[I, O any](t *testing.T, r *rig, fl *flow.Flow[I, O], id outbox.MessageID) O {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // one that waits for ever is a failure
	defer cancel()
	out, err := fl.Await(ctx, r, id)
	check(t, err)
	return out
}

// reason is why a flow failed.
func reason[I, O any](t *testing.T, r *rig, fl *flow.Flow[I, O], id outbox.MessageID) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	_, err := fl.Await(ctx, r, id)
	var end *outbox.EndError
	if !errors.As(err, &end) || (end.Status == outbox.Discarded) != strings.HasPrefix(end.Reason, flow.ErrCancelled.Error()) {
		t.Fatalf("the flow ended with %v", err)
	}
	return end.Reason
}

// parked waits until a flow is parked.
func (r *rig) parked(id outbox.MessageID, retries int) {
	r.t.Helper()
	r.parkedWithin(2*time.Minute, id, retries)
}

func (r *rig) parkedWithin(d time.Duration, id outbox.MessageID, retries int) {
	r.t.Helper()
	dbtest.UntilWithin(r.t, d, "the flow is parked", func() bool {
		i, err := r.Outbox.Get(r.t.Context(), id)
		check(r.t, err)
		return i.Status == outbox.Ready && i.NextAttemptAt.After(time.Now().Add(time.Minute)) && i.RetryCount == retries
	})
}

// D-760: a step that succeeded does not run again when a later one fails, which is tried by its own
// policy; what is stored comes back.
func TestStepsRunOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		a, b := r.fails("a", 2), r.fails("b", 2)
		fl := flow.New("two", func(f *flow.Run, in int) (string, error) {
			x, err := flow.Step(f, "a", a)
			if err != nil {
				return "", err
			}
			y, err := flow.Step(f, "b", b)
			return fmt.Sprint(in, x, y), err
		}, atOnce(3))
		fl.Handle(r)
		r.work()
		if got := result(t, r, fl, start(t, r, fl, 7)); got != "7a!b!" {
			t.Errorf("the result is %q", got)
		}
		r.want("a", "a", "a", "b", "b", "b")
	})
}

// D-760: a step fails for good when its policy is used up, and at once after Final; a function may go on.
func TestStepFailsForGood(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		a := r.fails("a", 100)
		fl := flow.New("two", func(f *flow.Run, final bool) (string, error) {
			_, err := flow.Step(f, "a", func(ctx context.Context) (string, error) {
				v, err := a(ctx)
				if final {
					err = flow.Final(err)
				}
				return v, err
			})
			var failed *flow.StepError
			if !errors.As(err, &failed) {
				return "", err
			}
			return flow.Step(f, "b", func(context.Context) (string, error) { return failed.Error(), nil })
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		for _, final := range []bool{false, true} {
			if got := result(t, r, fl, start(t, r, fl, final)); got != `step "a": boom` {
				t.Errorf("the result is %q", got)
			}
		}
		r.want("a", "a", "a")
	})
}

// D-761: what a step writes in its transaction, and the fact that it ran, commit together.
func TestStepTxIsExactlyOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		target := pawl.NewTopic[int]("written")
		b := r.fails("b", 2)
		var written atomic.Bool
		fl := flow.New("write", func(f *flow.Run, _ struct{}) (string, error) {
			err := flow.StepTx(f, "write", func(ctx context.Context, tx pawl.Tx) error {
				_, err := target.EnqueueTx(ctx, r.Pawl, tx, 1)
				if err == nil && written.CompareAndSwap(false, true) {
					err = errBoom // and nothing stays of it
				}
				return err
			})
			if err != nil {
				return "", err
			}
			return flow.Step(f, "b", b)
		}, atOnce(3))
		fl.Handle(r)
		r.work()
		result(t, r, fl, start(t, r, fl, struct{}{}))
		if n := r.db.Count(t, "SELECT count(*) FROM "+r.db.Table("outbox_message")+" WHERE topic = 'written'"); n != 1 {
			t.Errorf("written %d times", n)
		}
	})
}

// D-762: an attempt that lost its lease stores no step, in no transaction.
func TestStaleAttemptStoresNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for _, inTx := range []bool{false, true} {
			r := open(t, e)
			target := pawl.NewTopic[int]("written")
			lose := make(chan outbox.Position)
			var attempts atomic.Int64
			lost := make(chan struct{})
			fl := flow.New("stale", func(f *flow.Run, _ struct{}) (int, error) {
				n := int(attempts.Add(1))
				stale := func() {
					if n == 1 {
						lose <- f.Message().Position
						<-lost
					}
				}
				if inTx {
					return n, flow.StepTx(f, "a", func(ctx context.Context, tx pawl.Tx) error {
						_, err := target.EnqueueTx(ctx, r.Pawl, tx, n)
						if e.Name != "sqlite" { // where nobody else can write meanwhile
							stale()
						}
						return err
					})
				}
				return flow.Step(f, "a", func(context.Context) (int, error) { stale(); return n, nil })
			}, atOnce(3))
			fl.Handle(r)
			r.work()
			id := start(t, r, fl, struct{}{})
			want := 1
			if !inTx || e.Name != "sqlite" {
				position := <-lose
				expire(t, r, position)
				close(lost)
				want = 2
			}
			if got := result(t, r, fl, id); got != want {
				t.Errorf("in a transaction %t: the result is that of attempt %d", inTx, got)
			}
			if n := r.db.Count(t, "SELECT count(*) FROM "+r.db.Table("outbox_message")+" WHERE topic = 'written'"); inTx && n != 1 {
				t.Errorf("written %d times", n)
			}
		}
	})
}

// expire gives a message back that is claimed, as if its lease had expired.
func expire(t *testing.T, r *rig, p outbox.Position) {
	t.Helper()
	_, err := r.db.SQL.Exec("UPDATE " + r.db.Table("outbox_claim") + " SET locked_until = " + r.db.Ago(time.Hour))
	check(t, err)
	check(t, r.db.DB.Do(t.Context(), engine.Ask(op.OutboxReap{Most: 10, Keep: 1})))
}

type approval struct{ By string }

var approved = flow.NewSignal[approval]("approval")

// D-763: a signal is kept until the flow asks for it, wakes it, and is taken once.
func TestSignals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		b := r.fails("b", 1)
		fl := flow.New("approve", func(f *flow.Run, n int) (string, error) {
			var all []string
			for range n {
				a, err := flow.Wait[approval](f, "approval")
				if err != nil {
					return "", err
				}
				all = append(all, a.By)
			}
			_, err := flow.Step(f, "b", b)
			return strings.Join(all, " "), err
		}, atOnce(2))
		fl.Handle(r)
		id := start(t, r, fl, 2)
		check(t, approved.Send(t.Context(), r, id, approval{"ann"})) // before it runs
		r.work()
		r.parked(id, 0)
		check(t, flow.NewSignal[int]("other").Send(t.Context(), r, id, 1)) // nobody waits for it
		tx := r.db.Begin(t)
		check(t, approved.SendTx(t.Context(), r, tx, id, approval{"nobody"}))
		check(t, tx.Rollback())
		tx = r.db.Begin(t)
		check(t, approved.SendTx(t.Context(), r, tx, id, approval{"bob"}))
		r.parked(id, 0)
		check(t, tx.Commit())
		if got := result(t, r, fl, id); got != "ann bob" {
			t.Errorf("the result is %q", got)
		}
		if err := approved.Send(t.Context(), r, id, approval{}); !errors.Is(err, flow.ErrOver) {
			t.Errorf("a signal to a flow that is over: %v", err)
		}
		if err := approved.Send(t.Context(), r, fl.ID("none"), approval{}); !errors.Is(err, outbox.ErrNotFound) {
			t.Errorf("a signal to nobody: %v", err)
		}
	})
}

// D-763: a signal that comes while the flow runs, or in a transaction that is open while it is to be parked, wakes it.
func TestSignalWhileRunning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		running, sent := make(chan bool), make(chan bool)
		fl := flow.New("approve", func(f *flow.Run, _ int) (string, error) {
			select {
			case running <- true:
				<-sent
			case <-sent: // closed: it is not the first attempt
			}
			a, err := flow.Wait[approval](f, "approval")
			return a.By, err
		})
		fl.Handle(r)
		r.work()
		ids := []outbox.MessageID{start(t, r, fl, 1), start(t, r, fl, 1)} // as many as transactions park at once
		for range ids {
			<-running
		}
		if e.Name == "sqlite" { // where no transaction that writes may stay open
			for _, id := range ids {
				check(t, approved.Send(t.Context(), r, id, approval{"ann"}))
			}
			close(sent)
		} else {
			tx := r.db.Begin(t)
			for _, id := range ids {
				check(t, approved.SendTx(t.Context(), r, tx, id, approval{"ann"}))
			}
			close(sent)
			r.parkedWithin(20*time.Second, start(t, r, fl, 1), 0) // others go on: what waits for a lock does so for 30 s
			check(t, tx.Commit())
		}
		for _, id := range ids {
			if got := result(t, r, fl, id); got != "ann" {
				t.Errorf("the result is %q", got)
			}
		}
	})
}

// D-763: a signal that is sent while the flow runs makes it due at once when it is parked.
func TestSignalBeforeParking(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		var attempts atomic.Int64
		fl := flow.New("approve", func(f *flow.Run, _ int) (string, error) {
			if attempts.Add(1) == 1 {
				check(t, approved.Send(t.Context(), r, f.ID(), approval{"ann"}))
			}
			a, err := flow.Wait[approval](f, "approval")
			return a.By, err
		})
		fl.Handle(r)
		r.work()
		if got := result(t, r, fl, start(t, r, fl, 1)); got != "ann" || attempts.Load() != 2 {
			t.Errorf("the result is %q after %d attempts", got, attempts.Load())
		}
	})
}

// D-764: a wait ends when its time is over, for good; a sleep is as long as it is asked to be, and neither
// is an attempt.
func TestTimePasses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		b := r.fails("b", 1)
		fl := flow.New("wait", func(f *flow.Run, within time.Duration) (string, error) {
			_, err := flow.Wait[approval](f, "approval", flow.Within(within))
			if errors.Is(err, flow.ErrSuspended) {
				return "", err
			}
			out := fmt.Sprint(err)
			if err := f.Sleep("a while", 10*time.Millisecond); err != nil {
				return "", err
			}
			if _, err := flow.Step(f, "b", b); err != nil {
				return "", err
			}
			return out, f.Sleep("long", within/1000)
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		if got := result(t, r, fl, start(t, r, fl, 10*time.Millisecond)); got != flow.ErrTimeout.Error() {
			t.Errorf("the result is %q", got)
		}
		r.want("b", "b")
		id := start(t, r, fl, 24*time.Hour)
		r.parked(id, 0)
		check(t, approved.Send(t.Context(), r, id, approval{}))
		dbtest.Until(t, "the flow sleeps", func() bool {
			i, err := r.Outbox.Get(t.Context(), id)
			check(t, err)
			return i.Status == outbox.Ready && time.Until(i.NextAttemptAt) > time.Minute && time.Until(i.NextAttemptAt) < 2*time.Minute
		})
	})
}

// D-765: a flow that fails, or is cancelled, undoes what it did: in reverse order, each once, with attempts of its own.
func TestUndo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		undone := r.fails("undo a", 1)
		fl := flow.New("saga", func(f *flow.Run, wait bool) (int, error) {
			for _, step := range []string{"a", "b"} {
				if _, err := flow.Step(f, step, r.fails(step, 0)); err != nil {
					return 0, err
				}
				f.Undo(step, func(ctx context.Context) error {
					if step == "a" {
						_, err := undone(ctx)
						return err
					}
					r.did("undo " + step)
					return nil
				})
			}
			if wait {
				if _, err := flow.Wait[approval](f, "approval"); err != nil {
					return 0, err
				}
			}
			_, err := flow.Step(f, "c", r.fails("c", 100))
			return 0, err
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		if got := reason(t, r, fl, start(t, r, fl, false)); got != `step "c": boom` {
			t.Errorf("it failed: %s", got)
		}
		r.want("a", "b", "c", "c", "undo b", "undo a", "undo a")
		id := start(t, r, fl, true)
		r.parked(id, 0)
		check(t, r.Flows().Cancel(t.Context(), id))
		if got := reason(t, r, fl, id); got != flow.ErrCancelled.Error() {
			t.Errorf("it failed: %s", got)
		}
		r.want("a", "b", "undo b", "undo a")
	})
}

// D-765: an undo that fails for good is named, and those before it run.
func TestUndoThatFails(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		fl := flow.New("saga", func(f *flow.Run, _ int) (int, error) {
			f.Undo("a", func(context.Context) error { r.did("undo a"); return nil })
			f.Undo("b", func(context.Context) error { r.did("undo b"); return errBoom })
			return 0, flow.Final(errors.New("no"))
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		if got := reason(t, r, fl, start(t, r, fl, 0)); got != `no; undo of "b": boom` {
			t.Errorf("it failed: %s", got)
		}
		r.want("undo b", "undo b", "undo a")
	})
}

// D-771: a flow that is redriven goes on at the step that failed; one whose effects were undone begins anew, and is
// no longer cancelled.
func TestRedrive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		b := r.fails("b", 2)
		fl := flow.New("saga", func(f *flow.Run, saga bool) (string, error) {
			if _, err := flow.Step(f, "a", r.fails("a", 0)); err != nil {
				return "", err
			}
			if saga {
				f.Undo("a", func(context.Context) error { r.did("undo a"); return nil })
				if _, err := flow.Wait[approval](f, "approval"); err != nil {
					return "", err
				}
			}
			return flow.Step(f, "b", b)
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		redrive := func(id outbox.MessageID) {
			t.Helper()
			i, err := r.Outbox.Get(t.Context(), id)
			check(t, err)
			_, err = r.Outbox.Redrive(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{i.Position}})
			check(t, err)
		}
		id := start(t, r, fl, false)
		reason(t, r, fl, id)
		redrive(id)
		if got := result(t, r, fl, id); got != "b!" {
			t.Errorf("the result is %q", got)
		}
		r.want("a", "b", "b", "b")
		id = start(t, r, fl, true)
		r.parked(id, 0)
		check(t, r.Flows().Cancel(t.Context(), id))
		reason(t, r, fl, id)
		i, err := r.Outbox.Get(t.Context(), id)
		check(t, err)
		_, err = parts.NewOutbox(r.db, worker.Options{}).Undiscard(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{i.Position}}, uuid.Nil)
		check(t, err)
		redrive(id)
		r.parked(id, 0)
		check(t, approved.Send(t.Context(), r, id, approval{}))
		result(t, r, fl, id)
		r.want("a", "undo a", "a", "b")
	})
}

// D-766: All runs its parts as messages, each by the retry policy, and returns their results in order; parts that fail for good
// fail the step alone. Call returns the result of another flow, or why it failed.
func TestFanOutAndCall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		child := flow.New("child", func(_ *flow.Run, n int) (int, error) {
			if n == 13 {
				return 0, flow.Final(errBoom)
			}
			return n * 10, nil
		})
		var mu sync.Mutex
		failed := map[int]bool{}
		fl := flow.New("parent", func(f *flow.Run, items []int) (string, error) {
			base, err := flow.Step(f, "base", func(context.Context) (int, error) { return 100, nil })
			if err != nil {
				return "", err
			}
			parts, err := flow.All(f, "parts", items, func(_ context.Context, n int) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				if n == 13 || !failed[n] {
					failed[n] = true
					return 0, errBoom
				}
				return base + n, nil
			})
			var of *flow.StepError
			if err != nil && !errors.As(err, &of) {
				return "", err
			}
			sum, called := 0, error(nil)
			for _, n := range items {
				v, err := flow.Call(f, "call", child, n)
				if errors.Is(err, flow.ErrSuspended) {
					return "", err
				}
				sum, called = sum+v, errors.Join(called, err)
			}
			return fmt.Sprint(parts, err, sum, called), nil
		}, atOnce(2))
		fl.Handle(r)
		child.Handle(r)
		r.work()
		if got := result(t, r, fl, start(t, r, fl, []int{1, 2, 3})); got != "[101 102 103] <nil> 60 <nil>" {
			t.Errorf("the result is %q", got)
		}
		if got := result(t, r, fl, start(t, r, fl, []int{1, 13})); got != `[101 0] step "parts": 1 of 2 parts failed 10 step "call#2": boom` {
			t.Errorf("the result is %q", got)
		}
	})
}

// D-767: a program that changes runs the steps that are new; one that has begun keeps its version, and has 0
// where it came past.
func TestChangedProgram(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		var changed atomic.Bool
		fl := flow.New("changes", func(f *flow.Run, late bool) (string, error) {
			out := ""
			if changed.Load() && !late {
				out = fmt.Sprint(f.Version("v", 2))
			}
			for _, step := range []string{"a", "new"} {
				if step == "new" && !changed.Load() {
					continue
				}
				v, err := flow.Step(f, step, r.fails(step, 0))
				if err != nil {
					return "", err
				}
				out += v
			}
			if changed.Load() && late {
				out += fmt.Sprint(f.Version("v", 2))
			}
			_, err := flow.Wait[approval](f, "approval")
			return out, err
		})
		fl.Handle(r)
		r.work()
		early, late := start(t, r, fl, false), start(t, r, fl, true)
		r.parked(early, 0)
		r.parked(late, 0)
		changed.Store(true)
		fresh := start(t, r, fl, false)
		r.parked(fresh, 0)
		for id, want := range map[outbox.MessageID]string{early: "0a!new!", late: "a!new!2", fresh: "2a!new!"} {
			check(t, approved.Send(t.Context(), r, id, approval{}))
			if got := result(t, r, fl, id); got != want {
				t.Errorf("the result is %q, not %q", got, want)
			}
		}
	})
}

// D-768: what is too large, or too often, ends the flow with an error that names the step.
func TestLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		fl := flow.New("large", func(f *flow.Run, what string) (string, error) {
			switch what {
			case "step":
				return flow.Step(f, "a", func(context.Context) (string, error) { return strings.Repeat("x", 64<<10), nil })
			case "parts":
				_, err := flow.All(f, "a", make([]int, 10001), func(context.Context, int) (int, error) { return 0, nil })
				return "", err
			case "name":
				return flow.Step(f, "a#1", func(context.Context) (string, error) { return "", nil })
			}
			return strings.Repeat("x", 64<<10), nil
		}, atOnce(2))
		fl.Handle(r)
		r.work()
		for what, want := range map[string]string{
			"step": `larger than 64 KiB: step "a" has 65538 bytes`, "parts": `more than 10000 parts of step "a"`, "": "larger than 64 KiB: the result has 65538 bytes",
			"name": `step: "a#1" contains #`,
		} {
			if got := reason(t, r, fl, start(t, r, fl, what)); !strings.Contains(got, want) {
				t.Errorf("%s: it failed: %s", what, got)
			}
		}
		if err := flow.NewSignal[string]("s").Send(t.Context(), r, start(t, r, fl, "step"), strings.Repeat("x", 64<<10)); !errors.Is(err, flow.ErrTooLarge) {
			t.Errorf("a large signal: %v", err)
		}
	})
}

// D-769: a key is one flow; what OnDone does, it does once, with the flow's end; a run can go on as another one.
func TestBeginAndEnd(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		r := open(t, e)
		target := pawl.NewTopic[int]("written")
		var tried atomic.Bool
		fl := flow.New("count", func(f *flow.Run, n int) (int, error) {
			if n > 0 {
				return 0, flow.Continue(f, n-1)
			}
			f.OnDone(func(ctx context.Context, tx pawl.Tx) error {
				_, err := target.EnqueueTx(ctx, r.Pawl, tx, 1)
				if err == nil && tried.CompareAndSwap(false, true) {
					err = errBoom
				}
				return err
			})
			return 42, nil
		}, atOnce(2))
		fl.Handle(r)
		id := start(t, r, fl, 3, flow.Options{Key: "one"})
		if again := start(t, r, fl, 4, flow.Options{Key: "one"}); again != id || id != fl.ID("one") {
			t.Errorf("the key gives %s and %s", id, again)
		}
		tx := r.db.Begin(t)
		gone, err := fl.StartTx(t.Context(), r, tx, 1)
		check(t, err)
		check(t, tx.Rollback())
		r.work()
		if got := result(t, r, fl, id); got != 42 {
			t.Errorf("the result is %d", got)
		}
		if n := r.db.Count(t, "SELECT count(*) FROM "+r.db.Table("outbox_message")+" WHERE topic = 'written'"); n != 1 {
			t.Errorf("written %d times", n)
		}
		if n := r.db.Count(t, "SELECT count(*) FROM "+r.db.Table("outbox_message")+" WHERE topic = 'flow.count'"); n != 4 {
			t.Errorf("there were %d runs", n)
		}
		if _, err := fl.Await(t.Context(), r, gone); !errors.Is(err, outbox.ErrNotFound) {
			t.Errorf("a flow that was rolled back: %v", err)
		}
	})
}

// D-769: what is registered wrongly is an error of Run.
func TestRegistration(t *testing.T) {
	r := open(t, dbtest.Named(t, "sqlite"))
	fl := flow.New("", func(*flow.Run, int) (int, error) { return 0, nil })
	fl.Handle(r)
	if err := r.Run(t.Context()); err == nil || !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("Run returned %v", err)
	}
	if _, err := fl.Start(t.Context(), r, 1); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("Start returned %v", err)
	}
}
