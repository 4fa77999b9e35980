package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// byTenant lets messages of the default queue take turns by the header tenant.
var byTenant = worker.Options{Fair: map[string]string{"default": "tenant"}}

func ofTenant(tenant string, nr int) outbox.Message {
	return outbox.Message{Topic: "t", Payload: fmt.Append(nil, tenant, nr), Headers: map[string]string{"tenant": tenant}}
}

// flood enqueues n messages of a tenant in one call, and others one by one.
func (f *fixture) flood(tenant string, n, single int) {
	f.t.Helper()
	var msgs []outbox.Message
	for i := range n {
		msgs = append(msgs, ofTenant(tenant, i))
	}
	if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
		f.t.Fatal(err)
	}
	for i := range single {
		f.enqueue(ofTenant(tenant, n+i))
	}
}

// tenants claims n messages, and insists on how many there are of each tenant: "a3 b1".
func (f *fixture) tenants(n int, want string) []*outbox.Message {
	f.t.Helper()
	_, msgs := f.claim(n)
	of := map[string]int{}
	for _, m := range msgs {
		of[m.Headers["tenant"]]++
	}
	var got []string
	for tenant, n := range of {
		got = append(got, fmt.Sprint(tenant, n))
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != want {
		f.t.Fatalf("claimed %s, want %s", s, want)
	}
	return msgs
}

// D-842: a claim takes one message of each tenant before it takes a second one, and then as many of each as it needs.
// A tenant's messages come in the order in which they were enqueued.
func TestFairTurns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, byTenant)
		f.flood("a", 3000, 5)
		f.flood("b", 1, 0)
		f.flood("c", 0, 2)
		got := f.tenants(3, "a1 b1 c1")
		if k := slices.IndexFunc(got, func(m *outbox.Message) bool { return string(m.Payload) == "a 0" || string(m.Payload) == "a0" }); k < 0 {
			t.Errorf("the first message of a is not claimed first: %q", names(got))
		}
		f.flood("d", 200, 3)
		f.tenants(13, "a6 c1 d6")
		f.tenants(100, "a50 d50")
	})
}

// D-842: half of a claim is for what takes no turns, as long as there is any.
func TestFairBesideOthers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, byTenant)
		f.flood("a", 1000, 0)
		f.enqueueN(15)
		f.flood("b", 2, 0)
		f.tenants(20, "10 a8 b2")
		f.tenants(20, "5 a15")
		f.enqueueN(30)
		var turns, others int
		for range 60 {
			if _, msgs := f.claim(1); msgs[0].Headers["tenant"] == "" {
				others++
			} else {
				turns++
			}
		}
		if turns < 10 || others < 10 {
			t.Errorf("of claims of one message %d were of tenants and %d of others", turns, others)
		}
	})
}

// D-843: messages that were due later take turns when they are due, and so do those whose attempt failed.
func TestFairLater(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		later := func(m outbox.Message) outbox.Message { m.Due = time.Now().Add(time.Hour); return m }
		t.Run("due", func(t *testing.T) {
			f := open(t, e, byTenant)
			for i := range 40 {
				f.enqueue(later(ofTenant("a", i)))
			}
			f.enqueue(later(ofTenant("b", 0)))
			f.enqueue(later(ofTenant("c", 0)))
			f.tenants(10, "")
			f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET at = " + f.db.Earlier("at", 2*time.Hour))
			f.tenants(3, "a1 b1 c1")
		})
		t.Run("failed", func(t *testing.T) {
			f := open(t, e, byTenant)
			f.flood("a", 40, 0)
			f.flood("b", 1, 0)
			f.flood("c", 1, 0)
			var failed atomic.Int64
			f.handle("t", func(context.Context, *outbox.Message) error {
				failed.Add(1)
				return outbox.RetryAfter(time.Hour, errors.New("not now"))
			})
			stop := f.start()
			dbtest.Until(t, "all attempts have failed", func() bool {
				return failed.Load() == 42 && f.rows("SELECT 1 FROM "+f.db.Table("outbox_claim")) == 0
			})
			stop()
			f.exec("UPDATE " + f.db.Table("outbox_ready") + " SET at = " + f.db.Earlier("at", 2*time.Hour))
			f.tenants(3, "a1 b1 c1")
		})
	})
}

