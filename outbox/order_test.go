package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// inOrder enqueues messages with ordering keys, "a1" being the first of key a, in one
// transaction.
func (f *fixture) inOrder(names ...string) []outbox.Position {
	f.t.Helper()
	msgs := make([]outbox.Message, len(names))
	for i, name := range names {
		msgs[i] = withKey(name)
	}
	ids, err := f.EnqueueBatch(f.ctx(), msgs)
	if err != nil {
		f.t.Fatal(err)
	}
	at := make([]outbox.Position, len(ids))
	for i, id := range ids {
		at[i] = f.find(id).Position
	}
	return at
}

func withKey(name string) outbox.Message {
	return outbox.Message{Topic: "t", Payload: []byte(name), OrderingKey: name[:1]}
}

// next claims, insists on what comes, and returns the claim.
func (f *fixture) next(want ...string) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner, msgs := f.claim(100)
	got := names(msgs)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Fatalf("claimed %q, want %q", got, want)
	}
	return owner, msgs
}

func names(msgs []*outbox.Message) []string {
	got := make([]string, len(msgs))
	for i, m := range msgs {
		got[i] = string(m.Payload)
	}
	return got
}

// take is next, and acks.
func (f *fixture) take(want ...string) {
	f.t.Helper()
	owner, msgs := f.next(want...)
	f.touched(int64(len(want)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
}

// D-211: messages of one key come one at a time and in order, those of other keys and without a key
// beside them.
func TestOrderByKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.inOrder("a1", "a2", "b1", "a3", "b2")
		f.enqueue(outbox.Message{Payload: []byte("plain")})
		owner, msgs := f.next("a1", "b1", "plain")
		for _, m := range msgs {
			if want := strings.Trim(string(m.Payload[:1]), "p"); m.OrderingKey != want || m.Headers != nil {
				t.Errorf("%s has the key %q and headers %q", m.Payload, m.OrderingKey, m.Headers)
			}
		}
		f.next()
		b := slices.IndexFunc(msgs, func(m *outbox.Message) bool { return m.OrderingKey == "b" })
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[b].Position))
		f.take("b2")
		f.inOrder("a4")
		f.next()
		a := slices.IndexFunc(msgs, func(m *outbox.Message) bool { return m.OrderingKey == "a" })
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[a].Position))
		f.take("a2")
		f.take("a3")
		f.take("a4")
		f.next()
		if n := f.rows("SELECT id FROM " + f.db.Table("outbox_order")); n != 0 {
			t.Errorf("%d messages are in line still", n)
		}
	})
}

// D-211: the order is that of commits, whatever process has which ids, also of messages with ids of
// the caller's.
func TestOrderIsThatOfCommits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		other := &fixture{Outbox: parts.NewOutbox(f.db.Another(t), worker.Options{}), t: t, db: f.db}
		other.enqueue(outbox.Message{Topic: "before"}) // both have blocks of ids
		f.enqueue(outbox.Message{Topic: "before"})
		for i, from := range []*fixture{f, other, other, f, other, f} {
			m := withKey(fmt.Sprint("a", i))
			if i%2 > 0 {
				m.ID = outbox.MessageID{byte(i), 1}
			}
			if _, err := from.Enqueue(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		owner, msgs := f.claimExactly(3)
		f.touched(3)(f.WorkQueue("").Ack(t.Context(), owner, positions(msgs)...))
		if name := string(msgs[slices.IndexFunc(msgs, func(m *outbox.Message) bool { return m.OrderingKey != "" })].Payload); name != "a0" {
			t.Fatalf("first came %s", name)
		}
		for i := range 5 {
			f.take(fmt.Sprint("a", i+1))
		}
	})
}

// D-211: in the caller's transaction, too; what was rolled back leaves no gap that waits.
func TestOrderInTransactions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for i, commits := range []bool{true, false, true} {
			tx := f.begin()
			for k := range 2 {
				if _, err := f.EnqueueTx(t.Context(), tx, withKey(fmt.Sprint("a", 2*i+k))); err != nil {
					t.Fatal(err)
				}
			}
			if end := tx.Rollback; commits {
				end = tx.Commit
				if err := end(); err != nil {
					t.Fatal(err)
				}
			} else if err := end(); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a0", "a1", "a4", "a5"} {
			f.take(name)
		}
	})
}

