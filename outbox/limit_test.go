package outbox_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// limit sets a limit.
func (f *fixture) limit(kind throttle.Kind, name string, b throttle.Bounds) {
	f.t.Helper()
	if changed, err := throttle.New(f.db, nil).Set(f.ctx(), kind, name, b, "a test"); !changed || err != nil {
		f.t.Fatalf("set a limit of %s %s: %v, %v", kind, name, changed, err)
	}
}

// used insists on how much of the only limit is used.
func (f *fixture) used(claimed, waiting int64) {
	f.t.Helper()
	all, err := throttle.New(f.db, nil).List(f.ctx())
	if err != nil || len(all) != 1 {
		f.t.Fatalf("%d limits, %v", len(all), err)
	}
	if l := all[0]; l.Claimed != claimed || l.Waiting != waiting {
		f.t.Fatalf("of the limit %d are claimed and %d wait, want %d and %d", l.Claimed, l.Waiting, claimed, waiting)
	}
}

// nextDue returns when something of a queue may be claimed.
func (f *fixture) nextDue(queue string) (time.Duration, bool) {
	f.t.Helper()
	d, ok, err := worker.NextDue(f.ctx(), f.db, op.OutboxNextDue{Queue: queue})
	if err != nil {
		f.t.Fatal(err)
	}
	return d, ok
}

// mix enqueues messages; the first letter of a name is its topic.
func (f *fixture) mix(names ...string) {
	f.t.Helper()
	msgs := make([]outbox.Message, len(names))
	for i, name := range names {
		msgs[i] = outbox.Message{Topic: name[:1], Payload: []byte(name)}
	}
	if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
		f.t.Fatal(err)
	}
}

// D-214: of a topic with a limit no more are claimed at once, and what waits takes no place from
// other topics. What ends gives its place to the next one, whatever becomes of it.
func TestConcurrencyLimitOfATopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 2})
		f.mix("a1", "a2", "b1", "a3", "a4", "b2", "a5", "a6")
		owner, msgs := f.next("a1", "a2", "b1", "b2")
		f.used(2, 4)
		f.next()
		of := func(name string) outbox.Position {
			return msgs[slices.IndexFunc(msgs, func(m *outbox.Message) bool { return string(m.Payload) == name })].Position
		}
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, of("a1")))
		f.next("a3")
		f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), of("a2")))
		second, msgs2 := f.next("a4")
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, of("b1"))) // it has no place to give
		f.next()
		f.touched(1)(f.Release(f.ctx(), second, msgs2[0].Position))
		f.next("a4") // it comes first again
		f.next()
		f.db.CheckPlaces(t)
	})
}

// D-214: a claim that finds no place free takes no lock and has nothing to commit: processes that wait for
// a place keep those that have one from nothing.
func TestFullLimitsAreNotLocked(t *testing.T) {
	for _, kind := range []throttle.Kind{throttle.Topic, throttle.Queue} {
		t.Run(string(kind), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
				if e.Name == "sqlserver" {
					t.Skip("a claim takes its turn there, and then looks")
				}
				f := open(t, e)
				f.limit(kind, map[throttle.Kind]string{throttle.Topic: "a", throttle.Queue: outbox.DefaultQueue}[kind], throttle.Bounds{Concurrency: 2})
				f.mix("a", "a", "a", "a")
				owner, msgs := f.next("a", "a")
				tx := f.begin() // on SQLite it has the write lock
				if e.Name == "sqlite" {
					f.next()
				} else {
					var n int
					var wrote bool
					query := "WITH c AS MATERIALIZED (SELECT count(*) AS n FROM " + f.db.Table("outbox_claim") + "(gen_random_uuid(), 60, 10)) SELECT c.n, pg_current_xact_id_if_assigned() IS NOT NULL FROM c"
					if err := tx.QueryRowContext(f.ctx(), query).Scan(&n, &wrote); err != nil || n > 0 || wrote {
						t.Errorf("claimed %d, it wrote: %v, %v", n, wrote, err)
					}
				}
				if err := tx.Rollback(); err != nil {
					t.Fatal(err)
				}
				f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
				f.next("a")
			})
		})
	}
}

