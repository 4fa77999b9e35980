package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// handoverDB is a database that counts messages which are written as claimed.
type handoverDB struct {
	engine.DB
	tried   atomic.Int64
	written atomic.Int64
	after   atomic.Pointer[func(error) error] // what their commit returns
}

func (db *handoverDB) Do(ctx context.Context, calls ...*engine.Call) error {
	err := db.DB.Do(ctx, calls...)
	last := calls[len(calls)-1]
	if _, ok := last.Operation.(op.OutboxEnqueueClaimed); !ok || err != nil {
		return err
	}
	db.tried.Add(1)
	db.written.Add(last.N)
	if f := db.after.Load(); f != nil {
		err = (*f)(err)
	}
	return err
}

// handing is an outbox whose workers wait an hour for what is not handed over.
func handing(t *testing.T, e dbtest.Engine) (*fixture, *handoverDB) {
	t.Helper()
	f := open(t, e)
	db := &handoverDB{DB: f.db.DB}
	f.Outbox = parts.NewOutbox(db, worker.Options{Lease: time.Hour, PollInterval: time.Hour})
	return f, db
}

// handOver enqueues until a message is handed over: a loop is not always idle, and on a slow
// server never while messages come faster than it claims them.
func (f *fixture) handOver(db *handoverDB, m outbox.Message) (id outbox.MessageID) {
	f.t.Helper()
	return f.enqueueUntil(&db.written, m)
}

// enqueueUntil enqueues until a count of handing over rises.
func (f *fixture) enqueueUntil(count *atomic.Int64, m outbox.Message) (id outbox.MessageID) {
	f.t.Helper()
	pause := time.Duration(0)
	dbtest.Until(f.t, "a message is handed over", func() bool {
		time.Sleep(pause)
		pause = min(pause+10*time.Millisecond, time.Second/2)
		before := count.Load()
		var err error
		if id, err = f.Enqueue(f.ctx(), m); err != nil && !errors.Is(err, engine.ErrCommitUnknown) {
			f.t.Fatal(err)
		}
		return count.Load() > before
	})
	return id
}

// A message that is handed over is the one that a claim would have returned, and the caller's
// payload may change.
func TestHandOver(t *testing.T) { dbtest.Each(t, testHandOver) }

func testHandOver(t *testing.T, e dbtest.Engine) {
	f, db := handing(t, e)
	var handled sync.Map
	f.handle("t", func(_ context.Context, m *outbox.Message) error {
		handled.Store(m.ID, m)
		return nil
	})
	f.start()
	m := outbox.Message{Topic: "t", Payload: []byte("payload"), CorrelationID: "c", Headers: map[string]string{"h": "v"}, Priority: 3}
	id := f.handOver(db, m)
	info := f.untilStatus(f.find(id).Position, outbox.Done)
	m.Payload[0] = 'x'
	got, _ := handled.Load(id)
	want := *got.(*outbox.Message)
	if want.ID != id || !bytes.Equal(want.Payload, []byte("payload")) || want.CorrelationID != "c" || !maps.Equal(want.Headers, m.Headers) ||
		want.Queue != outbox.DefaultQueue || want.Priority != 3 || want.RetryCount != 0 || want.Owner == (outbox.OwnerToken{}) {
		t.Errorf("handled %+v", want)
	}
	if !want.CreatedAt.Equal(info.CreatedAt) || info.Topic != m.Topic || info.ID != id {
		t.Errorf("handled as of %v, stored as of %v", want.CreatedAt, info.CreatedAt)
	}
}

// A message without a handler here is left to other processes.
func TestNoHandOverWithoutAHandler(t *testing.T) { dbtest.Each(t, testNoHandOverWithoutAHandler) }

func testNoHandOverWithoutAHandler(t *testing.T, e dbtest.Engine) {
	f, db := handing(t, e)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.start()
	f.handOver(db, outbox.Message{Topic: "t"})
	before := db.written.Load()
	for range 5 {
		if _, err := f.Enqueue(t.Context(), outbox.Message{Topic: "another's"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := db.written.Load() - before; n > 0 {
		t.Errorf("%d were claimed for a process that has no handler", n)
	}
}

// D-4: a message whose commit is not known is handled at once if it is there, not when its
// lease expires.
func TestHandOverOfUnknownCommit(t *testing.T) { dbtest.Each(t, testHandOverOfUnknownCommit) }

func testHandOverOfUnknownCommit(t *testing.T, e dbtest.Engine) {
	f, db := handing(t, e)
	lost := func(error) error {
		return &engine.Error{Op: "test", Class: engine.ErrCommitUnknown, Err: errors.New("connection lost")}
	}
	db.after.Store(&lost)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	f.start()
	id := f.handOver(db, outbox.Message{Topic: "t"})
	f.untilStatus(f.find(id).Position, outbox.Done)
}

// D-19: a message that is committed after its worker has ended is released, not kept for the
// length of its lease.
func TestHandOverToAStoppedWorker(t *testing.T) { dbtest.Each(t, testHandOverToAStoppedWorker) }

func testHandOverToAStoppedWorker(t *testing.T, e dbtest.Engine) {
	f, db := handing(t, e)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	stop := f.start()
	ends := func(err error) error { stop(); return err }
	db.after.Store(&ends)
	id := f.handOver(db, outbox.Message{Topic: "t"})
	if i := f.find(id); i.Status != outbox.Ready || i.RetryCount != 0 {
		t.Errorf("it is %v after %d attempts", i.Status, i.RetryCount)
	}
}
