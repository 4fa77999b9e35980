package join_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// slow is a worker on the way to a call of the engine's: it has arrived once
// arrived is closed, and goes on when release is called.
type slow struct {
	arrived chan struct{}
	release func()
	ended   chan error
	result  atomic.Value // of the wait's handler: what it returned, as text
}

// slowly has a worker handle waits on a handle of its own, which stops at the
// first transaction that at names.
func (f *fixture) slowly(at func([]*engine.Call) bool) *slow {
	f.t.Helper()
	goOn, once, claims := make(chan struct{}), sync.Once{}, atomic.Int64{}
	s := &slow{arrived: make(chan struct{}), ended: make(chan error, 1)}
	s.release = sync.OnceFunc(func() { close(goOn) })
	db := &watched{f.db.Another(f.t), func(calls []*engine.Call, forward func() error) error {
		if at(calls) {
			once.Do(func() {
				close(s.arrived)
				<-goOn
			})
		}
		if asks(calls, "outbox/claim") && claims.Add(1) > 1 {
			<-goOn // it does not claim what it has lost itself
		}
		return forward()
	}}
	box := parts.NewOutbox(db, worker.Options{StopWhenEmpty: true, Logger: quiet()})
	parts.NewJoins(db, box, join.Options{}, nil)
	box.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, m *outbox.Message) error {
			err := next(context.WithoutCancel(ctx), m) // it does not notice that its lease is lost
			s.result.Store(fmt.Sprint(err))
			return err
		}
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(f.ctx()))
	var running sync.WaitGroup
	running.Go(func() { s.ended <- box.Run(ctx) })
	f.t.Cleanup(func() {
		stop()
		s.release()
		running.Wait()
	})
	select {
	case <-s.arrived:
	case err := <-s.ended:
		f.t.Fatalf("the slow worker ended before it got there: %v", err)
	case <-time.After(2 * time.Minute):
		f.t.Fatal("the slow worker does not get there")
	}
	return s
}

// wake lets the slow worker go on, and returns when it is done.
func (s *slow) wake(f *fixture) {
	f.t.Helper()
	s.release()
	f.check(<-s.ended)
	if got := s.result.Load(); got != worker.ErrSettled.Error() {
		f.t.Errorf("the late worker's handler ended with %v", got)
	}
}

// over is a join that has ended, with a wait that was not handled yet.
func (f *fixture) over() (join.ID, outbox.MessageID) {
	f.t.Helper()
	id, _ := f.members(1)
	f.drain(map[string]outbox.Handler{"step": succeed})
	return id, f.wait(id, named(id))
}

// another has another worker take over what a slow one holds. The slow one
// still lives: it may extend its lease once more, or be reaping it itself.
func (f *fixture) another() {
	f.t.Helper()
	for held := int64(1); held > 0; {
		f.lapse()
		_, err := f.box.WorkQueue("").ReapExpired(f.ctx())
		f.check(err)
		c, err := f.box.Count(f.ctx())
		f.check(err)
		held = c.InProgress
	}
	f.drain(nil)
}

// D-13, D-34: a worker that looked at the join only after its lease was lost,
// and another had fired, sends nothing more.
func TestLeaseLostBeforeHandling(t *testing.T) { eachAndRepeatableRead(t, testLeaseLostBeforeHandling) }

func testLeaseLostBeforeHandling(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.over()
	owner, items := f.claim(1)
	stale := f.stale(owner, items)
	f.another()
	f.firedOnce(id, join.Completed)
	f.deliver(stale)
	f.firedOnce(id, join.Completed)
	f.progress(id, 1, 0, join.Completed)
}

// stale is a wait as it was delivered under a claim.
func (f *fixture) stale(owner outbox.OwnerToken, items map[outbox.MessageID]outbox.Position) *outbox.Message {
	f.t.Helper()
	for id := range items {
		m := f.find(id).Message
		m.Owner = owner
		return &m
	}
	return nil
}