// D-214: a message that comes again after a failed attempt needs a place again.
func TestRetriesUnderALimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		f.mix("a1", "a2")
		owner, msgs := f.next("a1")
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("again")), msgs[0].Position))
		owner, msgs = f.next("a2") // it was due before
		f.next()
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		_, msgs = f.next("a1")
		if msgs[0].RetryCount != 1 {
			t.Errorf("%d retries, want 1", msgs[0].RetryCount)
		}
		f.used(1, 0)
	})
}

// D-214: a message that was put back and claimed again counts once, though it was claimed with others that
// go on.
func TestClaimedAgainUnderALimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 4})
		f.mix("a1", "a2")
		owner, msgs := f.next("a1", "a2")
		f.touched(1)(f.Release(f.ctx(), owner, msgs[1].Position))
		f.mix("a3")
		f.next("a2", "a3")
		f.used(3, 0)
		f.mix("a4", "a5")
		f.next("a4")
		f.used(4, 1)
	})
}

// D-214: a limit of a queue is for all its topics, and none of another queue.
func TestLimitOfAQueue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Queue, outbox.DefaultQueue, throttle.Bounds{Concurrency: 3})
		f.mix("a1", "b1", "c1", "a2")
		f.enqueue(outbox.Message{Topic: "a", Payload: []byte("other"), Queue: "other"})
		owner, msgs := f.next("a1", "b1", "c1")
		f.next()
		if other, err := f.WorkQueue("other").Claim(f.ctx(), outbox.NewOwnerToken(), lease, 10); err != nil || len(other) != 1 {
			t.Fatalf("claimed %d of another queue, %v", len(other), err)
		}
		f.touched(3)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
		f.next("a2")
	})
}

// D-214: a message may be under the limit of its topic and that of its queue.
func TestBothLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 2})
		f.mix("a1", "a2", "a3", "b1", "b2")
		f.next("a1", "a2", "b1", "b2") // a3 was met
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 5})
		f.limit(throttle.Queue, outbox.DefaultQueue, throttle.Bounds{Concurrency: 6})
		f.mix("a4", "b3")
		_, msgs := f.claimExactly(2)
		f.next()
		if msgs[0].Topic != "a" { // it lay with those of its limit
			t.Errorf("claimed %q", names(msgs))
		}
	})
}

// D-214: a message under a limit is not handed over to an idle worker of the process that enqueues
// it, also if that does not know of the limit yet: it would not be counted.
func TestLimitsAndHandOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f, db := handing(t, e)
		f.Handle("t", func(context.Context, *outbox.Message) error { return nil })
		stop := run(t, f.Outbox)
		defer stop()
		var before int64
		for tries := false; !tries; {
			f.handOver(db, outbox.Message{Topic: "t"}) // it does not know of a limit
			f.limit(throttle.Topic, "t", throttle.Bounds{Concurrency: 100})
			tried := db.tried.Load()
			before = db.written.Load()
			f.enqueue(outbox.Message{Topic: "t"})
			if tries = db.tried.Load() > tried; !tries { // it was busy, or has learned of this one already
				f.unlimit(throttle.Topic, "t")
			}
		}
		dbtest.Until(t, "all are handled", func() bool {
			c, err := f.Count(f.ctx())
			return err == nil && c.Ready+c.InProgress == 0
		})
		if n := db.written.Load() - before; n > 0 {
			t.Errorf("%d handed over", n)
		}
	})
}

