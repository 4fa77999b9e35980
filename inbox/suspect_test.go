package inbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// lapse has the worker die that holds what is in the queue.
func (f *fixture) lapse() {
	f.t.Helper()
	past := "'2000-01-01'"
	if f.db.Engine() == "sqlite" {
		past = "1"
	}
	if _, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_claim")+" SET locked_until = "+past); err != nil {
		f.t.Fatal(err)
	}
}

// D-12, D-53: a message of the queue that ends its process, handled alone, until its
// attempts are used up is dead, and not handled again.
func TestQueuePoison(t *testing.T) { dbtest.Each(t, testQueuePoison) }

func testQueuePoison(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 3}})
	m := message("poison")
	_, err := f.Enqueue(f.ctx(), m)
	f.check(err)
	box := parts.NewOutbox(f.db.DB, worker.Options{})
	for range 1 + 3 { // the first is not counted
		if msgs, err := box.WorkQueue("inbox").Claim(f.ctx(), outbox.NewOwnerToken(), time.Hour, 1); err != nil || len(msgs) != 1 {
			t.Fatalf("claimed %d: %v", len(msgs), err)
		}
		f.lapse()
	}
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { t.Error("it was handled"); return nil })
	f.check(f.Run(f.ctx()))
	got, err := f.Get(f.ctx(), m.Key)
	f.check(err)
	if got.Status != inbox.Dead || !strings.Contains(got.LastError, "lease expired") {
		t.Fatalf("it is %+v", got)
	}
}

// D-12: an attempt that ended with its process, beside whatever caused that, is not
// counted.
func TestQueueCrashedAttempt(t *testing.T) { dbtest.Each(t, testQueueCrashedAttempt) }

func testQueueCrashedAttempt(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 1}})
	m := message("held")
	_, err := f.Enqueue(f.ctx(), m)
	f.check(err)
	if ok, err := f.MarkProcessing(f.ctx(), m.Key); !ok || err != nil { // and then the process dies
		t.Fatal(ok, err)
	}
	handled := 0
	f.HandleInbox("paid", func(context.Context, *inbox.Message) error { handled++; return nil })
	f.check(f.Run(f.ctx()))
	if handled != 1 {
		t.Fatalf("handled %d times", handled)
	}
	f.state(m.Key, inbox.Done, 2, 1)
}