// D-844: a key with a weight has so many turns in a round.
func TestFairWeights(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Fair: byTenant.Fair, FairWeights: map[string]int{"a": 3}})
		f.flood("a", 300, 0)
		f.flood("b", 300, 0)
		f.tenants(4, "a3 b1")
		f.tenants(40, "a30 b10")
	})
}

// D-842: without a header the topic is the key. Messages with a priority or an ordering key, and of other queues, take
// no turns.
func TestFairByTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Fair: map[string]string{"default": ""}})
		for range 30 {
			f.enqueue(outbox.Message{Topic: "many"})
		}
		f.enqueue(outbox.Message{Topic: "one"})
		_, msgs := f.claim(2)
		if topics := []string{msgs[0].Topic, msgs[1].Topic}; !slices.Contains(topics, "one") || msgs[0].Headers[ordering.FairHeader] == "" {
			t.Errorf("claimed %q", topics)
		}
		for _, m := range []outbox.Message{{Topic: "t", Priority: 1}, {Topic: "t", OrderingKey: "k"}, {Topic: "t", Queue: "other"}} {
			id, err := f.Enqueue(f.ctx(), m)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.find(id).Headers[ordering.FairHeader]; got != "" {
				t.Errorf("%+v takes turns as %q", m, got)
			}
		}
	})
}

// D-842: under limits a claim takes turns as well, and messages of a topic with a limit that has no room are moved aside.
func TestFairUnderLimits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, byTenant)
		f.limit(throttle.Topic, "limited", throttle.Bounds{Concurrency: 2})
		for i := range 30 {
			m := ofTenant("a", i)
			m.Topic = "limited"
			f.enqueue(m)
		}
		f.flood("b", 300, 0)
		f.flood("c", 1, 0)
		_, msgs := f.claim(50)
		if all := strings.Join(names(msgs), ","); strings.Count(all, "a") != 2 || !strings.Contains(all, "c") || len(msgs) < 30 {
			t.Errorf("claimed %s", all)
		}
		f.tenants(50, "b50")
	})
}

// D-845: a header says the key where a program has no such option, and an empty one says none.
func TestFairHeader(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		m := outbox.Message{Topic: "t", Headers: map[string]string{ordering.FairHeader: "ключ"}}
		f.enqueue(m)
		m.ID = outbox.MessageID{1}
		f.enqueue(m)
		if e.Name == "postgres" {
			if _, err := f.db.SQL.ExecContext(t.Context(), "SELECT "+f.db.Table("outbox_enqueue")+`('t', '', headers => '{"pawl-fair-key": "ключ"}')`); err != nil {
				t.Fatal(err)
			}
		}
		if n := f.rows("SELECT DISTINCT at FROM " + f.db.Table("outbox_ready")); n != 1 {
			t.Errorf("messages of a key lie in %d groups", n)
		}
		f = open(t, e)
		m = outbox.Message{Topic: "t", Headers: map[string]string{ordering.FairHeader: strings.Repeat("k", 256)}}
		_, err := f.Enqueue(f.ctx(), m)
		f.refused("fair key")(nil, err)
	})
}

// D-842: what takes turns is handled once, beside what takes none, whatever fails meanwhile.
func TestFairDrains(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		o := byTenant
		o.BatchSize, o.Retry = 50, &worker.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return time.Millisecond }}
		o.RetryLogLevel, o.Logger = slog.LevelDebug, slog.New(slog.DiscardHandler)
		f := open(t, e, o)
		f.flood("a", 2000, 20)
		for i := range 300 {
			f.enqueue(ofTenant(fmt.Sprint("tenant ", i%100), i))
		}
		f.enqueueN(200)
		var done, failed atomic.Int64
		f.handle("t", func(_ context.Context, m *outbox.Message) error {
			if m.RetryCount == 0 && m.Position%10 == 0 {
				failed.Add(1)
				return errors.New("once more")
			}
			done.Add(1)
			return nil
		})
		stop := f.start()
		dbtest.Until(t, "all messages are done", func() bool {
			c, err := f.Count(f.ctx())
			return err == nil && c.Done == 2520
		})
		stop()
		if done.Load() != 2520 || failed.Load() == 0 {
			t.Errorf("%d messages were handled, and %d attempts failed", done.Load(), failed.Load())
		}
	})
}
