package outbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// keyed returns a message with the key k.
func keyed(payload string, u outbox.UniqueOptions) outbox.Message {
	return outbox.Message{Topic: "t", Payload: []byte(payload), UniqueKey: "k", Unique: &u}
}

// put enqueues a message with a unique key, and insists on whether it is a duplicate.
func (f *fixture) put(m outbox.Message, duplicate bool) outbox.MessageID {
	f.t.Helper()
	id, got, err := f.tryPut(m)
	if err != nil {
		f.t.Fatal(err)
	}
	if got != duplicate {
		f.t.Fatalf("duplicate is %t, want %t", got, duplicate)
	}
	return id
}

func (f *fixture) tryPut(m outbox.Message) (id outbox.MessageID, duplicate bool, err error) {
	u := outbox.UniqueOptions{}
	if m.Unique != nil {
		u = *m.Unique
	}
	u.Duplicate = &duplicate
	m.Unique = &u
	id, err = f.Enqueue(f.ctx(), m)
	return id, duplicate, err
}

// same insists on an id.
func (f *fixture) same(got, want outbox.MessageID, what string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: the id is %v, want %v", what, got, want)
	}
}

// keys insists on how many keys are stored.
func (f *fixture) keys(want int) {
	f.t.Helper()
	if n := f.db.Count(f.t, "SELECT count(*) FROM "+f.db.Table("outbox_unique")); n != want {
		f.t.Errorf("%d keys are stored, want %d", n, want)
	}
}

// D-212: while the earlier message is not done, a second enqueue with its unique key returns the
// earlier one's id and says that it did.
func TestUniqueWhileNotDone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		m := keyed("1", outbox.UniqueOptions{})
		first := f.put(m, false)
		f.same(f.put(m, true), first, "waiting")
		other := m
		other.UniqueKey = "k " // another key
		f.put(other, false)
		f.touched(1)(f.Cancel(f.ctx(), "", f.find(f.put(other, true)).Position))
		owner, msgs := f.claimExactly(1)
		other.Topic, other.Queue, other.UniqueKey = "u", "q", m.UniqueKey
		f.same(f.put(other, true), first, "running, and of another topic and queue")
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("once more")), msgs[0].Position))
		f.same(f.put(m, true), first, "waiting for a retry")
		owner, msgs = f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		second := f.put(m, false)
		owner, msgs = f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("the end"), msgs[0].Position))
		third := f.put(m, false)
		if first == second || second == third {
			t.Error("a message that ended is a duplicate")
		}
		f.counts(outbox.Counts{Ready: 1, Done: 1, Failed: 1, Discarded: 1})
		f.keys(2)
	})
}

// D-212: while no worker holds the earlier one, also one that waits for another attempt.
func TestUniqueWhileNotBegun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		m := keyed("1", outbox.UniqueOptions{Scope: outbox.WhileNotBegun})
		first := f.put(m, false)
		f.same(f.put(m, true), first, "waiting")
		owner, msgs := f.claimExactly(1)
		second := f.put(m, false)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("once more")), msgs[0].Position))
		f.same(f.put(m, true), second, "the last one has the key")
		f.counts(outbox.Counts{Ready: 2})
		f.same(f.put(keyed("1", outbox.UniqueOptions{}), true), second, "the scope is of the enqueue that asks")
	})
}

// D-212: a duplicate that was not begun does not begin before the transaction has ended, so that
// its handler sees what that wrote.
func TestUniqueWhileNotBegunHoldsTheEarlierOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlite" {
			t.Skip("one writer at a time")
		}
		f := open(t, e)
		m := keyed("1", outbox.UniqueOptions{Scope: outbox.WhileNotBegun})
		first := f.put(m, false)
		tx := f.begin()
		defer tx.Rollback()
		id, err := f.EnqueueTx(f.ctx(), tx, m)
		if err != nil {
			t.Fatal(err)
		}
		f.same(id, first, "in a transaction")
		f.claimExactly(0)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		f.claimExactly(1)
	})
}

