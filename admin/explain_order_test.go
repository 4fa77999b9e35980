package admin_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func TestExplainOrderAllAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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

func TestExplainOrderOneByOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
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
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		owner, at := f.one()
		f.settled(f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, failure()), at))
		f.explain(id.String(), "retry", "no_worker")
		f.worker("w", "default", "u")
		f.explain(id.String(), "retry", "no_handler")
		f.pause(admin.Topic, "t", "")
		f.explain(id.String(), "topic_paused", "retry", "no_handler")
	})
}

func TestExplainOrderParked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.pause(admin.Topic, "t", "")
		f.park(id)
		f.exec("UPDATE " + f.db.Table("outbox_pause") + " SET ending = " + f.db.Bool(true))
		f.pause(admin.Queue, "default", "")
		f.explain(id.String(), "queue_paused", "topic_resuming", "no_worker")
	})
}

// D-211: of the messages of an ordering key the first is explained as any other is.
func TestExplainOrderBehindItsKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		first, second := f.enqueue(outbox.Message{OrderingKey: "k"}), f.enqueue(outbox.Message{OrderingKey: "k"})
		f.explain(first.String(), "no_worker")
		f.worker("w", "default", "t")
		f.explain(first.String(), "queued")
		owner, at := f.one()
		f.explain(first.String(), "leased")
		x := f.explain(second.String(), "behind")
		f.fact(x, "ordering_key", "k")
		f.next(x, "pawl explain "+first.String())
		f.settled(f.Outbox.WorkQueue("").Ack(f.ctx(), owner, at))
		x = f.explain(second.String(), "queued")
		if x.Facts.Get("parked") != nil {
			t.Errorf("it is parked: %v", x.Facts)
		}
	})
}

func TestExplainOrderWhileItRuns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExplain(t, e)
		id := f.enqueue(outbox.Message{})
		f.one()
		f.pause(admin.Queue, "default", "")
		f.pause(admin.Topic, "t", "")
		f.explain(id.String(), "leased")
	})
}

// Tokens that workers make say whose they are, those of the inbox included.
// Of messages that were enqueued together each is where it is.
// A worker that was killed is believed to be alive for a while: who held the lease
// is nobody to rely on.
