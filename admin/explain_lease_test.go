package admin_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

func TestExplainLeaseOfAWorker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("other", "default", "t")
		w := f.worker("mine", "default", "t")
		id := f.enqueue(outbox.Message{})
		owner := w.Tag().NewOwnerToken()
		f.claimAs(owner, time.Hour)
		x := f.explain(id.String(), "leased")
		f.says(x, "held by worker mine", "(in 59m")
		f.fact(x, "worker", "mine")
		f.fact(x, "worker_id", w.ID().String())
		f.fact(x, "owner_token", owner.String())
		f.fact(x, "lease_until", "in 59m")
	})
}

func testLeasedForReal(t *testing.T, e dbtest.Engine) {
	f := openExplain(t, e)
	begun, end := make(chan struct{}, 2), make(chan struct{})
	f.Handle("t", blocked(begun, end))
	f.HandleInbox("in", blockedInbox(begun, end))
	running := f.start(end)
	id := f.enqueue(outbox.Message{})
	f.deliver("shop", "17", "in")
	<-begun
	<-begun
	var x *admin.Explanation
	dbtest.Until(t, "the worker is in the list", func() bool {
		x = f.explain(id.String(), "leased")
		return x.Facts.Get("worker_id") != nil
	})
	listed, err := inspect.ListWorkers(f.ctx(), f.db)
	if err != nil || len(listed) != 1 {
		t.Fatalf("listed %+v, %v", listed, err)
	}
	f.fact(x, "worker_id", listed[0].ID.String())
	f.says(x, "held by worker "+engine.ProcessName())
	in := f.explain("shop/17", "inbox_processing")
	f.because(in, "message leased")
	f.fact(&in.Causes[0], "worker_id", listed[0].ID.String())
	running()
	f.explain(id.String(), "done")
	f.explain("shop/17", "inbox_done")
}

func TestExplainLeaseBesideWhatWaits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		ids, err := f.Outbox.EnqueueBatch(f.ctx(), []outbox.Message{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}})
		f.check(err)
		owner, msgs := f.claim(leaseTime)
		f.settled(f.Outbox.Release(f.ctx(), owner, msgs[0].Position))
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, msgs[2].Position))
		f.fact(f.explain(ids[0].String(), "queued"), "next_attempt", "Z")
		for i, want := range []string{1: "leased", 2: "done"} {
			if i > 0 {
				if at := f.explain(ids[i].String(), want).Facts.Get("next_attempt"); at != nil {
					t.Errorf("message %d is claimable at %s", i, at)
				}
			}
		}
	})
}

func TestExplainLeaseOfACrashedWorker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		w := f.worker("mine", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.claimAs(w.Tag().NewOwnerToken(), leaseTime)
		f.crash("mine")
		f.says(f.explain(id.String(), "leased"), "held by worker mine", "last heard of")
		w.Leave(f.ctx())
		f.says(f.explain(id.String(), "leased"), "not in the list of workers any more")
	})
}

// D-495: a message whose handler ignores its time-out is explained as that.
func TestExplainOverdueHandler(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.enqueue(outbox.Message{})
		f.enqueue(outbox.Message{})
		w := registry.New(f.db.DB, quiet(), activity.New())
		msgs := f.claimAs(w.Tag().NewOwnerToken(), leaseTime)
		w.Show(f.ctx(), registry.Self{Name: "mine", Queues: []string{"default"}, Topics: []string{"t"}, Overdue: func() []int64 { return []int64{int64(msgs[1].Position)} }})
		f.says(f.explain(msgs[1].ID.String(), "handler_overdue"), "by worker mine")
		f.explain(msgs[0].ID.String(), "leased")
		f.crash("mine")
		f.explain(msgs[1].ID.String(), "leased")
	})
}

// D-797: a message is explained with what its handler says of its progress.
func TestExplainProgress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.enqueue(outbox.Message{})
		f.enqueue(outbox.Message{})
		w := registry.New(f.db.DB, quiet(), activity.New())
		msgs := f.claimAs(w.Tag().NewOwnerToken(), leaseTime)
		w.Show(f.ctx(), registry.Self{Name: "mine", Queues: []string{"default"}, Topics: []string{"t"}, Progress: func() []worker.Progress {
			return []worker.Progress{{Position: int64(msgs[1].Position), Done: 0.4, Note: "rows 40 000", At: time.Now()}}
		}})
		x := f.explain(msgs[1].ID.String(), "leased")
		f.says(x, "Its handler is at 40 %, rows 40 000.")
		f.fact(x, "progress_at", "Z")
		if x := f.explain(msgs[0].ID.String(), "leased"); x.Facts.Get("progress") != nil {
			t.Errorf("of another message: %v", x.Facts)
		}
	})
}

func TestExplainLeaseOfAStranger(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		owner, _ := f.claim(leaseTime)
		x := f.explain(id.String(), "leased")
		f.says(x, "a program that claims by itself (token "+owner.String()+")")
		f.fact(x, "workers_of_queue", "w")
	})
}

func TestExplainLeaseExpiredOfAWorker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		w := f.worker("mine", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.claimAs(w.Tag().NewOwnerToken(), time.Millisecond)
		f.pass(5 * time.Millisecond)
		x := f.explain(id.String(), "lease_expired")
		f.says(x, "held by worker mine", "No other live worker is there to put it back")
		f.next(x, "start a worker, of whatever queue")
		f.worker("other", "elsewhere", "u")
		x = f.explain(id.String(), "lease_expired")
		f.says(x, "A live worker puts it back")
		f.next(x, "")
	})
}

func TestExplainLeaseExpired(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.claim(time.Millisecond)
		f.pass(5 * time.Millisecond)
		x := f.explain(id.String(), "lease_expired")
		f.says(x, "ran out at", "No live worker is there")
		f.next(x, "start a worker, of whatever queue")
		f.worker("w", "elsewhere", "u")
		x = f.explain(id.String(), "lease_expired")
		f.says(x, "puts it back")
		f.next(x, "")
		_, err := f.Outbox.WorkQueue("").ReapExpired(f.ctx())
		f.check(err)
		f.worker("v", "default", "t")
		x = f.explain(id.String(), "suspect")
		f.says(x, "handles it, together with others that are suspected too, at most 1000 messages")
		f.fact(x, "suspects_at_once", "1000")
		f.claim(time.Millisecond)
		f.pass(5 * time.Millisecond)
		_, err = f.Outbox.WorkQueue("").ReapExpired(f.ctx())
		f.check(err)
		x = f.explain(id.String(), "suspect")
		f.says(x, "handles it, all by itself")
		f.fact(x, "last_error", "lease expired")
	})
}

func TestExplainLeaseOfAWorkerThatRuns(t *testing.T) {
	dbtest.Each(t, testLeasedForReal)
}
