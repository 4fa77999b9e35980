package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-799: a queue takes messages until as many wait as MaxBacklog says, and again when a worker has taken some.
// What is due later is none of them, and other queues have no limit.
func TestMaxBacklog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{MaxBacklog: map[string]int{"default": 10}})
		later := outbox.Message{Topic: "t", Due: time.Now().Add(time.Hour)}
		for range 12 {
			f.enqueue(later)
		}
		f.enqueueN(4)
		elsewhere := parts.NewOutbox(f.db, worker.Options{})
		if _, err := elsewhere.EnqueueBatch(f.ctx(), make8(outbox.Message{Topic: "t"})); err != nil {
			t.Fatal(err)
		}
		dbtest.Until(t, "the queue is full", func() bool {
			_, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
			if err != nil && !errors.Is(err, outbox.ErrBacklog) {
				t.Fatal(err)
			}
			return err != nil
		})
		if _, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Queue: "other"}); err != nil {
			t.Errorf("another queue: %v", err)
		}
		tx := f.begin()
		if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"}); !errors.Is(err, outbox.ErrBacklog) {
			t.Errorf("in a transaction: %v", err)
		}
		if err := tx.Commit(); err != nil { // nothing was done to it
			t.Error(err)
		}
		f.claim(50)
		dbtest.Until(t, "there is room again", func() bool {
			_, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
			return err == nil
		})
	})
}

func make8(m outbox.Message) (all []outbox.Message) {
	for range 8 {
		all = append(all, m)
	}
	return all
}

// D-799: where it is only warned of, a full queue takes messages, and there is one line a minute.
func TestWarnOfBacklog(t *testing.T) {
	t.Parallel()
	var log lines
	f := open(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite}, worker.Options{Logger: log.logger(), MaxBacklog: map[string]int{"default": 5}, WarnOfBacklog: true})
	f.enqueueN(5)
	for range 3 {
		f.enqueueN(5)
	}
	if line := log.find("level=WARN", "backlog too large", "queue=default", "limit=5"); line == "" {
		t.Error("no warning")
	}
	f.counts(outbox.Counts{Ready: 20})
}
