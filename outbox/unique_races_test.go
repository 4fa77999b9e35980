package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-212: of 64 that enqueue at once with one key one is stored, and the others learn its id: with
// transactions that pawl shares among them, and with those of several processes.
func TestUniqueAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		boxes := []*parts.Outbox{f.Outbox, parts.NewOutbox(f.db, worker.Options{}), parts.NewOutbox(f.db, worker.Options{})}
		for round := range 3 {
			ids, duplicate := make([]outbox.MessageID, 64), make([]bool, 64)
			var wg sync.WaitGroup
			for i := range ids {
				wg.Go(func() {
					m := keyed("x", outbox.UniqueOptions{Duplicate: &duplicate[i]})
					m.UniqueKey = fmt.Sprint("key ", round)
					var err error
					if ids[i], err = boxes[i%3].Enqueue(f.ctx(), m); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			made := 0
			for i := range ids {
				f.same(ids[i], ids[0], "one of 64")
				if !duplicate[i] {
					made++
				}
			}
			if made != 1 {
				t.Errorf("%d are no duplicates", made)
			}
			f.counts(outbox.Counts{Ready: int64(round + 1)})
		}
	})
}

// D-212: batches with the same keys in any order do not deadlock.
func TestUniqueBatchesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		box := parts.NewOutbox(f.db, worker.Options{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				var msgs []outbox.Message
				for k := range 20 {
					if i%2 == 1 {
						k = 19 - k
					}
					msgs = append(msgs, outbox.Message{Topic: "t", UniqueKey: fmt.Sprint(k)})
				}
				err := f.db.InTx(f.ctx(), func(ctx context.Context, tx engine.Tx) error {
					_, err := box.EnqueueBatchTx(ctx, tx, msgs)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		f.counts(outbox.Counts{Ready: 20})
	})
}

// D-212, D-4: an enqueue that is repeated because its outcome was unknown finds its own message,
// and calls it no duplicate.
func TestUniqueAgainAfterAnUnknownCommit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.Outbox = parts.NewOutbox(&forgetful{DB: f.db.DB}, worker.Options{})
		m := keyed("1", outbox.UniqueOptions{})
		id, _, err := f.tryPut(m)
		if !errors.Is(err, engine.ErrCommitUnknown) {
			t.Fatal(err)
		}
		m.ID = id
		f.same(f.put(m, false), id, "again")
		f.counts(outbox.Counts{Ready: 1})
		owner, _ := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, f.find(id).Position))
		f.same(f.put(m, false), id, "again, after it was handled")
		m.ID = outbox.MessageID{}
		second := f.put(m, false)
		m.ID = id
		f.same(f.put(m, false), id, "again, after another one took the key")
		m.ID = outbox.MessageID{}
		f.same(f.put(m, true), second, "the second")
		f.counts(outbox.Counts{Ready: 1, Done: 1})
	})
}

// forgetful loses the outcome of the first transaction that enqueues with a unique key.
type forgetful struct {
	engine.DB
	once sync.Once
}

func (db *forgetful) Do(ctx context.Context, calls ...*engine.Call) error {
	err := db.DB.Do(ctx, calls...)
	if calls[len(calls)-1].Name() == "outbox/enqueue_unique" {
		db.once.Do(func() { err = errors.Join(engine.ErrCommitUnknown, err) })
	}
	return err
}

// D-212: a message whose position another one has, as after a lost history, keeps its key.
func TestUniquePositionTaken(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		at := int64(f.enqueue(outbox.Message{})) + 1
		f.exec(fmt.Sprintf("INSERT INTO %s (id, message_id, topic, lane, payload%s) SELECT %d, %s, topic, lane, payload%s FROM %s",
			f.db.Table("outbox_message"), created(e), at, strangerID(e), created(e), f.db.Table("outbox_message")))
		m := keyed("1", outbox.UniqueOptions{})
		first := f.put(m, false)
		if f.find(first).Position == outbox.Position(at) {
			t.Fatal("the position is not taken")
		}
		if i := f.find(first); i.UniqueKey != m.UniqueKey {
			t.Errorf("it shows the key %q", i.UniqueKey)
		}
		f.same(f.put(m, true), first, "elsewhere")
		f.counts(outbox.Counts{Ready: 2})
	})
}

