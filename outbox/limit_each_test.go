package outbox_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// send enqueues a message for each topic.
func (f *fixture) send(topics ...string) {
	f.t.Helper()
	for _, topic := range topics {
		f.enqueue(outbox.Message{Topic: topic, Payload: []byte(topic)})
	}
}

// cleanUp deletes no message.
func (f *fixture) cleanUp() {
	f.t.Helper()
	f.touched(0)(worker.Purge(f.ctx(), f.db, op.OutboxPurge{Age: time.Hour, Look: 100}))
}

// unlimit removes a limit.
func (f *fixture) unlimit(kind throttle.Kind, name string) {
	f.t.Helper()
	if gone, err := throttle.New(f.db, nil).Remove(f.ctx(), kind, name); !gone || err != nil {
		f.t.Fatalf("remove the limit of %s %s: %v, %v", kind, name, gone, err)
	}
}

// D-216: a limit for each topic of a pattern holds for each by itself, whatever others do, and for none
// that does not begin so.
func TestLimitOfEachTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Each, "call.*", throttle.Bounds{Concurrency: 2})
		f.send("call.a", "call.a", "call.a", "call.a", "call.b", "call.b", "call.b", "call", "calls.a", "call.")
		owner, msgs := f.next("call", "call.", "call.a", "call.a", "call.b", "call.b", "calls.a")
		f.used(5, 3)
		f.next()
		for _, m := range msgs {
			if m.Topic == "call.a" {
				f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
				break
			}
		}
		f.next("call.a")
		f.next()
		f.db.CheckPlaces(t)
	})
}

// D-216: so does its rate.
func TestRateOfEachTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Each, "call.*", throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 2})
		f.send("call.a", "call.a", "call.a", "call.b", "call.c")
		f.next("call.a", "call.a", "call.b", "call.c")
		f.cleanUp() // what is not saved up yet is not forgotten
		f.send("call.b", "call.b")
		f.next("call.b")
		f.next()
		if d, ok := f.nextDue(outbox.DefaultQueue); !ok || d < 58*time.Minute || d > time.Hour {
			t.Errorf("the next one is due in %v, %v", d, ok)
		}
	})
}

// D-216: a topic's own limit holds instead of a pattern's, and a longer pattern's instead of a shorter
// one's. Which one it is may change while messages are claimed; they count under the other.
func TestWhichLimitHolds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		send := func(n int) {
			for range n {
				f.send("call.a", "call.vip.b")
			}
		}
		send(2)
		f.next("call.a", "call.a", "call.vip.b", "call.vip.b") // before there are limits
		f.limit(throttle.Each, "*", throttle.Bounds{Concurrency: 2})
		send(3)
		f.next()
		f.limit(throttle.Topic, "call.a", throttle.Bounds{Concurrency: 3})
		f.limit(throttle.Each, "call.vip.*", throttle.Bounds{Concurrency: 4})
		f.next("call.a", "call.vip.b", "call.vip.b")
		f.next()
		f.limit(throttle.Each, "*", throttle.Bounds{Concurrency: 1}) // for neither
		f.next()
		f.unlimit(throttle.Topic, "call.a") // 3 are claimed
		f.next()
		f.limit(throttle.Each, "*", throttle.Bounds{Concurrency: 4})
		f.next("call.a")
		send(1)
		f.unlimit(throttle.Each, "call.vip.*") // 4 are claimed
		f.next()
		f.limit(throttle.Each, "call.vip.*", throttle.Bounds{Concurrency: 5})
		f.next("call.vip.b")
		f.unlimit(throttle.Each, "*")
		f.next("call.a", "call.a")
		send(2)
		f.next("call.a", "call.a")
		f.unlimit(throttle.Each, "call.vip.*")
		f.next("call.vip.b", "call.vip.b", "call.vip.b")
		if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_limit")); n != 0 {
			t.Errorf("%d limits are left", n)
		}
		if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_limit_claim")); n != 0 {
			t.Errorf("%d messages count against limits that are no more", n)
		}
	})
}

// D-216: a topic under a pattern's limit has none of its own to remove, and gets one that holds.
func TestOwnLimitUnderAPattern(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Each, "call.*", throttle.Bounds{Concurrency: 1})
		f.send("call.a", "call.a", "call.a")
		f.next("call.a")
		limits := throttle.New(f.db, nil)
		if gone, err := limits.Remove(f.ctx(), throttle.Topic, "call.a"); gone || err != nil {
			t.Errorf("removed a limit that nobody set: %v, %v", gone, err)
		}
		f.next()
		f.limit(throttle.Topic, "call.a", throttle.Bounds{Concurrency: 1}) // the same bounds, and yet another limit
		f.unlimit(throttle.Each, "call.*")
		f.next()
		f.used(1, 2)
	})
}

// D-216: what such limits left of topics that are no longer in use is deleted, and nothing else: what
// is claimed comes back to where it was.
func TestLimitsOfEachTopicAreCleanedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		left := func(limits, lanes int) {
			t.Helper()
			if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_limit")+" WHERE pattern <> ''"); n != limits {
				t.Errorf("%d topics are under the limit, want %d", n, limits)
			}
			if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_lane")+" WHERE kind = 3"); n != lanes {
				t.Errorf("there are %d lanes of limits, want %d", n, lanes)
			}
		}
		f.limit(throttle.Each, "call.*", throttle.Bounds{Concurrency: 1})
		f.limit(throttle.Topic, "own", throttle.Bounds{Concurrency: 1})
		f.send("call.a", "call.b", "call.b", "call.c", "call.c", "own")
		owner, msgs := f.next("call.a", "call.b", "call.c", "own")
		f.cleanUp()
		left(3, 4)
		for _, m := range msgs {
			switch m.Topic {
			case "call.b":
				f.touched(1)(f.Release(f.ctx(), owner, m.Position))
			default:
				f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
			}
		}
		f.cleanUp()
		left(0, 3) // of call.b and call.c, where messages wait, and of the limit that somebody set
		for _, want := range [][]string{{"call.b", "call.c"}, {"call.b"}} {
			owner, msgs = f.next(want...)
			left(2, 3)
			for _, m := range msgs {
				f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
			}
		}
		f.cleanUp()
		left(0, 1)
		f.send("call.a", "call.a")
		owner, msgs = f.next("call.a")
		left(1, 2)
		f.unlimit(throttle.Each, "call.*")
		f.next("call.a")
		f.cleanUp()
		left(0, 2)
		f.touched(1)(f.Release(f.ctx(), owner, msgs[0].Position))
		f.next("call.a")
		f.db.CheckPlaces(t)
	})
}

// D-216: a limit for each topic needs a pattern.
func TestLimitOfEachTopicIsChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		limits := throttle.New(f.db, nil)
		f.refused("each")(limits.Set(f.ctx(), throttle.Each, "call", throttle.Bounds{Concurrency: 1}, ""))
		f.refused("each")(limits.Remove(f.ctx(), throttle.Each, ""))
		f.refused("kind")(limits.Set(f.ctx(), "join", "call.*", throttle.Bounds{Concurrency: 1}, ""))
	})
}
