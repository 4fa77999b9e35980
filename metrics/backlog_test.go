package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
)

// sum is what the observations of a histogram add up to.
func sum(t testing.TB, c prometheus.Collector, name, label string) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	check(t, r.Register(c))
	families, err := r.Gather()
	check(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && strings.Contains(labels(m), label) {
				return m.GetHistogram().GetSampleSum()
			}
		}
	}
	return 0
}

// Messages are counted where they lie.
func TestBacklog(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{})
		f.Handle("fails", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) })
		f.Handle("aside", nothing)
		_, err := f.Admin.Pause(t.Context(), admin.Topic, "aside", "")
		check(t, err)
		f.enqueue(append(many(2, outbox.Message{Topic: "fails"}), many(3, outbox.Message{Topic: "aside"})...)...)
		f.drain()
		f.enqueue(many(4, outbox.Message{Topic: "a"})...)
		_, err = f.Outbox.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Hour, 3)
		check(t, err)
		f.enqueue(append(many(5, outbox.Message{Topic: "b"}), many(6, outbox.Message{Topic: "a", Priority: 7})...)...)
		f.enqueue(many(7, outbox.Message{Topic: "a", Due: time.Now().Add(time.Hour)})...)
		f.enqueue(many(9, outbox.Message{Topic: "busy", Due: time.Now().Add(time.Hour)})...) // as if they had failed once
		f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET retry = 1 WHERE n = 9")
		f.enqueue(many(8, outbox.Message{Topic: "q", Queue: "slow"})...)
		_, err = f.Admin.Pause(t.Context(), admin.Queue, "slow", "")
		check(t, err)
		_, err = f.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 1})
		check(t, err)
		ready := f.db.Table("outbox_ready")
		f.exec("UPDATE " + ready + " SET at = " + f.db.Earlier("at", time.Hour) + " WHERE lo = (SELECT min(lo) FROM " + ready + " r WHERE r.lane = 4828129222919567135)")
		got := f.gather()
		got.has(t, series{
			`pawl_messages{queue="default",state="failed",topic="fails"}`:  2,
			`pawl_messages{queue="default",state="paused",topic="aside"}`:  3,
			`pawl_messages{queue="default",state="in_flight",topic="a"}`:   3,
			`pawl_messages{queue="default",state="ready",topic="a"}`:       7,
			`pawl_messages{queue="default",state="ready",topic="b"}`:       5,
			`pawl_messages{queue="default",state="scheduled",topic="a"}`:   7,
			`pawl_messages{queue="default",state="retrying",topic="busy"}`: 9,
			`pawl_messages{queue="slow",state="paused",topic="q"}`:         8,
			`pawl_joins{status="pending"}`:                                 1,
			`pawl_joins{status="completed"}`:                               0,
			`pawl_pauses{kind="queue"}`:                                    1,
			`pawl_pauses{kind="topic"}`:                                    1,
		})
		if n := len(got.of("pawl_messages")); n != 8 {
			t.Errorf("there are %d numbers of messages:\n%s", n, strings.Join(got.of("pawl_messages"), "\n"))
		}
		of := map[string]int64{}
		amounts, err := engine.Query(t.Context(), f.db, op.BacklogMessages{Queues: []string{"slow"}, Runs: 100, Messages: 100, Lanes: 10})
		check(t, err)
		for _, a := range amounts {
			of[a.State+" of "+a.Queue] += a.N
		}
		if of["paused of slow"] != 8 || of["ready of default"] != 0 || of["in_flight of default"] != 0 {
			t.Errorf("of queue slow there are %v", of)
		}
		for topic, old := range map[string]bool{"a": true, "b": false} {
			name := fmt.Sprintf(`pawl_oldest_ready_age_seconds{queue="default",topic=%q}`, topic)
			if age, there := got[name]; !there || age < 0 || (age >= 3600) != old {
				t.Errorf("%s is %v, %v", name, age, there)
			}
		}
		if n := len(got.of("pawl_oldest_ready_age_seconds")); n != 2 {
			t.Errorf("there are %d ages", n)
		}
		for _, line := range got.of("pawl_backlog_truncated") {
			if !strings.HasSuffix(line, " 0") {
				t.Error(line)
			}
		}
	})
}