// D-214: by a rate as many are claimed as it has saved up, at most its burst; then nothing is due
// until the next one is.
func TestRateLimit(t *testing.T) {
	for _, kind := range []throttle.Kind{throttle.Topic, throttle.Queue} {
		t.Run(string(kind), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
				f := open(t, e)
				name := map[throttle.Kind]string{throttle.Topic: "a", throttle.Queue: outbox.DefaultQueue}[kind]
				f.limit(kind, name, throttle.Bounds{Rate: 2, Period: time.Hour, Burst: 3})
				f.mix("a1", "a2", "a3", "a4", "a5")
				owner, msgs := f.next("a1", "a2", "a3")
				f.touched(3)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
				f.next()
				due, ok := f.nextDue(outbox.DefaultQueue)
				if !ok || due < 25*time.Minute || due > 30*time.Minute {
					t.Errorf("the next is due in %v, want half an hour", due)
				}
				f.limit(kind, name, throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 1})
				f.next("a4") // a new limit has nothing used up
			})
		})
	}
}

// D-214: what the rate gives while nothing is there is saved up to the burst.
func TestRateSavesUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Rate: 2, Burst: 2})
		f.mix("a1", "a2", "a3", "a4", "a5")
		f.next("a1", "a2")
		f.db.Pass(1500 * time.Millisecond)
		f.next("a3", "a4")
	})
}

// D-214: a rate does not wait for a time that was noted before the clock was set back.
func TestRateAfterTheClockWasSetBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 1})
		f.mix("a1", "a2", "a3")
		f.next("a1")
		future := "'2100-01-01'"
		if e.Name == "sqlite" {
			future = "4000000000000000"
		}
		f.exec("UPDATE " + f.db.Table("outbox_limit") + " SET next_at = " + future)
		f.next("a2")
		f.next()
	})
}

// D-214: messages that were claimed before a limit was set count, and those that wait when it is
// removed come.
func TestLimitsChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mix("a1", "b1", "a2", "a3", "a4")
		_, _ = f.claimExactly(3) // a1, b1, a2
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 3})
		f.used(2, 0)
		f.next("a3")
		f.next()
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1, Rate: 100})
		f.next()
		limits := throttle.New(f.db, nil)
		if changed, err := limits.Set(f.ctx(), throttle.Topic, "a", throttle.Bounds{Concurrency: 1, Rate: 100}, ""); changed || err != nil {
			t.Errorf("the same limit again: %v, %v", changed, err)
		}
		if gone, err := limits.Remove(f.ctx(), throttle.Topic, "a"); !gone || err != nil {
			t.Errorf("remove: %v, %v", gone, err)
		}
		if gone, err := limits.Remove(f.ctx(), throttle.Topic, "a"); gone || err != nil {
			t.Errorf("remove again: %v, %v", gone, err)
		}
		f.next("a4")
	})
}

// D-214: neither what a limit allows nor what has none keeps the other from being claimed.
func TestLimitsShareClaims(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		f.mix(slices.Repeat([]string{"a"}, 40)...)
		f.next("a")
		f.used(1, 39)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1000})
		f.mix(slices.Repeat([]string{"b"}, 40)...)
		for range 4 {
			_, msgs := f.claim(8)
			topics := map[string]int{}
			for _, m := range msgs {
				topics[m.Topic]++
			}
			if topics["a"] == 0 || topics["b"] == 0 || len(msgs) != 8 {
				t.Fatalf("claimed %v of 8", topics)
			}
		}
	})
}

// D-214: what has a limit does not come before others of a higher priority.
func TestLimitsKeepPriorities(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 1})
		for range 10 {
			f.enqueue(outbox.Message{Topic: "a", Payload: []byte("a"), Priority: 5})
		}
		f.next("a")
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 100})
		f.mix("b1", "b2", "b3", "b4")
		if _, msgs := f.claim(4); len(msgs) != 4 || slices.ContainsFunc(msgs, func(m *outbox.Message) bool { return m.Topic == "a" }) {
			t.Errorf("claimed %q", names(msgs))
		}
		if _, msgs := f.claim(100); len(msgs) != 9 {
			t.Errorf("claimed %q", names(msgs))
		}
	})
}

