package admin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func failure() error { return errors.New("no such customer") }

func TestExplainMessageScheduled(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{Due: f.now().Add(49*time.Hour + 30*time.Minute)})
		x := f.explain(id.String(), "scheduled")
		f.says(x, "Z (in 2d1h)")
		f.next(x, "to have it run now: pawl reschedule "+id.String()+" --now")
		f.fact(x, "topic", "t")
		f.fact(x, "queue", "default")
		f.fact(x, "due", "in 2d1h")
		f.pass(0)
	})
}

func TestExplainMessageRetry(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		for range 2 {
			owner, at := f.one()
			f.settled(f.Outbox.AbandonAfter(f.ctx(), owner, 0, failure(), at))
		}
		f.explain(id.String(), "queued") // the delay is over: it is no reason any more
		owner, at := f.one()
		f.settled(f.Outbox.AbandonAfter(f.ctx(), owner, time.Hour, failure(), at))
		x := f.explain(id.String(), "retry")
		f.says(x, "for attempt 4", "attempt 3 failed: no such customer.", "(in 59m")
		f.fact(x, "failed_attempts", "3")
		f.fact(x, "last_error", "no such customer")
	})
}

func TestExplainMessagePutOff(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.settled(f.Outbox.Reschedule(f.ctx(), f.now().Add(time.Hour), f.at(id)))
		f.explain(id.String(), "put_off", "no_worker")
		// Who has no handler puts it off over and over: then that comes first.
		f.worker("w", "default", "other")
		f.explain(id.String(), "no_handler", "put_off")
		f.worker("v", "default", "t")
		f.explain(id.String(), "put_off")
	})
}

func TestExplainMessageQueued(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		f.worker("x", "default", "u")
		ids, err := f.Outbox.EnqueueBatch(f.ctx(), []outbox.Message{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}, {Topic: "t", Priority: 7}})
		f.check(err)
		first := f.explain(ids[0].String(), "queued")
		f.says(first, "next in its queue", "1 live worker for it, with 4 handlers at once, held 3")
		f.fact(first, "ahead", "0")
		f.fact(first, "workers", "w")
		// Two of its own run; elsewhere, later, or not yet due is nobody before it.
		f.enqueue(outbox.Message{Queue: "elsewhere", Priority: -5})
		f.enqueue(outbox.Message{Due: f.now().Add(time.Hour), Priority: -5})
		third := f.explain(ids[2].String(), "queued")
		f.says(third, ": 2 messages go first")
		f.fact(third, "ahead", "2")
		last := f.explain(ids[3].String(), "queued")
		f.fact(last, "ahead", "3")
		for range 2 {
			f.enqueue(outbox.Message{Priority: -1, Topic: "u"})
		}
		f.fact(f.explain(ids[0].String(), "queued"), "ahead", "2")
		last = f.explain(ids[3].String(), "queued")
		f.fact(last, "ahead", "5")
		f.fact(last, "oldest_ahead", "ago")
	})
}

// What goes first is counted up to a bound.
func TestExplainMessageManyAhead(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		msgs := make([]outbox.Message, 2100)
		for i := range msgs { // every other one is another run
			msgs[i] = outbox.Message{Topic: "t", Due: f.now().Add(-time.Duration(i%2+1) * time.Hour)}
		}
		_, err := f.Outbox.EnqueueBatch(f.ctx(), msgs)
		f.check(err)
		id := f.enqueue(outbox.Message{})
		x := f.explain(id.String(), "queued")
		f.says(x, ": at least 1000 messages go first", "the oldest since", "(2h ago)")
	})
}

func TestExplainMessageNoWorker(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Queue: "mail"})
		x := f.explain(id.String(), "no_worker")
		f.says(x, `No live worker serves queue "mail".`, "claim by themselves")
		f.next(x, `start a worker that serves queue "mail"`)
		f.worker("elsewhere", "default", "t")
		f.worker("crashed", "mail", "t")
		f.explain(id.String(), "queued")
		f.crash("crashed")
		f.says(f.explain(id.String(), "no_worker"), "crashed was heard of last")
	})
}

func TestExplainMessageNoHandler(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.worker("w", "default", "u", "v")
		x := f.explain(id.String(), "no_handler")
		f.says(x, `handler for topic "t".`, "claim by themselves")
		f.next(x, `start a worker that handles topic "t" in queue "default"`)
		f.worker("far", "elsewhere", "t")
		f.says(f.explain(id.String(), "no_handler"), "far would have one, but serves other queues")
		f.worker("gone", "default", "t")
		f.explain(id.String(), "queued")
		f.crash("gone")
		f.explain(id.String(), "no_handler")
	})
}

func (f *explainFixture) pause(kind admin.Kind, name, reason string) {
	f.t.Helper()
	_, err := f.Admin.Pause(f.ctx(), kind, name, reason)
	f.check(err)
}

