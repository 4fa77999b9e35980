package admin_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// blocked is a handler that says that it began and returns at the end.
func blocked(begun chan<- struct{}, end <-chan struct{}) outbox.Handler {
	return func(context.Context, *outbox.Message) error {
		begun <- struct{}{}
		<-end
		return nil
	}
}

func blockedInbox(begun chan<- struct{}, end <-chan struct{}) func(context.Context, *inbox.Message) error {
	return func(context.Context, *inbox.Message) error {
		begun <- struct{}{}
		<-end
		return nil
	}
}

// start runs the workers until the function that it returns is called, which lets
// handlers end first.
func (f *explainFixture) start(end chan struct{}) (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			f.t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		close(end)
		cancel()
		running.Wait()
	})
	f.t.Cleanup(stop)
	return stop
}

func (f *explainFixture) deliver(source, id, topic string) inbox.Key {
	f.t.Helper()
	k := inbox.Key{Source: source, MessageID: id}
	_, err := f.Inbox.Enqueue(f.ctx(), inbox.Message{Key: k, Topic: topic})
	f.check(err)
	return k
}

func TestExplainInboxQueued(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.deliver("shop", "17", "in")
		x := f.explain("shop/17", "inbox_queued")
		f.because(x, "message no_worker")
		f.says(x, "enqueued for the workers.", `No live worker serves queue "inbox"`)
		f.next(x, `start a worker that serves queue "inbox"`)
		f.fact(x, "deliveries", "1")
	})
}

func TestExplainInboxSeen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		k := inbox.Key{Source: "shop", MessageID: "17"}
		_, err := f.Inbox.AlreadyProcessed(f.ctx(), k)
		f.check(err)
		x := f.explain("shop/17", "inbox_seen")
		f.next(x, "have it delivered again")
		if err := f.Inbox.Attempt(f.ctx(), k, func(context.Context) error { return failure() }); err == nil {
			t.Fatal("the attempt did not fail")
		}
		f.says(f.explain("shop/17", "inbox_seen"), "Attempt 1 failed: no such customer.")
	})
}

func TestExplainInboxProcessing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		k := inbox.Key{Source: "shop", MessageID: "17"}
		f.check(f.Inbox.Attempt(f.ctx(), k, func(context.Context) error {
			f.says(f.explain("shop/17", "inbox_processing"), "Attempt 1 is under way", "(in ")
			return nil
		}))
		f.explain("shop/17", "inbox_done")
	})
}

func TestExplainInboxStale(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		k := inbox.Key{Source: "shop", MessageID: "17"}
		_, err := f.Inbox.AlreadyProcessed(f.ctx(), k)
		f.check(err)
		_, err = f.Inbox.MarkProcessing(f.ctx(), k)
		f.check(err)
		f.says(f.explain("shop/17", "inbox_stale"), "without a lease")
		past := "0"
		if e.Name != "sqlite" {
			past = "'2000-01-01'"
		}
		f.exec("UPDATE " + f.db.Table("inbox") + " SET locked_until_utc = " + past)
		f.says(f.explain("shop/17", "inbox_stale"), "let its lease run out")
		// One that is in the queue comes again by itself.
		q := f.deliver("shop", "18", "in")
		_, err = f.Inbox.MarkProcessing(f.ctx(), q)
		f.check(err)
		f.explain("shop/18", "inbox_queued")
	})
}

func TestExplainInboxOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		k := inbox.Key{Source: "shop", MessageID: "it's 17"}
		err := f.Inbox.Attempt(f.ctx(), k, func(context.Context) error { return outbox.Permanent(failure()) })
		if err == nil {
			t.Fatal("the attempt did not fail")
		}
		x := f.explain("shop/it's 17", "inbox_dead")
		f.says(x, "after 1 attempt: no such customer")
		f.next(x, `pawl inbox revive shop 'it'\''s 17'`)
		_, err = f.Inbox.Revive(f.ctx(), k)
		f.check(err)
		f.explain("shop/it's 17", "inbox_seen")
		f.check(f.Inbox.Attempt(f.ctx(), k, func(context.Context) error { return nil }))
		f.says(f.explain("shop/it's 17", "inbox_done"), "ago)")
	})
}

// Both halves of an id may hold slashes.
func TestExplainInboxSlashes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		for _, k := range []inbox.Key{{Source: "https://shop", MessageID: "orders/17"}, {Source: "a/b", MessageID: "c"}, {Source: "a", MessageID: "b/d"}} {
			_, err := f.Inbox.AlreadyProcessed(f.ctx(), k)
			f.check(err)
			if x := f.explain(k.String(), "inbox_seen"); x.ID != k.String() {
				t.Errorf("%v is explained as %s", k, x.ID)
			}
		}
		f.pass(time.Millisecond)
	})
}
