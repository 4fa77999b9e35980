package checker_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// faulty is a database of which a test decides what works.
type faulty struct {
	engine.DB
	rule atomic.Pointer[func(ctx context.Context, op string) error]
}

// breaks has f decide; nil lets everything pass.
func (f *faulty) breaks(rule func(ctx context.Context, op string) error) {
	if rule == nil {
		f.rule.Store(nil)
		return
	}
	f.rule.Store(&rule)
}

func (f *faulty) ask(ctx context.Context, op string) error {
	if rule := f.rule.Load(); rule != nil {
		return (*rule)(ctx, op)
	}
	return nil
}

func (f *faulty) Do(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		if err := f.ask(ctx, c.Name()); err != nil {
			return err
		}
	}
	return f.DB.Do(ctx, calls...)
}

func (f *faulty) Read(ctx context.Context, c *engine.Call) error {
	if err := f.ask(ctx, c.Name()); err != nil {
		return err
	}
	return f.DB.Read(ctx, c)
}

func (f *faulty) CheckSchema(ctx context.Context) error {
	if err := f.ask(ctx, "schema"); err != nil {
		return err
	}
	return f.DB.CheckSchema(ctx)
}

// fixture is a pawl on a fresh database.
type fixture struct {
	*pawl.Pawl
	t  *testing.T
	db dbtest.Database
	faulty
	stop  context.CancelFunc
	ended chan struct{}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// soon makes a fault show within a test. The time-out is for the machine.
func soon() health.Options {
	return health.Options{Timeout: 20 * time.Second, Waiting: 20 * time.Millisecond, Busy: 60 * time.Millisecond, Failing: 20 * time.Millisecond}
}

func open(t *testing.T, e dbtest.Engine, o pawl.Options) *fixture {
	t.Helper()
	return on(t, e.Open(t), o)
}

func on(t *testing.T, db dbtest.Database, o pawl.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, db: db}
	f.faulty.DB = db.DB
	o.Logger = quiet()
	o.PollInterval = 50 * time.Millisecond
	var err error
	if f.Pawl, err = pawl.New(&f.faulty, o); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

// run works until the test or halt ends it.
func (f *fixture) run() {
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.WithoutCancel(f.ctx()))
	f.ended = make(chan struct{})
	go func() {
		defer close(f.ended)
		if err := f.Run(ctx); err != nil {
			f.t.Error(err)
		}
	}()
	f.t.Cleanup(f.halt)
}

func (f *fixture) halt() {
	f.breaks(nil)
	f.stop()
	<-f.ended
}

func (f *fixture) enqueue(m outbox.Message) outbox.MessageID {
	f.t.Helper()
	if m.Topic == "" {
		m.Topic = "t"
	}
	id, err := f.Outbox.Enqueue(f.ctx(), m)
	f.check(err)
	return id
}

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// until waits for a check to come to a verdict.
func (f *fixture) until(name string, want health.Level) health.Finding {
	f.t.Helper()
	return f.awaits("Health", func() health.Report { return f.Health(f.ctx()) }, name, want)
}

func (f *fixture) awaits(what string, look func() health.Report, name string, want health.Level) (got health.Finding) {
	f.t.Helper()
	var last health.Report
	defer func() {
		if f.t.Failed() {
			f.t.Logf("%s said:\n%s", what, last)
		}
	}()
	dbtest.Until(f.t, name+" is "+want.String(), func() bool {
		last = look()
		c := last.Find(name)
		if c != nil {
			got = *c
		}
		return c != nil && c.Level == want
	})
	return got
}

// well waits until nothing fails.
func (f *fixture) well() {
	f.t.Helper()
	var last health.Report
	dbtest.Until(f.t, "all is well", func() bool {
		last = f.Health(f.ctx())
		return last.Healthy()
	})
}

// works waits until all is well and the queue's loop at work.
func (f *fixture) works() {
	f.t.Helper()
	dbtest.Until(f.t, "the loop of the queue is at work", func() bool {
		c := f.Health(f.ctx()).Find("loop/queue default")
		return c != nil && c.Facts.Get("last_success") != nil
	})
	f.well()
}

// alive insists on the loops going round.
func (f *fixture) alive() {
	f.t.Helper()
	if r := f.Alive(); !r.Healthy() {
		f.t.Errorf("not alive:\n%s", r)
	}
}

// gate is where handlers wait.
type gate struct {
	once   sync.Once
	open   chan struct{}
	inside chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{}), inside: make(chan struct{}, 100)} }

func (g *gate) Handle(ctx context.Context, _ *outbox.Message) error {
	g.inside <- struct{}{}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }
