package outbox_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// keyed enqueues rounds of messages, in each one of so many keys; the first of key k has the payload "0".
func (f *fixture) keyed(keys, rounds int) {
	f.t.Helper()
	for round := range rounds {
		msgs := make([]outbox.Message, keys)
		for k := range msgs {
			msgs[k] = outbox.Message{Topic: "t", OrderingKey: fmt.Sprint("key ", k), Payload: fmt.Append(nil, round)}
		}
		if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
			f.t.Fatal(err)
		}
	}
}

// D-850: a claim of many takes the next message of each key of which none is claimed, and no more until these have
// ended; however many claims it takes, each key's messages come in order, and all of them.
func TestManyKeys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		const keys, rounds = 450, 4
		f := open(t, e)
		f.keyed(keys, rounds)
		came := map[string]int{}
		for handled := 0; handled < keys*rounds; {
			var owners []outbox.OwnerToken
			var claims [][]*outbox.Message
			running := map[string]bool{}
			for range 3 { // claims beside each other
				owner, msgs := f.claim(200)
				owners, claims = append(owners, owner), append(claims, msgs)
				for _, m := range msgs {
					if running[m.OrderingKey] {
						t.Fatalf("two messages of %s run", m.OrderingKey)
					}
					running[m.OrderingKey] = true
					if got, want := string(m.Payload), fmt.Sprint(came[m.OrderingKey]); got != want {
						t.Fatalf("message %s of %s came, want %s", got, m.OrderingKey, want)
					}
					came[m.OrderingKey]++
				}
			}
			if len(running) == 0 {
				t.Fatalf("%d of %d came", handled, keys*rounds)
			}
			for i, owner := range owners {
				at := positions(claims[i])
				f.touched(int64(len(at)))(f.WorkQueue("").Ack(f.ctx(), owner, at...))
				handled += len(at)
			}
		}
		f.db.CheckPlaces(t)
	})
}

// D-850: what a claim of many found is given back like other messages: the key's next one waits for it.
func TestManyKeysGivenBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.keyed(150, 2)
		owner, msgs := f.claim(150)
		f.touched(150)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), positions(msgs)...))
		var free int
		f.row("SELECT sum(r.n) FROM "+f.db.Table("outbox_ready")+" r JOIN "+f.db.Table("outbox_lane")+" l ON l.id = r.lane WHERE l.kind = 0", &free)
		if free != 150 {
			t.Errorf("%d messages lie where claims take them, want 150", free)
		}
		_, again := f.claim(300)
		if len(again) != 150 {
			t.Errorf("%d messages came, of 150 keys", len(again))
		}
		for _, m := range again {
			if string(m.Payload) != "0" {
				t.Fatalf("message %s of %s came before the first", m.Payload, m.OrderingKey)
			}
		}
		f.db.CheckPlaces(t)
	})
}

// D-850: the same holds of claims beside each other, while messages are enqueued and some are given back.
func TestManyKeysAmongClaimers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		const keys, producers, claimers, batches, batch = 300, 2, 4, 20, 100
		f := open(t, e)
		log := &orderLog{next: map[string]int{}, running: map[string]bool{}}
		var left atomic.Int64
		left.Store(producers * batches * batch)
		var all sync.WaitGroup
		for p := range producers {
			all.Go(func() {
				made := map[int]int{} // of each key, which no other producer has
				for range batches {
					msgs := make([]outbox.Message, batch)
					for i := range msgs {
						key := rand.IntN(keys/producers)*producers + p
						msgs[i] = outbox.Message{Topic: "t", OrderingKey: fmt.Sprint("key ", key), Payload: fmt.Append(nil, made[key])}
						made[key]++
					}
					if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
						t.Error(err)
						left.Store(0)
						return
					}
				}
			})
		}
		for range claimers {
			all.Go(func() {
				for left.Load() > 0 {
					owner := outbox.NewOwnerToken()
					msgs, err := f.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 200)
					for _, m := range msgs {
						log.begin(m)
					}
					if err != nil {
						t.Error(err)
					}
					if !log.check(t) || err != nil {
						left.Store(0)
						return
					}
					k := len(msgs) - len(msgs)/5
					for i, m := range msgs {
						log.end(m, i < k)
					}
					acked, err := f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs[:k])...)
					if err == nil {
						_, err = f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), positions(msgs[k:])...)
					}
					if err != nil {
						t.Error(err)
					}
					left.Add(-acked)
				}
			})
		}
		all.Wait()
		f.db.CheckPlaces(t)
	})
}

// D-851: half of such a claim is for other messages that are due; what these leave is for keys.
func TestManyKeysBesideOthers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.keyed(600, 1)
		if _, err := f.EnqueueBatch(f.ctx(), slices.Repeat([]outbox.Message{{Topic: "other"}}, 150)); err != nil {
			t.Fatal(err)
		}
		count := func(want int) {
			t.Helper()
			_, msgs := f.claim(200)
			others := 0
			for _, m := range msgs {
				if m.OrderingKey == "" {
					others++
				}
			}
			if len(msgs) != 200 || others != want {
				t.Errorf("%d of %d messages have no key, want %d of 200", others, len(msgs), want)
			}
		}
		count(100)
		count(50)
		count(0)
	})
}

// D-852: a key's message is found behind one of another key whose group it shares, and which may not be claimed.
func TestKeysOfOneGroup(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		const a, b = "key 78191", "key 162447" // their hashes begin alike
		for _, of := range [][]string{{a, a}, {b}} {
			var msgs []outbox.Message
			for _, key := range of {
				msgs = append(msgs, outbox.Message{Topic: "t", OrderingKey: key, Payload: []byte(key)})
			}
			if _, err := f.EnqueueBatch(f.ctx(), msgs); err != nil {
				t.Fatal(err)
			}
		}
		owner, first := f.claim(150)
		_, next := f.claim(150)
		if got := append(names(first), names(next)...); !slices.Equal(got, []string{a, b}) {
			t.Fatalf("%q came, want a and b", got)
		}
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, first[0].Position))
		if _, last := f.claim(150); len(last) != 1 || last[0].OrderingKey != a {
			t.Errorf("%q came, want the other of a", names(last))
		}
	})
}

// D-853: a claim goes on where another message has become the head of a key since it began, and leaves that key.
func TestManyKeysBesideAnotherHead(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	f.keyed(150, 1)
	other := f.begin()
	if _, err := other.ExecContext(t.Context(), "INSERT INTO "+d.Table("outbox_order")+" (id, lane, key, head) SELECT 1000000, id, 'key 7', true FROM "+d.Table("outbox_lane")+" WHERE kind = 1"); err != nil {
		t.Fatal(err)
	}
	var pid int
	if err := other.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan []*outbox.Message)
	go func() {
		msgs, err := f.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), lease, 200)
		if err != nil {
			t.Error(err)
		}
		claimed <- msgs
	}()
	dbtest.Until(t, "the claim waits", func() bool {
		return f.rows(fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE %d = ANY (pg_blocking_pids(pid))", pid)) > 0
	})
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	msgs := <-claimed
	if len(msgs) != 149 {
		t.Errorf("%d messages came, want those of 149 keys", len(msgs))
	}
	for _, m := range msgs {
		if m.OrderingKey == "key 7" {
			t.Error("one came whose key has another head")
		}
	}
}