// D-214: limits are reported with what is used of them.
func TestLimits(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{})
		_, err := f.Admin.SetLimit(t.Context(), admin.Topic, "a", outbox.Limit{Concurrency: 2}, "")
		check(t, err)
		_, err = f.Admin.SetLimit(t.Context(), admin.Queue, "slow", outbox.Limit{Rate: 5}, "")
		check(t, err)
		f.enqueue(many(5, outbox.Message{Topic: "a"})...)
		_, err = f.Outbox.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Hour, 10)
		check(t, err)
		got := f.gather()
		got.has(t, series{
			`pawl_limit_concurrency{kind="topic",name="a"}`: 2, `pawl_limit_claimed{kind="topic",name="a"}`: 2, `pawl_limit_waiting{kind="topic",name="a"}`: 3,
			`pawl_messages{queue="default",state="ready",topic="a"}`: 3,
		})
		if n := len(got.of("pawl_limit_concurrency")); n != 1 {
			t.Errorf("%d limits of concurrency", n)
		}
	})
}

// However much there is, only so much is looked at, and that is said.
func TestBounds(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{Runs: 100, Messages: 100})
		f.Handle("fails", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) })
		f.enqueue(append(many(90, outbox.Message{Topic: "a"}), many(60, outbox.Message{Topic: "b"})...)...)
		got := f.gather()
		got.has(t, series{
			`pawl_messages{queue="default",state="ready",topic="a"}`:     90,
			`pawl_messages{queue="default",state="ready",topic="b"}`:     10,
			`pawl_messages{queue="default",state="ready",topic="_rest"}`: 50, // one run: it is known how many, though not of what
			`pawl_backlog_truncated{what="ready"}`:                       0,
		})
		owner := outbox.NewOwnerToken()
		for range 3 {
			_, err := f.Outbox.WorkQueue("").Claim(t.Context(), owner, time.Hour, 50)
			check(t, err)
		}
		for range 110 {
			_, err := f.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "c"})
			check(t, err)
		}
		got = f.gather()
		got.has(t, series{
			`pawl_messages{queue="default",state="ready",topic="c"}`: 100,
			`pawl_backlog_truncated{what="ready"}`:                   1,
			`pawl_backlog_truncated{what="scheduled"}`:               0,
			`pawl_backlog_truncated{what="retrying"}`:                0,
			`pawl_backlog_truncated{what="unhandled"}`:               0,
			`pawl_backlog_truncated{what="in_flight"}`:               0,
		})
		if n := got[`pawl_messages{queue="default",state="in_flight",topic="_rest"}`]; n != 50 {
			t.Errorf("%v messages in flight were not looked at, want 50", n)
		}
		f.enqueue(many(120, outbox.Message{Topic: "fails", Priority: -1})...)
		for range 150 {
			_, err := f.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 1})
			check(t, err)
		}
		f.drain()
		f.gather().has(t, series{
			`pawl_messages{queue="default",state="failed",topic="fails"}`: 100,
			`pawl_backlog_truncated{what="failed"}`:                       1,
			`pawl_joins{status="pending"}`:                                100,
			`pawl_backlog_truncated{what="joins"}`:                        1,
			`pawl_backlog_truncated{what="timers"}`:                       0,
		})
	})
}

// How many runs are looked at says nothing of how many messages are: here all lie in one run.
func TestBoundsOfMessages(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{Runs: 100, Messages: 140})
		f.enqueue(append(many(90, outbox.Message{Topic: "a"}), many(60, outbox.Message{Topic: "b"})...)...)
		f.gather().has(t, series{
			`pawl_messages{queue="default",state="ready",topic="a"}`:     90,
			`pawl_messages{queue="default",state="ready",topic="b"}`:     50,
			`pawl_messages{queue="default",state="ready",topic="_rest"}`: 10,
		})
	})
}