// D-211: a message keeps those of its key waiting while it waits for another attempt, after it was
// released, and after its lease expired.
func TestOrderHoldsWhileItRetries(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.inOrder("a1", "a2")
		owner, msgs := f.next("a1")
		f.touched(1)(f.WorkQueue("").Abandon(t.Context(), owner, outbox.RetryAfter(time.Hour, errors.New("no")), msgs[0].Position))
		f.next()
		f.touched(1)(f.Reschedule(t.Context(), time.Time{}, msgs[0].Position))
		owner, msgs = f.next("a1")
		f.touched(1)(f.Release(t.Context(), owner, msgs[0].Position))
		f.next("a1")
		f.lapse()
		f.take("a1")
		f.take("a2")
	})
}

// D-211: a message that ends without being handled lets the next one come: one that fails, expires
// or is cancelled, at the head and behind it.
func TestOrderGoesOnBehindWhatEnded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		at := f.inOrder("a1", "a2", "a3", "a4", "a5", "a6")
		owner, msgs := f.next("a1")
		f.touched(1)(f.WorkQueue("").Fail(t.Context(), owner, errors.New("no"), msgs[0].Position))
		f.touched(1)(f.Cancel(t.Context(), "", at[2])) // behind the head
		f.touched(1)(f.Cancel(t.Context(), "", at[1])) // the head
		owner, msgs = f.next("a4")
		f.touched(1)(f.Cancel(t.Context(), "", at[4]))
		f.next()
		f.touched(1)(f.WorkQueue("").Ack(t.Context(), owner, msgs[0].Position))
		f.next("a6")
	})
}

// D-211: a message that failed for good and is redriven does not run beside another one of its key.
func TestOrderAfterRedrive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.inOrder("a1", "a2", "a3")
		owner, msgs := f.next("a1")
		f.touched(1)(f.WorkQueue("").Fail(t.Context(), owner, errors.New("no"), msgs[0].Position))
		owner, two := f.next("a2")
		f.touched(1)(f.Redrive(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{msgs[0].Position}}))
		f.next()
		f.touched(1)(f.WorkQueue("").Ack(t.Context(), owner, two[0].Position))
		f.take("a1")
		f.take("a3")
	})
}

// D-211: a message that is due later takes its place when it is due.
func TestOrderOfScheduledMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		later := withKey("a0")
		later.Due = time.Now().Add(time.Hour)
		id := f.enqueue(later)
		f.inOrder("a1", "a2")
		owner, msgs := f.next("a1")
		f.touched(1)(f.Reschedule(t.Context(), time.Time{}, id))
		f.next()
		f.touched(1)(f.WorkQueue("").Ack(t.Context(), owner, msgs[0].Position))
		f.take("a0")
		f.take("a2")
	})
}

// D-211: what a topic's pause keeps waiting keeps its key waiting.
func TestOrderWhilePaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, quick(worker.Options{}))
		var mu sync.Mutex
		var got []string
		record := func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, string(m.Payload))
			return nil
		}
		f.handle("t", record)
		f.handle("u", record)
		pauses := f.Pauses()
		if _, err := pauses.Pause(t.Context(), pause.Topic, "t", ""); err != nil {
			t.Fatal(err)
		}
		f.inOrder("a1")
		f.start()
		dbtest.Until(t, "it is parked", func() bool {
			return f.rows("SELECT 1 FROM "+f.db.Table("outbox_ready")+" r JOIN "+f.db.Table("outbox_pause")+" p ON p.lane = r.lane") == 1
		})
		behind := withKey("a2")
		behind.Topic = "u"
		last := f.enqueue(behind)
		free := f.enqueue(outbox.Message{Topic: "u", Payload: []byte("free")})
		f.untilStatus(free, outbox.Done)
		f.status(last, outbox.Ready)
		if _, err := pauses.Resume(t.Context(), pause.Topic, "t"); err != nil {
			t.Fatal(err)
		}
		f.untilStatus(last, outbox.Done)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"free", "a1", "a2"}; !slices.Equal(got, want) {
			t.Errorf("handled %q, want %q", got, want)
		}
	})
}