func TestExplainMessageQueuePaused(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "a b", "t")
		id := f.enqueue(outbox.Message{Queue: "a b"})
		f.pause(admin.Queue, "default", "")
		f.pause(admin.Topic, "a b", "not of a topic")
		f.explain(id.String(), "queued")
		f.pause(admin.Queue, "a b", "bank is down")
		x := f.explain(id.String(), "queue_paused")
		f.says(x, `"a b", by `, " since ", "ago): bank is down.")
		f.next(x, "pawl resume queue 'a b'")
	})
}

func TestExplainMessageTopicPaused(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		x := f.explain(id.String(), "topic_paused")
		f.next(x, "pawl resume topic t")
		if x.Facts.Get("parked") != "" {
			t.Errorf("it is not laid aside: %v", x.Facts)
		}
		f.park(id)
		f.fact(f.explain(id.String(), "topic_paused"), "parked", "true")
	})
}

// park has a message of a paused topic be laid aside, as workers do.
func (f *explainFixture) park(id outbox.MessageID) {
	f.t.Helper()
	f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET lane = (SELECT lane FROM " + f.db.Table("outbox_pause") + " WHERE kind = 'topic')")
	if f.at(id) == 0 {
		f.t.Fatal("it is gone")
	}
}

func TestExplainMessageTopicResuming(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		f.park(id)
		other := f.enqueue(outbox.Message{})
		f.exec("UPDATE " + f.db.Table("outbox_pause") + " SET ending = (1 = 1)")
		x := f.explain(id.String(), "topic_resuming")
		f.next(x, "pawl resume topic t")
		f.explain(other.String(), "queued") // never laid aside, so nothing holds it
		f.lostPause(id)
		_, err := f.Admin.Resume(f.ctx(), admin.Topic, "t")
		f.check(err)
		f.explain(id.String(), "queued")
	})
}

// lostPause is what one sees who looks at the pauses after, and at a message before
// it came back.
func (f *explainFixture) lostPause(id outbox.MessageID) {
	f.t.Helper()
	pauses := f.db.Table("outbox_pause")
	f.exec("UPDATE " + pauses + " SET name = 'x'")
	f.explain(id.String(), "topic_resuming")
	f.exec("UPDATE " + pauses + " SET name = 't'")
}

func TestExplainMessageDone(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.Ack(f.ctx(), owner, at))
		x := f.explain(id.String(), "done")
		f.says(x, "handled by "+f.Outbox.Worker(), "ago)")
		f.next(x, "")
	})
}

func TestExplainMessageFailed(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.AbandonAfter(f.ctx(), owner, 0, failure(), at))
		owner, at = f.one()
		f.settled(f.Outbox.Fail(f.ctx(), owner, failure(), at))
		x := f.explain(id.String(), "failed")
		f.says(x, "after 2 attempts: no such customer.", "ago)")
		f.next(x, "pawl retry "+id.String())
		// Of one that failed without a word there is none to say.
		mute := f.enqueue(outbox.Message{})
		owner, at = f.one()
		f.settled(f.Outbox.Fail(f.ctx(), owner, nil, at))
		f.says(f.explain(mute.String(), "failed"), "after 1 attempt.")
	})
}

func TestExplainMessageDiscarded(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.Fail(f.ctx(), owner, failure(), at))
		f.settled(f.Outbox.Discard(f.ctx(), outbox.FailedFilter{}))
		f.says(f.explain(id.String(), "discarded"), "no such customer.")
	})
}

func TestExplainMessageCancelled(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Due: f.now().Add(time.Hour)})
		f.settled(f.Outbox.Cancel(f.ctx(), "ordered twice", f.at(id)))
		f.says(f.explain(id.String(), "discarded"), "ordered twice.")
	})
}

// What only a person ends comes before what time ends, that before what a worker
// that starts ends.
func TestExplainOrderAllAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Due: f.now().Add(time.Hour)})
		f.pause(admin.Topic, "t", "one")
		f.pause(admin.Queue, "default", "two")
		f.explain(id.String(), "queue_paused", "topic_paused", "scheduled", "no_worker")
		f.worker("w", "default", "other")
		x := f.explain(id.String(), "queue_paused", "topic_paused", "scheduled", "no_handler")
		f.says(x, "two")
	})
}

// Each reason that is first would hold the message if those behind it went away.
func TestExplainOrderOneByOne(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		f.pause(admin.Queue, "default", "")
		f.explain(id.String(), "queue_paused", "topic_paused", "no_worker")
		_, err := f.Admin.Resume(f.ctx(), admin.Queue, "default")
		f.check(err)
		f.explain(id.String(), "topic_paused", "no_worker")
		_, err = f.Admin.Resume(f.ctx(), admin.Topic, "t")
		f.check(err)
		f.explain(id.String(), "no_worker")
		f.worker("w", "default", "u")
		f.explain(id.String(), "no_handler")
		f.worker("v", "default", "t")
		f.explain(id.String(), "queued")
	})
}