// D-212: for a period, whatever became of the earlier message.
func TestUniqueForAPeriod(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		m := keyed("1", outbox.UniqueOptions{Period: time.Hour})
		first := f.put(m, false)
		owner, msgs := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		f.same(f.put(m, true), first, "done within the period")
		f.put(keyed("1", outbox.UniqueOptions{Period: time.Microsecond}), false)
		third := f.put(keyed("1", outbox.UniqueOptions{Period: time.Microsecond}), false)
		f.same(f.put(m, true), third, "the period begins again")
		f.counts(outbox.Counts{Ready: 2, Done: 1})
	})
}

// D-213: replace cancels the earlier message if it waits; the newest payload takes its place and
// is due when it was.
func TestUniqueReplace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		replace := outbox.UniqueOptions{Replace: true}
		due := time.Now().Add(time.Hour).Truncate(time.Millisecond)
		m := keyed("1", replace)
		m.Due = due
		first := f.find(f.put(m, false))
		second := f.find(f.put(keyed("2", replace), false))
		if !second.NextAttemptAt.Equal(first.NextAttemptAt) || !second.Due.Equal(due) {
			t.Errorf("due %v and claimable %v, want as the earlier one %v", second.Due, second.NextAttemptAt, first.NextAttemptAt)
		}
		if i := f.status(first.Position, outbox.Discarded); i.LastError != "replaced by "+second.ID.String() {
			t.Errorf("the reason is %q", i.LastError)
		}
		m = keyed("3", outbox.UniqueOptions{Replace: true, Debounce: true})
		third := f.find(f.put(m, false))
		f.status(second.Position, outbox.Discarded)
		owner, msgs := f.claimExactly(1)
		if string(msgs[0].Payload) != "3" {
			t.Errorf("the payload is %q", msgs[0].Payload)
		}
		f.same(f.put(keyed("4", replace), true), third.ID, "running")
		fourth := f.put(keyed("4", outbox.UniqueOptions{Scope: outbox.WhileNotBegun, Replace: true}), false)
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, third.Position))
		f.same(f.put(keyed("5", outbox.UniqueOptions{}), true), fourth, "the fourth")
		f.counts(outbox.Counts{Ready: 1, Done: 1, Discarded: 2})
		f.keys(1)
	})
}

// D-213: debounce makes the earlier message due when the new one would be.
func TestUniqueDebounce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		m := keyed("1", outbox.UniqueOptions{Debounce: true})
		m.Due = time.Now().Add(time.Hour).Truncate(time.Millisecond)
		first := f.put(m, false)
		m.Due = m.Due.Add(time.Hour)
		m.Payload = []byte("2")
		f.same(f.put(m, true), first, "later")
		if i := f.find(first); !i.NextAttemptAt.Equal(m.Due) || string(i.Payload) != "1" {
			t.Errorf("%q is due at %v, want the first one at %v", i.Payload, i.NextAttemptAt, m.Due)
		}
		m.Due = time.Time{}
		f.same(f.put(m, true), first, "now")
		owner, _ := f.claimExactly(1)
		f.same(f.put(m, true), first, "running")
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, f.find(first).Position))
		f.put(m, false)
		f.counts(outbox.Counts{Ready: 1, Done: 1})
	})
}

// D-212: of two messages of one batch with a key the second is a duplicate of the first, among
// others without; those have their places as always.
func TestUniqueInABatch(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		duplicate := make([]bool, 5)
		var msgs []outbox.Message
		for i, key := range []string{"b", "", "a", "b", ""} {
			m := outbox.Message{Topic: "t", Payload: fmt.Append(nil, i), UniqueKey: key, Priority: -i}
			if key != "" {
				m.Unique = &outbox.UniqueOptions{Duplicate: &duplicate[i]}
			}
			msgs = append(msgs, m)
		}
		ids, err := f.EnqueueBatch(f.ctx(), msgs)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(duplicate) != "[false false false true false]" {
			t.Errorf("duplicates are %v", duplicate)
		}
		f.same(ids[3], ids[0], "the second with key b")
		for i, id := range ids {
			if p := string(f.find(id).Payload); i != 3 && p != fmt.Sprint(i) {
				t.Errorf("message %d has the payload %q", i, p)
			}
		}
		f.counts(outbox.Counts{Ready: 4})
		tx := f.begin()
		defer tx.Rollback()
		again, err := f.EnqueueBatchTx(f.ctx(), tx, msgs)
		if err != nil {
			t.Fatal(err)
		}
		if again[0] != ids[0] || again[2] != ids[2] || again[3] != ids[0] || again[1] == ids[1] || fmt.Sprint(duplicate) != "[true false true true false]" {
			t.Errorf("%v is %v, was %v", again, duplicate, ids)
		}
	})
}

