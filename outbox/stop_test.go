package outbox_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-776: another process stops a handler: its context ends with ErrCancelled, and the message is discarded
// with the reason, without an attempt counted. The others of its claim go on; one that has not begun
// never does; a handler that returns no error has done its work.
func TestCancelRunning(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Concurrency: 4}) // one that is free claims what waits
		var mu sync.Mutex
		causes := map[string]error{}
		begun, release := make(chan string, 10), make(chan struct{})
		handle := func(ctx context.Context, m *outbox.Message) error {
			name := string(m.Payload)
			begun <- name
			if name == "other" {
				<-release
				mu.Lock()
				defer mu.Unlock()
				causes[name] = context.Cause(ctx)
				return nil
			}
			<-ctx.Done()
			mu.Lock()
			causes[name] = context.Cause(ctx)
			mu.Unlock()
			if name == "done" {
				return nil
			}
			return errors.New("interrupted somewhere")
		}
		f.Handle("t", handle)
		f.Handle("one", handle, outbox.HandlerOptions{Concurrency: 1})
		at := map[string]outbox.Position{}
		for _, name := range []string{"bad", "done", "other", "waits"} {
			topic := "t"
			if name == "other" || name == "waits" {
				topic = "one"
			}
			at[name] = f.enqueue(outbox.Message{Topic: topic, Payload: []byte(name)})
		}
		run := f.start()
		for range 3 {
			<-begun
		}
		dbtest.Until(t, "one waits for the other", func() bool { return f.get(at["waits"]).Status == outbox.InProgress })
		elsewhere := parts.NewOutbox(f.db, worker.Options{})
		later := f.enqueue(outbox.Message{Payload: []byte("later"), Due: time.Now().Add(time.Hour)})
		n, err := elsewhere.CancelRunning(f.ctx(), "wrong", at["bad"], at["done"], at["waits"], later)
		if err != nil || n != 4 {
			t.Fatalf("%d, %v", n, err)
		}
		dbtest.Until(t, "they have ended", func() bool {
			return f.get(at["bad"]).Status == outbox.Discarded && f.get(at["done"]).Status == outbox.Done
		})
		f.status(later, outbox.Discarded)
		if got := f.get(at["bad"]); got.LastError != "wrong" || got.RetryCount != 0 {
			t.Errorf("the cancelled message: %q after %d attempts", got.LastError, got.RetryCount)
		}
		close(release)
		dbtest.Until(t, "the other has ended", func() bool { return f.get(at["other"]).Status == outbox.Done })
		dbtest.Until(t, "what waited for it has ended", func() bool { return f.get(at["waits"]).Status == outbox.Discarded })
		mu.Lock()
		defer mu.Unlock()
		if causes["other"] != nil || !errors.Is(causes["bad"], outbox.ErrCancelled) || !errors.Is(causes["done"], outbox.ErrCancelled) || len(begun) > 0 {
			t.Errorf("causes %v, %d more began", causes, len(begun))
		}
		if n, err := elsewhere.CancelRunning(f.ctx(), "late", at["bad"], at["done"]); n != 0 || err != nil {
			t.Errorf("what is over: %d, %v", n, err)
		}
		dbtest.Until(t, "nothing is asked for", func() bool { return f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_stopping")) == 0 })
		run()
		f.db.CheckPlaces(t)
	})
}

// D-777: what is to be stopped and whose worker has died is cancelled instead of tried again.
func TestCancelRunningOfTheDead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.Handle("t", func(context.Context, *outbox.Message) error { t.Error("it ran again"); return nil })
		ids := f.enqueueN(3)
		f.claimExactly(3)
		if n, err := f.CancelRunning(f.ctx(), "", ids[1], ids[2]); n != 2 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if n, err := f.CancelRunning(f.ctx(), "again", ids[2]); n != 1 || err != nil {
			t.Fatalf("again: %d, %v", n, err)
		}
		if n, err := f.CancelRunning(f.ctx(), "", ids[0]); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		if _, err := f.db.SQL.Exec("UPDATE " + f.db.Table("outbox_claim") + " SET locked_until = " + f.db.Ago(time.Hour)); err != nil {
			t.Fatal(err)
		}
		stop := f.start()
		dbtest.Until(t, "all are cancelled", func() bool {
			return f.get(ids[0]).Status == outbox.Discarded && f.get(ids[1]).Status == outbox.Discarded && f.get(ids[2]).Status == outbox.Discarded
		})
		stop()
		if a, b := f.get(ids[1]).LastError, f.get(ids[2]).LastError; a != "cancelled" || b != "again" {
			t.Errorf("the reasons are %q and %q", a, b)
		}
		f.db.CheckPlaces(t)
	})
}
