package brokertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
)

const (
	topic    = "orders"
	patience = 2 * time.Minute

	producers    = 4
	transactions = 160 // of each producer; every fourth is rolled back
	perCommit    = 10
	committed    = producers * transactions * perCommit * 3 / 4
)

// broker is what is tested, from before the first message.
type broker interface {
	start(t *testing.T)
	kill(t *testing.T)
	publisher(t *testing.T) message.Publisher
	// read returns everything that is in the topic.
	read(t *testing.T) []*message.Message
	// deduplicates reports whether the broker drops a message whose id it has.
	deduplicates() bool
}

// D-234: every message whose transaction committed reaches the broker and no other does, though the
// broker is killed twice and the worker stopped once; what comes twice has the same id, and does not
// where the broker recognizes it. Messages of one ordering key are in their order.
func TestNATSJetStream(t *testing.T) { testBroker(t, newJetStream) }

// D-234
func TestRedisStreams(t *testing.T) { testBroker(t, newRedis) }

// D-234: not Kafka itself, which is no Go program, but one that speaks its protocol.
func TestKafka(t *testing.T) { testBroker(t, newKafka) }

func testBroker(t *testing.T, of func(*testing.T) broker) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		b, d := of(t), e.Open(t)
		ids := produce(t, d)
		w := startWorker(t, d, b)

		w.until(t, "a part is published", committed/5)
		b.kill(t)
		until(t, "attempts fail", func() bool { return w.failed.Load() > 0 })
		b.start(t)

		w.until(t, "a half is published", committed/2)
		w.stop(t)
		w = startWorker(t, dbtest.Database{DB: d.Another(t)}, b)

		w.until(t, "most is published", committed*3/4)
		b.kill(t)
		b.start(t)
		w.until(t, "all is published", committed)
		w.stop(t)
		verify(t, ids(), b)
	})
}

// produce begins to enqueue messages in transactions, and returns a function that waits for the end
// and returns the payloads by id of those that committed.
func produce(t *testing.T, d dbtest.Database) func() map[string]string {
	t.Helper()
	p, err := pawl.New(d, pawl.Options{})
	must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	payloads := make(map[string]string, committed)
	for producer := range producers {
		all.Go(func() {
			for i := range transactions {
				kept, err := transaction(t.Context(), d, p.Outbox, producer, i)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for id, payload := range kept {
					payloads[id] = payload
				}
				mu.Unlock()
			}
		})
	}
	t.Cleanup(all.Wait)
	return func() map[string]string {
		all.Wait()
		return payloads
	}
}

// transaction enqueues messages and commits or rolls back. It returns what it committed. The first
// message has the producer's ordering key.
func transaction(ctx context.Context, d dbtest.Database, ob *outbox.Outbox, producer, number int) (map[string]string, error) {
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	kept := make(map[string]string, perCommit)
	for i := range perCommit {
		m := outbox.Message{Topic: topic, Payload: fmt.Appendf(nil, "%d %d %d", producer, number, i)}
		if i == 0 {
			m.OrderingKey = strconv.Itoa(producer)
		}
		id, err := ob.EnqueueTx(ctx, tx, m)
		if err != nil {
			return nil, err
		}
		kept[id.String()] = string(m.Payload)
	}
	if number%4 == 3 {
		return nil, tx.Rollback()
	}
	return kept, tx.Commit()
}

// worker is a process that forwards.
type worker struct {
	p      *pawl.Pawl
	pub    message.Publisher
	failed atomic.Int64
	end    context.CancelFunc
	ended  chan error
}

func startWorker(t *testing.T, d dbtest.Database, b broker) *worker {
	t.Helper()
	p, err := pawl.New(d, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	w := &worker{p: p, pub: b.publisher(t), ended: make(chan error, 1)}
	watermill.Forward(p, topic, w.pub, watermill.ForwardOptions{Batch: outbox.BatchOptions{Wait: time.Millisecond}, Handler: outbox.HandlerOptions{
		Concurrency: 4,
		Retry:       &outbox.RetryPolicy{Delay: func(int) time.Duration { return 50 * time.Millisecond }},
	}})
	p.Observe(pawl.Observer{Attempted: func(attempts []pawl.Attempt) {
		for _, a := range attempts {
			if a.Outcome == pawl.OutcomeRetried {
				w.failed.Add(1)
			}
		}
	}})
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	go func() { w.ended <- p.Run(ctx) }()
	t.Cleanup(end)
	return w
}

// until waits until so many messages are done.
func (w *worker) until(t *testing.T, what string, done int64) {
	t.Helper()
	until(t, what, func() bool {
		c, err := w.p.Outbox.Count(t.Context())
		must(t, err)
		if c.Failed > 0 {
			t.Fatalf("%d messages failed", c.Failed)
		}
		return c.Done >= done
	})
}

// stop ends the worker as a program does.
func (w *worker) stop(t *testing.T) {
	t.Helper()
	w.end()
	must(t, <-w.ended)
	_ = w.pub.Close()
}

// verify compares what the broker has with what was committed.
func verify(t *testing.T, committed map[string]string, b broker) {
	t.Helper()
	seen := make(map[string]int, len(committed))
	last := make(map[string]int) // transaction, by ordering key
	for _, m := range b.read(t) {
		payload, ok := committed[m.UUID]
		if !ok || payload != string(m.Payload) {
			t.Errorf("%s with %q was not committed", m.UUID, m.Payload)
		}
		if key := m.Metadata.Get(watermill.OrderingKeyMetadata); key != "" && seen[m.UUID] == 0 {
			if number := transactionOf(t, payload); number < last[key] {
				t.Errorf("%q comes after %d", payload, last[key])
			} else {
				last[key] = number
			}
		}
		seen[m.UUID]++
	}
	if len(last) != producers {
		t.Errorf("%d ordering keys", len(last))
	}
	twice := 0
	for id := range committed {
		if seen[id] == 0 {
			t.Errorf("%s is lost", id)
		} else {
			twice += seen[id] - 1
		}
	}
	if twice > 0 && b.deduplicates() {
		t.Errorf("%d messages came twice", twice)
	}
	t.Logf("%d messages, %d came twice", len(committed), twice)
}

// transactionOf returns the number of a message's transaction.
func transactionOf(t *testing.T, payload string) (number int) {
	t.Helper()
	var producer int
	_, err := fmt.Sscan(payload, &producer, &number)
	must(t, err)
	return number
}

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	dbtest.UntilWithin(t, patience, what, ok)
}
