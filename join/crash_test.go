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

// faulty is a database that breaks once, at the first call that at names:
// before the call took effect or after.
type faulty struct {
	engine.DB
	at    func(calls []*engine.Call) bool
	after bool
	dead  context.CancelFunc // not nil: the process dies there
	broke atomic.Bool
	gone  chan struct{} // closed when the process is dead
	over  atomic.Bool   // the test is: what is left of the worker may believe anything

	inside sync.RWMutex // held by calls
}

// settled waits until no call of a dead worker is under way: one that splits a run
// would keep its rest from a lapse of all leases.
func (d *faulty) settled() {
	d.inside.Lock()
	defer d.inside.Unlock()
}

func (d *faulty) run(calls []*engine.Call, forward func() error) error {
	d.inside.RLock()
	defer d.inside.RUnlock()
	if d.over.Load() {
		return nil
	}
	if d.broke.Load() && d.dead != nil {
		return &engine.Error{Op: calls[0].Name(), Class: engine.ErrUnreachable, Err: errors.New("cut by the test")}
	}
	if !d.at(calls) || !d.broke.CompareAndSwap(false, true) {
		return forward()
	}
	if d.dead != nil {
		defer close(d.gone)
		defer d.dead()
	}
	if !d.after {
		return &engine.Error{Op: calls[0].Name(), Class: engine.ErrConnLost, Err: errors.New("cut by the test")}
	}
	if err := forward(); err != nil {
		return err
	}
	return &engine.Error{Op: calls[0].Name(), Class: engine.ErrCommitUnknown, Err: errors.New("cut by the test")}
}

func (d *faulty) Do(ctx context.Context, calls ...*engine.Call) error {
	return d.run(calls, func() error { return d.DB.Do(ctx, calls...) })
}

func (d *faulty) Read(ctx context.Context, c *engine.Call) error {
	return d.run([]*engine.Call{c}, func() error { return d.DB.Read(ctx, c) })
}

func (d *faulty) ReserveIDs(ctx context.Context, tx engine.Tx, n int) (lo int64, err error) {
	err = d.run([]*engine.Call{{Operation: Reserve{}}}, func() error {
		lo, err = d.DB.ReserveIDs(ctx, tx, n)
		return err
	})
	return lo, err
}

// Reserve stands for the reservation of ids.
type Reserve struct{ engine.Changes }

// points are the calls in the life of a wait.
func points() map[string]func([]*engine.Call) bool {
	op := func(name string) func([]*engine.Call) bool {
		return func(calls []*engine.Call) bool { return asks(calls, name) }
	}
	return map[string]func([]*engine.Call) bool{
		"claim":   op("outbox/claim"),
		"look":    op("join/get"),
		"park":    op("join/park"),
		"reserve": op("reserve/"),
		"fire":    fires,
		"forgive": op("join/forgive"),
		"end":     op("join/end"),
		"settle": func(calls []*engine.Call) bool {
			return !fires(calls) && (asks(calls, "outbox/ack") || asks(calls, "outbox/fail"))
		},
	}
}

// fires says whether this is the transaction that sends what a wait has to send.
func fires(calls []*engine.Call) bool {
	return asks(calls, "outbox/enqueue_once") && asks(calls, "outbox/ack_one")
}

// D-4, D-33, D-34: a connection that breaks, or a process that dies, before or
// after any transaction of a wait leaves exactly one message in the end, sent
// once the steps are done, and not before.
func TestWaitCrashBetweenSteps(t *testing.T) { dbtest.Each(t, testWaitCrashBetweenSteps) }

func testWaitCrashBetweenSteps(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	var dead sync.WaitGroup
	defer dead.Wait()
	for name, at := range points() {
		for _, after := range []bool{false, true} {
			for _, dies := range []bool{false, true} {
				read := name == "look" || name == "reserve"
				if read && after || dies && name != "park" && name != "fire" && name != "settle" {
					continue // nothing new
				}
				t.Run(fmt.Sprintf("%s, after it: %v, dies: %v", name, after, dies), func(t *testing.T) {
					c := &crash{fixture: on(t, db, db.DB, join.Options{}), at: at, after: after, dies: dies, dead: &dead}
					c.play(name)
				})
			}
		}
	}
}

type crash struct {
	*fixture
	at          func([]*engine.Call) bool
	after, dies bool
	broke       bool
	dead        *sync.WaitGroup // workers that are left to themselves
}

func (c *crash) play(point string) {
	spec := join.Spec{ExpectedSteps: 2}
	if point == "end" {
		spec.Deadline = time.Now().Add(-time.Hour)
	}
	id, err := c.Start(c.ctx(), spec)
	c.check(err)
	w := named(id)
	w.AllowFailures = point == "forgive"
	c.wait(id, w)
	want := outcome{1, 1, join.Failed}
	switch point {
	case "forgive":
		want.status = join.Completed
	case "end":
		want = outcome{0, 0, join.Failed}
	}

	c.work() // the wait is parked, unless the deadline has passed
	if point != "end" {
		c.progress(id, 0, 0, join.Pending)
		c.firedOnce(id, join.Pending)
	}
	c.check(c.Attach(c.ctx(), id, append(c.enqueue("good", 1), c.enqueue("bad", 1)...)...))
	c.work()
	if !c.broke {
		c.t.Fatal("the point was never reached")
	}
	c.progress(id, want.completed, want.failed, want.status)
	c.firedOnce(id, want.status)
}

// work has a worker with a database that breaks do what there is to do, and
// then another one that is well.
func (c *crash) work() {
	if !c.broke {
		ctx, stop := context.WithCancel(c.ctx())
		defer stop()
		d := &faulty{DB: c.db.DB, at: c.at, after: c.after, gone: make(chan struct{})}
		if c.dies {
			d.dead = stop
		}
		box := parts.NewOutbox(d, worker.Options{StopWhenEmpty: true, Logger: quiet(), Grace: time.Millisecond, PollInterval: 10 * time.Millisecond})
		parts.NewJoins(d, box, join.Options{}, nil)
		box.Handle("good", succeed)
		box.Handle("bad", failForGood)
		defer d.over.Store(true)
		ended := make(chan error, 1)
		c.dead.Go(func() { ended <- box.Run(ctx) })
		select {
		case err := <-ended:
			if err != nil && !c.dies {
				c.t.Fatal(err)
			}
		case <-d.gone:
			d.settled()
		}
		c.broke = d.broke.Load()
	}
	for range 3 { // what was under way comes back as a failed attempt
		c.lapse()
		_, err := c.box.WorkQueue("").ReapExpired(c.ctx())
		c.check(err)
		c.makeDue()
		c.drain(map[string]outbox.Handler{"good": succeed, "bad": failForGood})
	}
}