func TestExplainOrderRetry(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.AbandonAfter(f.ctx(), owner, time.Hour, failure(), at))
		f.explain(id.String(), "retry", "no_worker")
		f.worker("w", "default", "u")
		f.explain(id.String(), "retry", "no_handler")
		f.pause(admin.Topic, "t", "")
		f.explain(id.String(), "topic_paused", "retry", "no_handler")
	})
}

func TestExplainOrderParked(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		f.park(id)
		f.exec("UPDATE " + f.db.Table("outbox_pause") + " SET ending = (1 = 1)")
		f.pause(admin.Queue, "default", "")
		f.explain(id.String(), "queue_paused", "topic_resuming", "no_worker")
	})
}

// A pause begins nothing and stops nothing that runs.
func TestExplainOrderWhileItRuns(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.one()
		f.pause(admin.Queue, "default", "")
		f.pause(admin.Topic, "t", "")
		f.explain(id.String(), "leased")
	})
}

func TestExplainLeaseOfAWorker(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
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

// Tokens that workers make say whose they are, those of the inbox included.
func testLeasedForReal(t *testing.T, e dbtest.Engine, inboxWorkers *outbox.Options) {
	f := openExplain(t, e, inboxWorkers)
	begun, end := make(chan struct{}, 2), make(chan struct{})
	f.Handle("t", blocked(begun, end))
	f.Inbox.Handle("in", blockedInbox(begun, end))
	running := f.start(end)
	id := f.enqueue(outbox.Message{})
	f.deliver("shop", "17", "in")
	<-begun
	<-begun
	var x *admin.Explanation
	dbtest.Until(t, "the worker is in the list", func() bool {
		x = f.explain(id.String(), "leased")
		return x.Facts.Get("worker_id") != ""
	})
	listed, err := f.Admin.Workers(f.ctx())
	if err != nil || len(listed) != 1 {
		t.Fatalf("listed %+v, %v", listed, err)
	}
	f.fact(x, "worker_id", listed[0].ID.String())
	f.says(x, "held by worker "+f.Outbox.Worker())
	in := f.explain("shop/17", "inbox_processing")
	f.because(in, "message leased")
	f.fact(&in.Causes[0], "worker_id", listed[0].ID.String())
	running()
	f.explain(id.String(), "done")
	f.explain("shop/17", "inbox_done")
}

// Of messages that were enqueued together each is where it is.
func TestExplainLeaseBesideWhatWaits(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		ids, err := f.Outbox.EnqueueBatch(f.ctx(), []outbox.Message{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}})
		f.check(err)
		owner, msgs := f.claim(leaseTime)
		f.settled(f.Outbox.Release(f.ctx(), owner, msgs[0].WorkItemID))
		f.settled(f.Outbox.Ack(f.ctx(), owner, msgs[2].WorkItemID))
		f.fact(f.explain(ids[0].String(), "queued"), "next_attempt", "Z")
		for i, want := range []string{1: "leased", 2: "done"} {
			if i > 0 {
				if at := f.explain(ids[i].String(), want).Facts.Get("next_attempt"); at != "" {
					t.Errorf("message %d is claimable at %s", i, at)
				}
			}
		}
	})
}

func TestExplainLeaseOfACrashedWorker(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
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

func TestExplainLeaseOfAStranger(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		owner, _ := f.claim(leaseTime)
		x := f.explain(id.String(), "leased")
		f.says(x, "a program that claims by itself (token "+owner.String()+")")
		f.fact(x, "workers_of_queue", "w")
	})
}

// A worker that was killed is believed to be alive for a while: who held the lease
// is nobody to rely on.
func TestExplainLeaseExpiredOfAWorker(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
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
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
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
		_, err := f.Outbox.ReapExpired(f.ctx())
		f.check(err)
		f.worker("v", "default", "t")
		x = f.explain(id.String(), "suspect")
		f.says(x, "handles it, together with others that are suspected too, at most 1000 messages")
		f.fact(x, "suspects_at_once", "1000")
		f.claim(time.Millisecond)
		f.pass(5 * time.Millisecond)
		_, err = f.Outbox.ReapExpired(f.ctx())
		f.check(err)
		x = f.explain(id.String(), "suspect")
		f.says(x, "handles it, all by itself")
		f.fact(x, "last_error", "lease expired")
	})
}

func TestExplainLeaseOfAWorkerThatRuns(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) { testLeasedForReal(t, e, nil) })
}

func TestExplainLeaseOfWorkersApart(t *testing.T) {
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) { testLeasedForReal(t, e, &outbox.Options{Concurrency: 2}) })
}