// D-215: a claim that is told which topic fills the handlers finds others behind it, and what it moved
// out of the way comes as ever.
func TestClaimBesideATopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mix(append(slices.Repeat([]string{"a"}, 30), "b")...)
		topic := "a"
		claim := func(apart *string) (topics string) {
			t.Helper()
			rows, err := engine.Query(f.ctx(), f.db, op.OutboxClaim{Queue: outbox.DefaultQueue, Owner: outbox.NewOwnerToken(), Lease: lease, Most: 6, Apart: apart})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				topics += r.Topic
			}
			return topics
		}
		if got := claim(nil); got != "aaaaaa" {
			t.Errorf("claimed %q first", got)
		}
		if got := claim(&topic); len(got) != 6 || strings.Count(got, "b") != 1 {
			t.Errorf("claimed %q beside a", got)
		}
		for _, want := range []int{6, 6, 6, 1, 0} {
			if got := claim(nil); len(got) != want {
				t.Errorf("claimed %q, want %d", got, want)
			}
		}
		f.db.CheckPlaces(t)
	})
}

// D-214: messages that a claim passes over go back as long runs, however they were written: each run
// is a row that another claim deletes.
func TestPassedOverMessagesAreLongRuns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		const n = 40
		for k, topic := range []string{"a", "b"} {
			f.limit(throttle.Topic, topic, throttle.Bounds{Concurrency: 1})
			msgs := make([]outbox.Message, n)
			for i := range msgs { // a run each, and in the order of time one of either topic after the other
				msgs[i] = outbox.Message{Topic: topic, Due: time.Now().Add(time.Hour + time.Duration(2*i+k)*time.Second)}
			}
			if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
				t.Fatal(err)
			}
		}
		f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET at = " + f.db.Earlier("at", 2*time.Hour))
		if _, got := f.claim(100); len(got) != 2 {
			t.Fatalf("claimed %d, want one of each topic", len(got))
		}
		var runs, waiting int
		if f.row("SELECT count(*), sum(n) FROM "+f.db.Table("outbox_ready"), &runs, &waiting); runs > 4 || waiting != 2*n-2 {
			t.Errorf("%d messages wait in %d runs", waiting, runs)
		}
		f.db.CheckPlaces(t)
	})
}

// D-215: a slow topic with a long backlog does not keep others waiting for all of it.
func TestSlowTopicLetsOthersThrough(t *testing.T) {
	inBubble(t, worker.Options{Concurrency: 10}, func(t *testing.T, ctx context.Context, o *parts.Outbox) {
		var slow atomic.Int64
		before := int64(-1)
		o.Handle("slow", func(context.Context, *outbox.Message) error {
			time.Sleep(300 * time.Millisecond)
			slow.Add(1)
			return nil
		})
		o.Handle("other", func(context.Context, *outbox.Message) error {
			before = slow.Load()
			return nil
		})
		if _, err := o.EnqueueBatch(ctx, append(slices.Repeat([]outbox.Message{{Topic: "slow"}}, 900), outbox.Message{Topic: "other"})); err != nil {
			t.Fatal(err)
		}
		stop := run(t, o)
		time.Sleep(time.Minute) // of the bubble's time
		stop()
		if before < 0 || before > 300 || slow.Load() != 900 {
			t.Errorf("%d slow ones came before the other, of %d", before, slow.Load())
		}
	})
}

// D-214: an ordering key and a limit hold both.
func TestLimitsAndOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "t", throttle.Bounds{Concurrency: 2})
		f.inOrder("a1", "a2", "b1", "c1", "b2")
		owner, msgs := f.next("a1", "b1")
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[slices.IndexFunc(msgs, func(m *outbox.Message) bool { return m.OrderingKey == "a" })].Position))
		owner2, msgs2 := f.next("c1")
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner2, msgs2[0].Position))
		f.next("a2")
		f.next()
	})
}

// D-214: messages whose lease has expired need a place as well, and only they count.
func TestSuspectsUnderALimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mix("a1", "a2", "a3", "b1")
		f.claimExactly(4)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 2})
		f.lapse()
		f.touched(4)(f.WorkQueue("").ReapExpired(f.ctx()))
		_, msgs := f.claim(10)
		got := names(msgs)
		for len(got) < 3 {
			_, msgs = f.claim(10)
			if len(msgs) == 0 {
				break
			}
			got = append(got, names(msgs)...)
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{"a1", "a2", "b1"}) {
			t.Errorf("claimed %q", got)
		}
		f.db.CheckPlaces(t)
	})
}