// D-212: a caller's transaction learns of a duplicate, can go on, and decides: after a rollback the
// key is free.
func TestUniqueInATransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, end := range []string{"rollback", "commit"} {
			tx := f.begin()
			var duplicate bool
			m := keyed(end, outbox.UniqueOptions{Duplicate: &duplicate})
			first, err := f.EnqueueTx(f.ctx(), tx, m)
			if err != nil || duplicate {
				t.Fatal(err, duplicate)
			}
			second, err := f.EnqueueTx(f.ctx(), tx, m)
			if err != nil || !duplicate {
				t.Fatal(err, duplicate)
			}
			f.same(second, first, "in the same transaction")
			if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"}); err != nil {
				t.Fatal("the transaction cannot go on:", err)
			}
			if end == "commit" {
				err = tx.Commit()
			} else {
				err = tx.Rollback()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f.put(keyed("after", outbox.UniqueOptions{}), true)
		f.counts(outbox.Counts{Ready: 2})
	})
}

// D-213: in a caller's transaction, too; a rollback undoes it.
func TestUniqueReplaceInATransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		first := f.put(keyed("1", outbox.UniqueOptions{}), false)
		for _, u := range []outbox.UniqueOptions{{Replace: true}, {Debounce: true}} {
			tx := f.begin()
			m := keyed("2", u)
			m.Due = time.Now().Add(time.Hour)
			if _, err := f.EnqueueTx(f.ctx(), tx, m); err != nil {
				t.Fatal(err)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
		f.status(f.find(first).Position, outbox.Ready)
		tx := f.begin()
		second, err := f.EnqueueTx(f.ctx(), tx, keyed("2", outbox.UniqueOptions{Replace: true}))
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		_, msgs := f.claimExactly(1)
		f.same(msgs[0].ID, second, "claimed")
		f.status(f.find(first).Position, outbox.Discarded)
	})
}

// D-212: the message that has a key shows it, and until when at least it is remembered; one whose key
// a later message has taken does not.
func TestUniqueKeyIsShown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		shows := func(id outbox.MessageID, key string, period time.Duration) {
			t.Helper()
			found := f.find(id)
			at, err := f.GetByPosition(f.ctx(), found.Position)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []*outbox.Info{found, at} {
				if rest := i.UniqueUntil.Sub(i.CreatedAt); i.UniqueKey != key || i.UniqueUntil.IsZero() != (period == 0) || period > 0 && (rest-period).Abs() > time.Minute {
					t.Errorf("the key is %q until %v, want %q for %v", i.UniqueKey, i.UniqueUntil, key, period)
				}
			}
		}
		plain, err := f.Enqueue(f.ctx(), outbox.Message{ID: outbox.MessageID{1}, Topic: "t"})
		if err != nil {
			t.Fatal(err)
		}
		shows(plain, "", 0)
		first := f.put(keyed("1", outbox.UniqueOptions{}), false)
		shows(first, "k", 0)
		second := f.put(keyed("2", outbox.UniqueOptions{Replace: true}), false)
		shows(first, "", 0)
		shows(second, "k", 0)
		third := f.put(outbox.Message{Topic: "t", UniqueKey: "k ", Unique: &outbox.UniqueOptions{Period: time.Hour}}, false)
		shows(third, "k ", time.Hour)
		owner, msgs := f.claimExactly(3)
		f.touched(3)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
		shows(third, "k ", time.Hour)
	})
}
