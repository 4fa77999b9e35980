package outbox_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// far is a process that works on the fixture's database, and an ear for what is notified about ends.
type far struct {
	*fixture
	process engine.DB // the worker's
	release chan struct{}
	ear     *pgx.Conn
	channel string
}

// work has db's process handle messages of topic t, when they are released.
func work(t *testing.T, f *fixture, db engine.DB) *far {
	t.Helper()
	w := &far{fixture: f, process: db, release: make(chan struct{}, 1)}
	sum := md5.Sum([]byte(`"` + strings.ReplaceAll(f.db.Table("outbox_wake"), ".", `"."`) + `"`))
	w.channel = "pawl_" + hex.EncodeToString(sum[:])[:16] + "_ends"
	conn, err := pgx.Connect(t.Context(), testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err = conn.Exec(t.Context(), "LISTEN "+w.channel); err != nil {
		t.Fatal(err)
	}
	w.ear = conn
	o := parts.NewOutbox(db, worker.Options{})
	o.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		select {
		case <-w.release:
		case <-ctx.Done():
			return ctx.Err()
		}
		return m.SetResult([]byte("done"))
	})
	ctx, stop := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- o.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-worked; err != nil {
			t.Error(err)
		}
	})
	return w
}

// listening has the worker's process be notified from now on. A lock in the database does not show it: the process
// that had the schema before may hold it still.
func (w *far) listening() {
	w.t.Helper()
	waiter := w.process.Waiter("listening")
	w.t.Cleanup(waiter.Close) // who leaves last ends the connection, and the worker may not have joined
	dbtest.Until(w.t, "the worker's process is notified", func() bool { _, err := waiter.Subscribe(w.ctx()); return err == nil })
}

// told returns the next payload about ends that begins with mark.
func (w *far) told(mark string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx(), 3*time.Minute)
	defer cancel()
	for {
		n, err := w.ear.WaitForNotification(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.HasPrefix(n.Payload, mark) {
			return n.Payload[len(mark):]
		}
	}
}

// heard waits until the worker's process has received all that was notified so far: its connection receives in
// order, but not at the same time as the ear.
func (w *far) heard() {
	w.t.Helper()
	barrier := w.process.Waiter("barrier")
	defer barrier.Close()
	if _, err := w.db.SQL.ExecContext(w.ctx(), "SELECT pg_notify($1, 'barrier')", strings.TrimSuffix(w.channel, "_ends")); err != nil {
		w.t.Fatal(err)
	}
	if !barrier.Sleep(w.ctx(), 3*time.Minute) {
		w.t.Fatal("the worker's process receives nothing")
	}
}

// await enqueues a message and awaits it.
func (w *far) await() (done chan string) {
	w.t.Helper()
	id, err := w.Enqueue(w.ctx(), outbox.Message{Topic: "t"})
	if err != nil {
		w.t.Fatal(err)
	}
	done = make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(w.ctx(), 3*time.Minute)
		defer cancel()
		data, err := w.Await(ctx, id)
		if err != nil {
			data = []byte(err.Error())
		}
		done <- string(data)
	}()
	return done
}

// D-830: a worker of another process tells who awaits a message of its end, without another poll. What
// ended is forgotten.
func TestAwaitOthers(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, f.db.Another(t))
	w.listening()
	f.AwaitEvery(time.Hour)
	for range 2 {
		done := w.await()
		asked := w.told("?")
		w.heard()
		w.release <- struct{}{}
		if told := w.told("!"); told != asked {
			t.Errorf("asked for %s, told %s", asked, told)
		}
		if got := <-done; got != "done" {
			t.Error(got)
		}
	}
}

// D-830: so does another worker of the same process, without a notification.
func TestAwaitAnotherOfTheProcess(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, f.db.DB)
	w.listening()
	f.AwaitEvery(time.Hour)
	done := w.await()
	w.told("?")
	w.release <- struct{}{}
	if got := <-done; got != "done" {
		t.Error(got)
	}
}

// D-831: who awaits nothing for long asks nobody, and nobody is told.
func TestNobodyAsks(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, f.db.Another(t))
	w.listening()
	f.AwaitEvery(10 * time.Millisecond)
	s := f.db.Waiter("another") // this process could ask at once
	defer s.Close()
	dbtest.Until(t, "it listens", func() bool { _, err := s.Subscribe(t.Context()); return err == nil })
	for range 3 {
		done := w.await()
		dbtest.Until(t, "it is awaited", func() bool { return f.Awaiting() == 1 })
		w.release <- struct{}{}
		if got := <-done; got != "done" {
			t.Error(got)
		}
	}
	if _, err := f.db.SQL.ExecContext(f.ctx(), "SELECT pg_notify($1, 'end of test')", w.channel); err != nil {
		t.Fatal(err)
	}
	if heard := w.told(""); heard != "end of test" {
		t.Errorf("heard %q", heard)
	}
}

// D-832: a worker that is not notified tells nobody: a poll finds the end.
func TestAwaitWithoutNotifications(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, dbtest.PostgresAt(t, postgres.Options{Schema: strings.TrimSuffix(f.db.Table(""), "."), PollOnly: true}))
	done := w.await()
	w.told("?")
	w.release <- struct{}{}
	if got := <-done; got != "done" {
		t.Error(got)
	}
}

// D-832: who awaits through a connection pool alone does not listen: a poll finds the end.
func TestAwaitPollOnly(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, f.db.Another(t))
	w.Outbox = parts.NewOutbox(dbtest.PostgresAt(t, postgres.Options{Schema: strings.TrimSuffix(f.db.Table(""), "."), PollOnly: true}), worker.Options{})
	done := w.await()
	w.release <- struct{}{}
	if got := <-done; got != "done" {
		t.Error(got)
	}
}

// D-830: a worker that starts after the message is awaited is asked, too.
func TestAwaitAsksAgain(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.Named(t, "postgres"))
	w := work(t, f, f.db.Another(t))
	done := w.await()
	if first, again := w.told("?"), w.told("?"); first != again {
		t.Errorf("asked for %s, then for %s", first, again)
	}
	w.release <- struct{}{}
	if got := <-done; got != "done" {
		t.Error(got)
	}
}
