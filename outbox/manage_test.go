package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func TestGetUnknown(t *testing.T) { dbtest.Each(t, testGetUnknown) }

func testGetUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.GetByPosition(f.ctx(), 12345); !errors.Is(err, outbox.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	for _, id := range []outbox.MessageID{{1}, {0, 0, 0, 0, 0, 0, 0x80, 0, 0x80, 1}} {
		if _, err := f.Get(f.ctx(), id); !errors.Is(err, outbox.ErrNotFound) {
			t.Fatalf("want ErrNotFound, got %v", err)
		}
	}
}

// scatter leaves one message in every state.
func (f *fixture) scatter() {
	f.t.Helper()
	ids := f.enqueueN(5)
	owner, _ := f.claimExactly(5)
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[0]))
	f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("e"), ids[1], ids[2]))
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: ids[2:3]}))
	f.touched(1)(f.Release(f.ctx(), owner, ids[3]))
	f.enqueue(outbox.Message{Topic: "later", Due: time.Now().Add(time.Hour)})
	f.counts(outbox.Counts{Ready: 1, Scheduled: 1, InProgress: 1, Done: 1, Failed: 1, Discarded: 1})
}

// D-26
func TestRedrive(t *testing.T) { dbtest.Each(t, testRedrive) }

func testRedrive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(4)
	owner, _ := f.claimExactly(4)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("first")), ids[0]))
	again, _ := f.claimExactly(1)
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), again, errors.New("last"), ids[0]))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("e"), ids[1]))
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[2]))
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{ids[0], ids[2], ids[3], 99999}}))
	got := f.status(ids[0], outbox.Ready)
	if got.RetryCount != 0 || got.LastError != "last" || got.Redrives != 1 {
		t.Fatalf("redriven message is %+v", got)
	}
	if _, msgs := f.claimExactly(1); msgs[0].Position != ids[0] || msgs[0].RetryCount != 0 {
		t.Fatalf("claimed %+v", msgs[0])
	}
	f.counts(outbox.Counts{InProgress: 2, Failed: 1, Done: 1})
}

// D-26
func TestRedriveWakes(t *testing.T) { dbtest.Each(t, testRedriveWakes) }

func testRedriveWakes(t *testing.T, e dbtest.Engine) {
	f := open(t, e, slow())
	calls := make(chan int, 10)
	n := 0
	f.handle("t", func(context.Context, *outbox.Message) error {
		n++
		calls <- n
		return outbox.Permanent(errors.New("no"))
	})
	id := f.enqueue(outbox.Message{})
	f.start()
	<-calls
	f.untilStatus(id, outbox.Failed)
	admin := parts.NewOutbox(f.db.Another(t), worker.Options{})
	f.touched(1)(changed(admin.Redrive)(f.ctx(), outbox.FailedFilter{}))
	select {
	case <-calls:
	case <-time.After(2 * time.Minute):
		t.Fatal("the redriven message was not picked up")
	}
}

// D-26
func TestRedriveFiltered(t *testing.T) { dbtest.Each(t, testRedriveFiltered) }

func testRedriveFiltered(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, topic := range []string{"a", "a", "a", "b"} {
		f.enqueue(outbox.Message{Topic: topic})
	}
	owner, msgs := f.claimExactly(4)
	f.touched(4)(f.WorkQueue("").Fail(f.ctx(), owner, nil, positions(msgs)...))
	f.touched(2)(f.Redrive(f.ctx(), outbox.FailedFilter{Topic: "a", Limit: 2}))
	f.touched(0)(f.Redrive(f.ctx(), outbox.FailedFilter{Topic: "c"}))
	f.touched(0)(f.Redrive(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{}}))
	f.touched(2)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
	f.counts(outbox.Counts{Ready: 4})
}

// D-26
func TestDiscard(t *testing.T) { dbtest.Each(t, testDiscard) }

func testDiscard(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(3)
	owner, _ := f.claimExactly(3)
	f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("e"), ids[0], ids[1]))
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{ids[0], ids[2]}}))
	f.status(ids[0], outbox.Discarded)
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
	f.counts(outbox.Counts{Discarded: 1, InProgress: 1, Ready: 1})
}

// D-25
func TestRetention(t *testing.T) { dbtest.Each(t, testRetention) }

func testRetention(t *testing.T, e dbtest.Engine) {
	const keep = 200 * time.Millisecond
	f := open(t, e, worker.Options{Retention: keep})
	f.enqueueBatch(2500)
	owner, msgs := f.claim(1000)
	f.touched(1000)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	owner, msgs = f.claim(1000)
	f.touched(1000)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	f.db.Pass(keep + time.Millisecond)
	f.touched(2000)(f.CleanUp(f.ctx()))
	f.touched(0)(f.CleanUp(f.ctx()))
	f.counts(outbox.Counts{Ready: 500})
	if _, err := f.GetByPosition(f.ctx(), msgs[0].Position); !errors.Is(err, outbox.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
}

// D-25
func TestRetentionKeepsTheRest(t *testing.T) { dbtest.Each(t, testRetentionKeepsTheRest) }

func testRetentionKeepsTheRest(t *testing.T, e dbtest.Engine) {
	const keep = 5 * time.Second // longer than a busy machine takes for what comes before
	f := open(t, e, worker.Options{Retention: keep})
	f.scatter()
	f.touched(0)(f.CleanUp(f.ctx()))
	f.db.Pass(keep + time.Millisecond)
	f.claimExactly(1)
	f.touched(2)(f.CleanUp(f.ctx())) // the done one and the discarded one
	f.counts(outbox.Counts{Scheduled: 1, InProgress: 2, Failed: 1})
	var left int
	f.row("SELECT count(*) FROM "+f.db.Table("outbox_message"), &left)
	if left != 4 {
		t.Fatalf("%d messages left, want 4", left)
	}
}
