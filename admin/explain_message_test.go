package admin_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func failure() error { return errors.New("no such customer") }

func TestExplainMessageScheduled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{Due: f.now().Add(49*time.Hour + 30*time.Minute)})
		x := f.explain(id.String(), "scheduled")
		f.says(x, "Z (in 2d1h)")
		f.next(x, "to have it run now: pawl reschedule "+id.String()+" --due now")
		f.fact(x, "topic", "t")
		f.fact(x, "queue", "default")
		f.fact(x, "due", "in 2d1h")
		f.pass(0)
	})
}

func TestExplainMessageRetry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		for range 2 {
			owner, at := f.one()
			f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, failure()), at))
		}
		f.explain(id.String(), "queued") // the delay is over: it is no reason any more
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, failure()), at))
		x := f.explain(id.String(), "retry")
		f.says(x, "for attempt 4", "attempt 3 failed: no such customer.", "(in 59m")
		f.fact(x, "failed_attempts", "3")
		f.fact(x, "last_error", "no such customer")
	})
}

func TestExplainMessagePutOff(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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

// D-842: of a message that takes turns only those of its own key go first, and nothing is said of a time that is none.
func TestExplainMessageInTurn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		msgs := make([]outbox.Message, 9)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t", Headers: map[string]string{"pawl-fair-key": string(rune('a' + i%3))}}
		}
		ids, err := f.Outbox.EnqueueBatch(f.ctx(), append(msgs, outbox.Message{Topic: "t"}))
		f.check(err)
		first := f.explain(ids[1].String(), "queued")
		f.says(first, "next in its queue")
		last := f.explain(ids[8].String(), "queued")
		f.says(last, "takes turns with the messages of other keys: 2 messages of its own key go first")
		f.fact(last, "ahead", "2")
		f.fact(f.explain(ids[9].String(), "queued"), "ahead", "0")
	})
}

func TestExplainMessageQueued(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
		f.worker("relay", "default", "t*") // a handler of all that begin with t
		f.explain(id.String(), "queued")
	})
}

func (f *explainFixture) pause(kind admin.Kind, name, reason string) {
	f.t.Helper()
	_, err := f.Admin.Pause(f.ctx(), kind, name, reason)
	f.check(err)
}

func TestExplainMessageQueuePaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		x := f.explain(id.String(), "topic_paused")
		f.next(x, "pawl resume topic t")
		if x.Facts.Get("parked") != nil {
			t.Errorf("it is not parked: %v", x.Facts)
		}
		f.park(id)
		f.fact(f.explain(id.String(), "topic_paused"), "parked", "true")
	})
}

// park parks a message of a paused topic, as workers do.
func (f *explainFixture) park(id outbox.MessageID) {
	f.t.Helper()
	f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET lane = (SELECT lane FROM " + f.db.Table("outbox_pause") + " WHERE kind = 'topic')")
	if f.at(id) == 0 {
		f.t.Fatal("it is gone")
	}
}

func TestExplainMessageTopicResuming(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		f.worker("w", "default", "t")
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		f.park(id)
		other := f.enqueue(outbox.Message{})
		f.exec("UPDATE " + f.db.Table("outbox_pause") + " SET ending = " + f.db.Bool(true))
		x := f.explain(id.String(), "topic_resuming")
		f.next(x, "pawl resume topic t")
		f.explain(other.String(), "queued") // never parked, so nothing holds it
		f.lostPause(id)
		_, err := f.Admin.Resume(f.ctx(), admin.Topic, "t")
		f.check(err)
		f.explain(id.String(), "queued")
	})
}

// lostPause has the pauses read after, and a message before, it came back.
func (f *explainFixture) lostPause(id outbox.MessageID) {
	f.t.Helper()
	pauses := f.db.Table("outbox_pause")
	f.exec("UPDATE " + pauses + " SET name = 'x'")
	f.explain(id.String(), "topic_resuming")
	f.exec("UPDATE " + pauses + " SET name = 't'")
}

func TestExplainMessageDone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		x := f.explain(id.String(), "done")
		f.says(x, "handled by "+engine.ProcessName(), "ago)")
		f.next(x, "")
	})
}

func TestExplainMessageFailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, failure()), at))
		owner, at = f.one()
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, failure(), at))
		x := f.explain(id.String(), "failed")
		f.says(x, "after 2 attempts: no such customer.", "ago)")
		f.next(x, "pawl retry "+id.String())
		// Of one that failed without a word there is none to say.
		mute := f.enqueue(outbox.Message{})
		owner, at = f.one()
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, nil, at))
		f.says(f.explain(mute.String(), "failed"), "after 1 attempt.")
	})
}

func TestExplainMessageDiscarded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Fail(f.ctx(), owner, failure(), at))
		_, err := f.Outbox.Discard(f.ctx(), outbox.FailedFilter{})
		f.check(err)
		f.says(f.explain(id.String(), "discarded"), "no such customer.")
	})
}

// D-208
func TestExplainMessageExpired(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Expires: time.Now().Add(time.Hour)})
		owner, position := f.one()
		f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, failure()), position))
		_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_message")+` SET headers = '{"pawl-expires":"2026-01-01T00:00:00Z"}'`)
		f.check(err)
		if msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 1); err != nil || len(msgs) != 0 {
			t.Fatalf("claimed %d, %v", len(msgs), err)
		}
		x := f.explain(id.String(), "expired")
		f.says(x, "It expired at ", "after 1 failed attempt: no such customer.")
		if !slices.ContainsFunc(x.Facts, func(f health.Fact) bool {
			return f.Key == "attempt_1" && strings.HasSuffix(fmt.Sprint(f.Value), ": no such customer")
		}) {
			t.Errorf("%+v", x.Facts)
		}
	})
}

func TestExplainMessageCancelled(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{Due: f.now().Add(time.Hour)})
		f.settled(f.Outbox.Cancel(f.ctx(), "ordered twice", f.at(id)))
		f.says(f.explain(id.String(), "discarded"), "ordered twice.")
	})
}

// D-212: a message with a unique key says which it has, and how long at least it is remembered.
func TestExplainMessageWithUniqueKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		x := f.explain(f.enqueue(outbox.Message{UniqueKey: "reindex 7"}).String(), "no_worker")
		f.fact(x, "unique_key", "reindex 7")
		if until := x.Facts.Get("unique_until"); until != nil {
			t.Errorf("until %v, without a period", until)
		}
		x = f.explain(f.enqueue(outbox.Message{UniqueKey: "reindex 8", Unique: &outbox.UniqueOptions{Period: time.Hour}}).String(), "no_worker")
		f.fact(x, "unique_until", "(in ")
		if x = f.explain(f.enqueue(outbox.Message{}).String(), "no_worker"); x.Facts.Get("unique_key") != nil {
			t.Errorf("it has no key: %v", x.Facts)
		}
	})
}

// What only a person ends comes before what time ends, that before what a worker
// that starts ends.
// Each reason that is first would hold the message if those behind it went away.
// A pause begins nothing and stops nothing that runs.