// D-214: workers obey a limit, and use it: never more run at once, and what waits is handled as
// soon as there is a place.
func TestWorkersObeyALimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 3})
		var names []string
		for range 60 {
			names = append(names, "a", "b")
		}
		f.mix(names...)
		var running, most, handled atomic.Int64
		done := make(chan struct{})
		count := func() {
			if handled.Add(1) == int64(len(names)) {
				close(done)
			}
		}
		var stops []func()
		for range 2 {
			w := parts.NewOutbox(f.db, worker.Options{PollInterval: 20 * time.Millisecond})
			w.Handle("a", func(context.Context, *outbox.Message) error {
				now := running.Add(1)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				runtime.Gosched()
				running.Add(-1)
				count()
				return nil
			})
			w.Handle("b", func(context.Context, *outbox.Message) error { count(); return nil })
			stops = append(stops, run(t, w))
		}
		<-done
		for _, stop := range stops {
			stop()
		}
		if most.Load() > 3 {
			t.Errorf("%d at once, the limit is 3", most.Load())
		}
		f.used(0, 0)
	})
}

// D-214: by a rate no more begin in any time than it gives, and its burst, and over a minute all
// that it gives.
func TestRateOverAMinute(t *testing.T) {
	inBubbleOn(t, func(t *testing.T, ctx context.Context, db engine.DB) {
		const rate, burst = 50, 10
		o := parts.NewOutbox(db, worker.Options{})
		if _, err := throttle.New(db, nil).Set(ctx, throttle.Topic, "t", throttle.Bounds{Rate: rate, Burst: burst}, ""); err != nil {
			t.Fatal(err)
		}
		var began []time.Time // by one handler at a time
		o.Handle("t", func(context.Context, *outbox.Message) error {
			began = append(began, time.Now())
			return nil
		}, outbox.HandlerOptions{Concurrency: 1})
		for range 4 {
			if _, err := o.EnqueueBatch(ctx, slices.Repeat([]outbox.Message{{Topic: "t"}}, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		stop := run(t, o)
		time.Sleep(time.Minute) // of the bubble's time
		stop()
		if n := len(began); n < rate*60*98/100 || n > rate*60+burst {
			t.Errorf("%d began in a minute, want %d", n, rate*60)
		}
		for i := range began {
			for _, k := range []int{burst, rate, 10 * rate} {
				if j := i + k; j < len(began) && float64(k+1) > burst+began[j].Sub(began[i]).Seconds()*rate+1e-3 {
					t.Fatalf("%d began within %v", k+1, began[j].Sub(began[i]))
				}
			}
		}
	})
}

// D-214: a limit is checked before anything is stored.
func TestLimitsAreChecked(t *testing.T) {
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
	limits := throttle.New(f.db, nil)
	for name, b := range map[string]throttle.Bounds{
		"limit": {}, "concurrency": {Concurrency: -1}, "rate": {Rate: 10_001}, "period": {Rate: 1, Period: 25 * time.Hour}, "burst": {Rate: 1, Burst: -1},
	} {
		var invalid *engine.InvalidError
		if _, err := limits.Set(f.ctx(), throttle.Topic, "a", b, ""); !errors.As(err, &invalid) || invalid.Field() != name {
			t.Errorf("%+v: %v, want one that names %s", b, err, name)
		}
	}
	if _, err := limits.Set(f.ctx(), "table", "a", throttle.Bounds{Rate: 1}, ""); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
	if _, err := limits.Remove(f.ctx(), throttle.Topic, ""); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("%v, want ErrInvalid", err)
	}
	if all, err := limits.List(f.ctx()); err != nil || len(all) != 0 {
		t.Errorf("%d limits, %v", len(all), err)
	}
}