func created(e dbtest.Engine) string {
	if e.Name == "sqlite" {
		return ", created_at"
	}
	return ""
}

func strangerID(e dbtest.Engine) string {
	if e.Name == "sqlite" {
		return "x'00000000000040008000000000000001'"
	}
	return "'00000000-0000-4000-8000-000000000001'"
}

// D-212: the clean-up deletes keys with their messages, but for those of a period that is not over.
func TestUniqueKeysAreCleanedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Retention: time.Millisecond})
		for key, period := range map[string]time.Duration{"none": 0, "short": time.Microsecond, "long": time.Hour, "over": time.Hour} {
			f.put(outbox.Message{Topic: "t", UniqueKey: key, Unique: &outbox.UniqueOptions{Period: period}}, false)
		}
		f.put(outbox.Message{Topic: "t", UniqueKey: "waits", Due: time.Now().Add(time.Hour)}, false)
		owner, msgs := f.claimExactly(4)
		f.touched(4)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
		clean := func(want int) {
			t.Helper()
			time.Sleep(5 * time.Millisecond)
			if _, err := f.CleanUp(f.ctx()); err != nil {
				t.Fatal(err)
			}
			f.keys(want)
		}
		clean(3) // long, over and waits
		f.counts(outbox.Counts{Scheduled: 1})
		f.put(outbox.Message{Topic: "t", UniqueKey: "long", Unique: &outbox.UniqueOptions{Period: time.Hour}}, true)
		f.exec(fmt.Sprintf(`UPDATE %s SET until = %s WHERE "key" = 'over'`, f.db.Table("outbox_unique"), f.db.Ago(time.Second)))
		clean(2)
		f.put(outbox.Message{Topic: "t", UniqueKey: "waits"}, true)
		f.put(outbox.Message{Topic: "t", UniqueKey: "long"}, false)
	})
}

// D-212: an enqueue waits for the transaction that holds its key; those without keys do not wait
// with it.
func TestUniqueWaitsAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlite" {
			t.Skip("one writer at a time")
		}
		f := open(t, e)
		tx := f.begin()
		defer tx.Rollback()
		first, err := f.EnqueueTx(f.ctx(), tx, keyed("1", outbox.UniqueOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 { // more than share transactions
			wg.Go(func() {
				if id, err := f.Enqueue(f.ctx(), keyed("2", outbox.UniqueOptions{})); err != nil || id != first {
					t.Errorf("%v, want %v: %v", id, first, err)
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
		ctx, cancel := context.WithTimeout(f.ctx(), time.Minute) // the transaction stays open for as long
		defer cancel()
		if _, err := f.Enqueue(ctx, outbox.Message{Topic: "t"}); err != nil {
			t.Error(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		f.counts(outbox.Counts{Ready: 2})
	})
}

// D-212: an idle worker of this process, to which others are handed over, claims it.
func TestUniqueIsNotHandedOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		handled := make(chan outbox.MessageID, 10)
		f.Handle("t", func(_ context.Context, m *outbox.Message) error {
			handled <- m.ID
			return nil
		})
		ctx, cancel := context.WithCancel(f.ctx())
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		if _, err := f.Enqueue(ctx, outbox.Message{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		<-handled
		time.Sleep(100 * time.Millisecond) // it is idle
		id := f.put(keyed("1", outbox.UniqueOptions{Period: time.Hour}), false)
		f.same(<-handled, id, "handled")
		f.same(f.put(keyed("1", outbox.UniqueOptions{Period: time.Hour}), true), id, "handled within the period")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