// deliver gives the handler of waits messages, all at the same moment.
func (f *fixture) deliver(msgs ...*outbox.Message) {
	f.t.Helper()
	box := parts.NewOutbox(f.db.DB, worker.Options{StopWhenEmpty: true, Logger: quiet(), Queues: []string{"stale"}})
	parts.NewJoins(f.db.DB, box, join.Options{}, nil)
	delivered := 0
	box.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, _ *outbox.Message) error {
			delivered++
			f.together(len(msgs), func(i int) error {
				if err := next(ctx, msgs[i]); !errors.Is(err, worker.ErrSettled) {
					return fmt.Errorf("a delivery ended with %w", err)
				}
				return nil
			})
			return nil
		}
	})
	_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, Queue: "stale"})
	f.check(err)
	f.check(box.Run(f.ctx()))
	if delivered != 1 {
		f.t.Fatalf("delivered %d times", delivered)
	}
}

// D-13, D-34: one that was about to fire when its lease was lost.
func TestLeaseLostBeforeFiring(t *testing.T) { eachAndRepeatableRead(t, testLeaseLostBeforeFiring) }

func testLeaseLostBeforeFiring(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, w := f.over()
	late := f.slowly(fires)
	f.another()
	f.firedOnce(id, join.Completed)
	late.wake(f)
	f.firedOnce(id, join.Completed)
	if got := f.find(w); got.Status != outbox.Done {
		t.Fatalf("the wait is %v", got.Status)
	}
}

// D-13, D-33: one that was about to put the wait aside when its lease was lost,
// and the join ended, and another fired.
func TestLeaseLostBeforeParking(t *testing.T) { eachAndRepeatableRead(t, testLeaseLostBeforeParking) }

func testLeaseLostBeforeParking(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(1), []outbox.MessageID(nil)
	w := f.wait(id, named(id))
	late := f.slowly(func(calls []*engine.Call) bool { return asks(calls, "join/park") })
	f.another()
	msgs = f.enqueue("step", 1)
	f.check(f.Attach(f.ctx(), id, msgs...))
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.firedOnce(id, join.Completed)
	late.wake(f)
	f.drain(nil)
	f.firedOnce(id, join.Completed)
	if got := f.find(w); got.Status != outbox.Done {
		t.Fatalf("the wait is %v", got.Status)
	}
}

// D-33: one that saw the join pending, and puts the wait aside when it is over:
// nobody would wake it any more.
func TestJoinEndsBeforeParking(t *testing.T) { eachAndRepeatableRead(t, testJoinEndsBeforeParking) }

func testJoinEndsBeforeParking(t *testing.T, e dbtest.Engine) {
	for name, end := range map[string]func(f *fixture, id join.ID, m outbox.MessageID) error{
		"report": func(f *fixture, id join.ID, m outbox.MessageID) error {
			_, err := f.ReportCompleted(f.ctx(), id, m)
			return err
		},
		"cancel": func(f *fixture, id join.ID, _ outbox.MessageID) error {
			_, err := f.Cancel(f.ctx(), id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, e)
			id := f.start(1)
			w := f.wait(id, named(id))
			late := f.slowly(func(calls []*engine.Call) bool { return asks(calls, "join/park") })
			msgs := f.enqueue("elsewhere", 1)
			f.check(f.Attach(f.ctx(), id, msgs...))
			f.check(end(f, id, msgs[0]))
			late.release()
			f.check(<-late.ended)
			j, err := f.Get(f.ctx(), id)
			f.check(err)
			f.firedOnce(id, j.Status)
			if got := f.find(w); got.Status != outbox.Done || got.RetryCount != 0 {
				t.Fatalf("the wait is %v after %d retries", got.Status, got.RetryCount)
			}
		})
	}
}

// D-34: eight workers, of which one at most has the lease, handle a wait at the
// same moment.
func TestWaitHandledConcurrently(t *testing.T) { eachAndRepeatableRead(t, testWaitHandledConcurrently) }

func testWaitHandledConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for range 5 {
		id, w := f.over()
		owner, items := f.claim(1)
		var all []*outbox.Message
		for i := range 8 {
			m := f.stale(owner, items)
			if i%2 == 0 {
				m.Owner = outbox.NewOwnerToken()
			}
			all = append(all, m)
		}
		f.deliver(all...)
		f.firedOnce(id, join.Completed)
		f.progress(id, 1, 0, join.Completed)
		if got := f.find(w); got.Status != outbox.Done {
			t.Fatalf("the wait is %v", got.Status)
		}
	}
}
