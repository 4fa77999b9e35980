package admin_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/outboxtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/outbox"
)

// eachServer runs a test on every engine that has concurrent writers and routines,
// beside the package's others.
func eachServer(t *testing.T, test func(t *testing.T, e dbtest.Engine)) {
	t.Helper()
	t.Parallel()
	for _, e := range dbtest.Engines() {
		if e.Name == "sqlite" {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// fixture is a pawl on a fresh database, of which an observer sees everything.
type fixture struct {
	*pawl.Pawl
	t    *testing.T
	db   dbtest.Database
	seen *outboxtest.Watcher
}

func open(t *testing.T, e dbtest.Engine, opts ...pawl.Options) *fixture {
	t.Helper()
	var o pawl.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db := e.Open(t)
	return on(t, db, db.DB, o)
}

// on returns a pawl over one handle on a database.
func on(t *testing.T, db dbtest.Database, handle engine.DB, o pawl.Options) *fixture {
	t.Helper()
	o.Logger, o.PollInterval = slog.New(slog.DiscardHandler), 20*time.Millisecond
	p, err := pawl.New(handle, o)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Pawl: p, t: t, db: db, seen: outboxtest.NewWatcher()}
	seen := f.seen.Observer()
	f.Internal(access.Key{}).Observe(&seen)
	return f
}

// another is the same database as another process sees it.
func (f *fixture) another(o pawl.Options) *fixture {
	f.t.Helper()
	return on(f.t, f.db, f.db.Another(f.t), o)
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// start runs the outbox until the test stops it.
func (f *fixture) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- parts.RunOutbox(ctx, f.db.DB, f.Pawl) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("Run: %v", err)
		}
	})
	f.t.Cleanup(stop)
	return stop
}

// drain handles what is due in some queues, by a process of its own.
func (f *fixture) drain(handle outbox.Handler, queues ...string) *fixture {
	f.t.Helper()
	d := on(f.t, f.db, f.db.DB, pawl.Options{StopWhenEmpty: true, Queues: queues})
	for _, topic := range []string{"p", "q", "u"} {
		d.Handle(topic, handle)
	}
	ctx, cancel := context.WithTimeout(f.ctx(), 3*time.Minute)
	defer cancel()
	f.check(parts.RunOutbox(ctx, f.db.DB, d.Pawl))
	if ctx.Err() != nil {
		f.t.Fatal("a drain did not end by itself")
	}
	return d
}

func done(context.Context, *outbox.Message) error { return nil }

// put stores one message and returns its position.
func (f *fixture) put(m outbox.Message) outbox.Position {
	f.t.Helper()
	id, err := f.Outbox.Enqueue(f.ctx(), m)
	f.check(err)
	info, err := f.Outbox.Get(f.ctx(), id)
	f.check(err)
	return info.Position
}

// mixed stores n messages of each topic, alternately, in one batch, and returns
// their positions by topic.
func (f *fixture) mixed(n int, topics ...string) map[string][]outbox.Position {
	f.t.Helper()
	var msgs []outbox.Message
	for i := range n {
		for _, topic := range topics {
			msgs = append(msgs, outbox.Message{Topic: topic, Payload: fmt.Append(nil, i)})
		}
	}
	ids, err := f.Outbox.EnqueueBatch(f.ctx(), msgs)
	f.check(err)
	all := map[string][]outbox.Position{}
	for i, id := range ids {
		topic := topics[i%len(topics)]
		position := binary.BigEndian.Uint64(id[8:]) & (1<<48 - 1) // see docs/layout.md
		all[topic] = append(all[topic], outbox.Position(position))
	}
	return all
}

func (f *fixture) get(id outbox.Position) *outbox.Info {
	f.t.Helper()
	info, err := f.Outbox.GetByPosition(f.ctx(), id)
	f.check(err)
	return info
}

func (f *fixture) status(want outbox.Status, ids ...outbox.Position) {
	f.t.Helper()
	for _, id := range ids {
		if got := f.get(id); got.Status != want {
			f.t.Fatalf("message %d is %v, want %v", id, got.Status, want)
		}
	}
}

func (f *fixture) counts(want outbox.Counts) {
	f.t.Helper()
	got, err := f.Outbox.Count(f.ctx())
	f.check(err)
	if got != want {
		f.t.Fatalf("counts are %+v, want %+v", got, want)
	}
}

func (f *fixture) untilCounts(what string, want outbox.Counts) {
	f.t.Helper()
	var got outbox.Counts
	defer func() {
		if f.t.Failed() {
			f.t.Logf("counts are %+v, want %+v", got, want)
		}
	}()
	dbtest.Until(f.t, what, func() bool {
		var err error
		got, err = f.Outbox.Count(f.ctx())
		f.check(err)
		return got == want
	})
}

// wantParked insists on how many messages are parked.
func (f *fixture) wantParked(want int) {
	f.t.Helper()
	if n := f.db.Aside(f.t); n != want {
		f.t.Fatalf("%d messages are parked, want %d", n, want)
	}
}

// pause and resume insist on the answer.
func (f *fixture) pause(kind admin.Kind, name string) { f.t.Helper(); f.pauses(true, kind, name) }

func (f *fixture) pauses(want bool, kind admin.Kind, name string) {
	f.t.Helper()
	got, err := f.Admin.Pause(f.ctx(), kind, name, "maintenance")
	f.check(err)
	if got != want {
		f.t.Fatalf("pausing %s %q said %v, want %v", kind, name, got, want)
	}
}

func (f *fixture) resume(kind admin.Kind, name string) { f.t.Helper(); f.resumes(true, kind, name) }

func (f *fixture) resumes(want bool, kind admin.Kind, name string) {
	f.t.Helper()
	got, err := f.Admin.Resume(f.ctx(), kind, name)
	f.check(err)
	if got != want {
		f.t.Fatalf("resuming %s %q said %v, want %v", kind, name, got, want)
	}
}

func (f *fixture) paused() []admin.Pause {
	f.t.Helper()
	all, err := f.Admin.Pauses(f.ctx())
	f.check(err)
	return all
}

func (f *fixture) trail(filter audit.Options) []audit.Entry {
	f.t.Helper()
	all, err := engine.Collect(audit.List(f.ctx(), f.db, filter), 100)
	f.check(err)
	return all
}

// refused insists on an invalid argument that names the field.
func (f *fixture) refused(field string, err error) {
	f.t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) || invalid.Field() != field {
		f.t.Fatalf("want an invalid %s, got %v", field, err)
	}
}

// tally counts how often each message was handled.
type tally struct {
	mu   sync.Mutex
	n    map[outbox.Position]int
	sums int
}

func newTally() *tally { return &tally{n: map[outbox.Position]int{}} }

// Handle counts.
func (c *tally) Handle(_ context.Context, m *outbox.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[m.Position]++
	c.sums++
	return nil
}

func (c *tally) sum() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sums
}

// once insists on n messages, each handled once.
func (c *tally) once(t *testing.T, n int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.n) != n || c.sums != n {
		t.Fatalf("%d messages were handled %d times, want %d once", len(c.n), c.sums, n)
	}
}