// D-211: the policy of a topic decides what a failed attempt does to those behind it.
func TestOrderPolicies(t *testing.T) {
	for _, c := range []struct {
		policy outbox.OrderPolicy
		want   []string // attempts, with ! for a failed one
		held   bool
	}{
		{outbox.OrderBlock, []string{"a1!", "a1!", "a2", "a3"}, false},
		{outbox.OrderSkip, []string{"a1!", "a2", "a1!", "a3"}, false},
		{outbox.OrderHold, []string{"a1!", "a1!"}, true},
	} {
		t.Run(fmt.Sprint(c.policy), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, e dbtest.Engine) { testOrderPolicy(t, e, c.policy, c.want, c.held) })
		})
	}
}

func testOrderPolicy(t *testing.T, e dbtest.Engine, policy outbox.OrderPolicy, want []string, held bool) {
	retry := outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return time.Millisecond }}
	f := open(t, e, quick(worker.Options{}))
	var mu sync.Mutex
	var got []string
	attempts := func() int { mu.Lock(); defer mu.Unlock(); return len(got) }
	f.Handle("t", func(ctx context.Context, m *outbox.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if name := string(m.Payload); name != "a1" {
			got = append(got, name)
			if name == "a2" && policy == outbox.OrderSkip {
				var line int // the backoff is over, and a claim has put it in line again
				dbtest.Until(t, "all three are in line", func() bool {
					f.db.Row(t, "SELECT count(*) FROM "+f.db.Table("outbox_order"), &line)
					return line == 3
				})
			}
			return nil
		}
		got = append(got, "a1!")
		return errors.New("no")
	}, outbox.HandlerOptions{Order: policy, Retry: &retry})
	at := f.inOrder("a1", "a2", "a3")
	f.start()
	f.untilStatus(at[0], outbox.Failed)
	dbtest.Until(t, "all attempts", func() bool { return attempts() >= len(want) })
	if held {
		f.status(at[1], outbox.Ready)
		if _, err := f.Discard(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{at[0]}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, "a2", "a3")
	}
	f.untilStatus(at[2], outbox.Done)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, want) {
		t.Errorf("attempts %q, want %q", got, want)
	}
}

// D-211: a message that failed for good under OrderHold comes first when it is redriven.
func TestOrderHoldThenRedrive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, quick(worker.Options{}))
		var mu sync.Mutex
		var got []string
		f.Handle("t", func(_ context.Context, m *outbox.Message) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, string(m.Payload))
			if len(got) == 1 {
				return outbox.Permanent(errors.New("no"))
			}
			return nil
		}, outbox.HandlerOptions{Order: outbox.OrderHold})
		at := f.inOrder("a1", "a2")
		f.start()
		f.untilStatus(at[0], outbox.Failed)
		f.touched(1)(f.Redrive(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{at[0]}}))
		f.untilStatus(at[1], outbox.Done)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"a1", "a1", "a2"}; !slices.Equal(got, want) {
			t.Errorf("handled %q, want %q", got, want)
		}
	})
}

// D-211: a message with a key is not handed over to a worker of this process.
func TestOrderIsNotHandedOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f, db := handing(t, e)
		var mu sync.Mutex
		running, most := 0, 0
		f.handle("t", func(_ context.Context, m *outbox.Message) error {
			if m.OrderingKey == "" {
				return nil
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Millisecond) // so that another one could come between
			mu.Lock()
			defer mu.Unlock()
			running--
			return nil
		})
		f.start()
		f.untilStatus(f.find(f.handOver(db, outbox.Message{Topic: "t"})).Position, outbox.Done) // the loop can take some
		written := db.written.Load()
		for pause := range 10 { // an idle loop takes what is handed over, and not all find it idle
			f.untilStatus(f.enqueue(withKey("a")), outbox.Done)
			time.Sleep(time.Duration(pause) * 5 * time.Millisecond)
		}
		var last outbox.Position
		for range 20 {
			last = f.inOrder("a1", "a2")[1]
			last = max(last, f.enqueue(withKey("a3")))
		}
		f.untilStatus(last, outbox.Done)
		mu.Lock()
		defer mu.Unlock()
		if n := db.written.Load() - written; n > 0 || most > 1 {
			t.Errorf("%d were handed over, %d ran at once", n, most)
		}
	})
}