// Names that are too many are one, in counters and gauges alike.
func TestNamesAreBounded(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{MaxTopics: 2, MaxQueues: 1})
		strange := "quote\" back\\slash\nline Ä \u2028"
		for _, topic := range []string{"a", strange, "c", "d"} {
			f.Handle(topic, nothing)
			f.enqueue(many(2, outbox.Message{Topic: topic})...)
		}
		f.enqueue(outbox.Message{Topic: "a", Queue: "second"}, outbox.Message{Topic: "x", Queue: "third"})
		want := series{
			`pawl_messages{queue="default",state="ready",topic="a"}`:                       2,
			fmt.Sprintf(`pawl_messages{queue="default",state="ready",topic=%q}`, strange):  2,
			`pawl_messages{queue="default",state="ready",topic="_other"}`:                  4,
			`pawl_messages{queue="_other",state="ready",topic="a"}`:                        1,
			`pawl_messages{queue="_other",state="ready",topic="_other"}`:                   1,
			`pawl_messages_enqueued_total{queue="default",topic="_other"}`:                 4,
			`pawl_messages_enqueued_total{queue="_other",topic="_other"}`:                  1,
			`pawl_messages_enqueued_total{queue="_other",topic="a"}`:                       1,
			fmt.Sprintf(`pawl_messages_enqueued_total{queue="default",topic=%q}`, strange): 2,
		}
		f.gather().has(t, want)
		f.drain()
		got := f.gather()
		got.has(t, series{
			`pawl_attempts_total{outcome="acked",queue="default",topic="_other"}`: 4,
			`pawl_handler_duration_seconds{topic="_other"}`:                       4,
		})
		if n := len(got.of("pawl_handler_duration_seconds")); n != 3 {
			t.Errorf("there are %d histograms, want 3", n)
		}
	})
}

// brokenDB is a database whose reads hang, also when they should not, or fail.
type brokenDB struct {
	engine.DB
	hang chan struct{} // nil: does not
	err  error
}

func (b *brokenDB) Read(ctx context.Context, c *engine.Call) error {
	if b.hang != nil {
		<-b.hang
	}
	if b.err != nil {
		return b.err
	}
	return b.DB.Read(ctx, c)
}

// A scrape does not hang with the database: what the process knows is told, and
// that the database is down.
func TestDatabaseHangs(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		broken := &brokenDB{DB: db.DB, hang: make(chan struct{})}
		f := on(t, db, broken, pawl.Options{}, metrics.Options{Timeout: time.Second})
		f.enqueue(outbox.Message{Topic: "a"})
		for range 2 { // the second does not ask again
			got := f.gather()
			got.has(t, series{`pawl_store_up`: 0, `pawl_messages_enqueued_total{queue="default",topic="a"}`: 1})
			got.hasNone(t, "pawl_messages")
			got.hasNone(t, "pawl_workers")
			got.hasNone(t, "pawl_store_read_timestamp_seconds")
		}
		close(broken.hang)
		var got series // of the reading that succeeded: the next one may be too slow again
		dbtest.Until(t, "the database is up", func() bool { got = f.gather(); return got["pawl_store_up"] >= 1 })
		got.has(t, series{`pawl_messages{queue="default",state="ready",topic="a"}`: 1})
	})
}

// What a database said stands for a while; that it failed, too.
func TestInterval(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		broken := &brokenDB{DB: db.DB, err: engine.ErrUnreachable}
		f := on(t, db, broken, pawl.Options{}, metrics.Options{MinInterval: time.Hour})
		f.gather().has(t, series{`pawl_store_up`: 0})
		broken.err = nil
		f.gather().has(t, series{`pawl_store_up`: 0})

		f = on(t, db, broken, pawl.Options{}, metrics.Options{MinInterval: time.Hour})
		f.enqueue(outbox.Message{Topic: "a"})
		f.gather().has(t, series{`pawl_messages{queue="default",state="ready",topic="a"}`: 1})
		f.enqueue(outbox.Message{Topic: "a"})
		broken.err = engine.ErrUnreachable
		f.gather().has(t, series{`pawl_messages{queue="default",state="ready",topic="a"}`: 1, `pawl_store_up`: 1})
	})
}

// Scrapes may overlap, while messages are handled.
func TestScrapesOverlap(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{}, metrics.Options{})
		f.Handle("a", nothing)
		f.run()
		ended := make(chan struct{}, 3)
		for range cap(ended) {
			go func() {
				for range 10 {
					f.gather()
				}
				ended <- struct{}{}
			}()
		}
		f.enqueue(many(1000, outbox.Message{Topic: "a"})...)
		for range cap(ended) {
			<-ended
		}
		f.until(`pawl_attempts_total{outcome="acked",queue="default",topic="a"}`, 1000)
	})
}