// D-211: a clock that is set back changes no order: messages that are due at once are ready from
// the same time on, however they were enqueued.
func TestOrderIgnoresTheClock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.inOrder("a1", "a2")
		given := withKey("a3")
		given.ID = outbox.MessageID{1}
		for _, m := range []outbox.Message{given, withKey("a4")} {
			id := f.enqueue(m)
			if i := f.get(id); !i.NextAttemptAt.Equal(i.CreatedAt) {
				t.Errorf("%s may be claimed at %v, want %v", m.Payload, i.NextAttemptAt, i.CreatedAt)
			}
		}
		if n := f.rows("SELECT DISTINCT at FROM " + f.db.Table("outbox_ready")); n != 1 {
			t.Errorf("they are ready from %d different times on", n)
		}
	})
}

// D-211: keys, and what goes with them, are checked.
func TestOrderIsChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.refused("ordering key")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", OrderingKey: strings.Repeat("k", 256)}))
		f.refused("priority")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", OrderingKey: "k", Priority: 1}))
		f.refused("priority")(f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Headers: map[string]string{"pawl-ordering-key": "k"}, Priority: 1}))
	})
}

// D-211: several workers, handlers that fail, and many keys: never two messages of a key at once,
// and none out of order.
func TestOrderAmongWorkers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		const keys, each = 20, 8
		opts := quick(worker.Options{Concurrency: 8, Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
		f := open(t, e, opts)
		log := &orderLog{running: map[string]bool{}, next: map[string]int{}}
		workers := []*fixture{f}
		for range 3 {
			workers = append(workers, &fixture{Outbox: parts.NewOutbox(f.db.Another(t), opts), t: t, db: f.db})
		}
		for _, w := range workers {
			w.handle("t", log.handle)
			w.start()
		}
		var producers sync.WaitGroup
		for k := range keys {
			producers.Go(func() {
				for i := range each {
					m := outbox.Message{Topic: "t", OrderingKey: fmt.Sprint("key", k), Payload: fmt.Append(nil, i)}
					if _, err := workers[(k+i)%len(workers)].Enqueue(t.Context(), m); err != nil {
						t.Error(err)
					}
				}
			})
		}
		producers.Wait()
		dbtest.Until(t, "all are handled", func() bool { return log.handled() == keys*each })
		log.check(t)
	})
}

// orderLog checks what handlers are given.
type orderLog struct {
	mu      sync.Mutex
	running map[string]bool
	next    map[string]int
	calls   int
	done    int
	wrong   []string
}

func (l *orderLog) handle(_ context.Context, m *outbox.Message) error {
	fails := l.begin(m)%5 == 0
	time.Sleep(100 * time.Microsecond) // so that another one could come between
	l.end(m, !fails)
	if fails {
		return errors.New("once")
	}
	return nil
}

// begin returns how many have begun.
func (l *orderLog) begin(m *outbox.Message) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := m.OrderingKey
	if l.running[key] {
		l.wrong = append(l.wrong, "two at once of "+key)
	}
	if want := fmt.Sprint(l.next[key]); string(m.Payload) != want {
		l.wrong = append(l.wrong, fmt.Sprintf("%s of %s, want %s", m.Payload, key, want))
	}
	l.running[key] = true
	l.calls++
	return l.calls
}

// end says that a message no longer runs; one that is not done comes again.
func (l *orderLog) end(m *outbox.Message, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[m.OrderingKey] = false
	if done {
		l.next[m.OrderingKey]++
		l.done++
	}
}

// check fails the test if a handler was given a message too early.
func (l *orderLog) check(t *testing.T) bool {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) > 0 {
		t.Errorf("%d wrong, first %s", len(l.wrong), l.wrong[0])
	}
	return len(l.wrong) == 0
}

func (l *orderLog) handled() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// D-211: a claim puts no more messages in order than it needs, or little more, however many wait: others
// wait for it meanwhile.
func TestClaimsPutFewInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for i := range 20 {
			msgs := make([]outbox.Message, 100)
			for k := range msgs {
				msgs[k] = outbox.Message{Topic: "t", OrderingKey: fmt.Sprint(i, " ", k)}
			}
			if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
				t.Fatal(err)
			}
		}
		f.claimExactly(10)
		var n int
		if f.row("SELECT count(*) FROM "+f.db.Table("outbox_order"), &n); n > 200 {
			t.Errorf("%d messages are in order after 10 were claimed", n)
		}
	})
}
