package pawl_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// claimer is a program that claims itself.
type claimer struct {
	*testing.T
	db    dbtest.Database
	p     *pawl.Pawl
	owner outbox.OwnerToken
}

func newClaimer(t *testing.T, e dbtest.Engine) *claimer {
	t.Helper()
	db := e.Open(t)
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: true, Logger: quiet()})
	c := &claimer{t, db, p, outbox.NewOwnerToken()}
	c.check(err)
	return c
}

func (c *claimer) check(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// claim claims n messages.
func (c *claimer) claim(from *outbox.WorkQueue[outbox.Message, outbox.Position], n int) (ids []outbox.Position) {
	c.Helper()
	for len(ids) < n {
		some, err := from.Claim(c.Context(), c.owner, time.Hour, n-len(ids))
		c.check(err)
		if len(some) == 0 {
			c.Fatalf("%d messages are claimed, want %d", len(ids), n)
		}
		for _, m := range some {
			ids = append(ids, m.Position)
		}
	}
	return ids
}

// settled checks how many messages a call settled.
func (c *claimer) settled(want int64) func(int64, error) {
	return func(n int64, err error) {
		c.Helper()
		c.check(err)
		if n != want {
			c.Errorf("%d were settled, want %d", n, want)
		}
	}
}

// topic checks what was counted of a topic.
func (c *claimer) topic(name string, enqueued, done, retried, failed, expired int64, print string) {
	c.Helper()
	a := readActivity(c.T, c.db, inspect.ActivityQuery{Topic: name})
	if len(a.Topics) != 1 {
		c.Fatalf("%s: %d topics", name, len(a.Topics))
	}
	got := &a.Topics[0]
	if got.Enqueued != enqueued || got.Done != done || got.Retried != retried || got.Failed != failed || got.Expired != expired || got.CommonestError() != print {
		c.Errorf("%s: %+v, %d enqueued; want %d done, %d retried, %d failed, %d expired of %d, %q", name, got.Totals, got.Enqueued, done, retried, failed, expired, enqueued, print)
	}
	if got.Waits.Count()+got.Takes.Count() != 0 {
		c.Errorf("%s: times that nobody measured: %v, %v", name, got.Waits, got.Takes)
	}
}

// D-600: what programs settle that claim themselves is counted as what workers settle: once, and of
// what was asked for as much as the owner held. How long it took nobody knows.
func TestClaimedByProgramsIsCounted(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		enqueueSome(t, c.p, "a", 10)
		q := c.p.Outbox.WorkQueue("")
		ids := c.claim(q, 10)
		c.settled(0)(q.Ack(t.Context(), outbox.NewOwnerToken(), ids...))
		c.settled(4)(q.Ack(t.Context(), c.owner, ids[:4]...))
		c.settled(1)(q.Abandon(t.Context(), c.owner, outbox.RetryAfter(0, errors.New("no route to 10.0.0.7")), ids[5]))
		c.settled(2)(q.Fail(t.Context(), c.owner, errors.New("no customer 17"), ids[6:8]...))
		c.settled(0)(q.Fail(t.Context(), c.owner, errors.New("too late"), ids[:4]...))
		c.topic("a", 10, 4, 1, 2, 0, "no customer #")
		c.settled(3)(q.Ack(t.Context(), c.owner, append(ids, 1<<40)...))
		c.settled(1)(q.Ack(t.Context(), c.owner, c.claim(q, 1)...)) // what was abandoned
		c.topic("a", 10, 8, 1, 2, 0, "no customer #")

		_, err := c.p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "late", Expires: time.Now().Add(100 * time.Millisecond)})
		c.check(err)
		c.db.Pass(200 * time.Millisecond)
		_, err = q.Claim(t.Context(), c.owner, time.Hour, 1)
		c.check(err)
		c.topic("late", 1, 0, 0, 0, 1, "")

		c.check(c.p.Jobs.Put(t.Context(), job.Job{Name: "j", Topic: "run", Schedule: "@yearly"}))
		_, err = c.p.Jobs.Trigger(t.Context(), "j")
		c.check(err)
		c.settled(1)(c.p.Jobs.WorkQueue().Ack(t.Context(), c.owner, c.claim(c.p.Jobs.WorkQueue(), 1)...))
		c.topic("run", 1, 1, 0, 0, 0, "")
	})
}

// D-600: a claim whose messages are settled side by side, each by a call of its own, is counted whole.
func TestSettledSideBySide(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		const n = 48
		all := make([]outbox.Message, n)
		for i := range all {
			all[i].Topic = "a"
		}
		_, err := c.p.Outbox.EnqueueBatch(t.Context(), all) // one run
		c.check(err)
		q := c.p.Outbox.WorkQueue("")
		var wait sync.WaitGroup
		for _, id := range c.claim(q, n) {
			wait.Go(func() { c.settled(1)(q.Ack(t.Context(), c.owner, id)) })
		}
		wait.Wait()
		c.topic("a", n, n, 0, 0, 0, "")
	})
}

// D-601: topics beyond the first 200 of a minute are counted together, however many a program claims.
func TestClaimedTopicsAreBounded(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		q := c.p.Outbox.WorkQueue("")
		for from := range 2 {
			var all []outbox.Message
			for i := range 500 {
				all = append(all, outbox.Message{Topic: fmt.Sprintf("t%03d", from*500+i)}, outbox.Message{Topic: "hot"})
			}
			_, err := c.p.Outbox.EnqueueBatch(t.Context(), all)
			c.check(err)
			c.settled(1000)(q.Ack(t.Context(), c.owner, c.claim(q, 1000)...))
		}
		a := readActivity(t, c.db, inspect.ActivityQuery{})
		var sum, hot, rest int64
		for i := range a.Topics {
			switch n := a.Topics[i].Done; a.Topics[i].Topic {
			case "hot":
				hot = n
			case "":
				rest = n
			default:
				sum += n
			}
		}
		minutes := c.db.Count(t, "SELECT count(DISTINCT minute) FROM "+c.db.Table("activity")) // it may end meanwhile
		if rows := c.db.Count(t, "SELECT count(*) FROM "+c.db.Table("activity")); rows > minutes*201 || rest == 0 || hot != 1000 || sum+rest != 1000 {
			t.Errorf("%d rows of %d minutes: %d of the hot topic, %d of others, %d of the rest", rows, minutes, hot, sum, rest)
		}
	})
}

// routine calls a SQL routine in a transaction, or without one.
func (c *claimer) routine(tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, name string, ids []outbox.Position, more ...string) {
	c.Helper()
	positions := make([]int64, len(ids))
	for i, id := range ids {
		positions[i] = int64(id)
	}
	ctx, cancel := context.WithTimeout(c.Context(), 3*time.Minute) // a lock would be waited for without end
	defer cancel()
	_, err := tx.ExecContext(ctx, c.db.Call(name, append([]string{"'" + c.owner.String() + "'", c.db.IDs(positions...)}, more...)...))
	c.check(err)
}

// eachServer runs a test on the engines that have routines and several writers: all but SQLite.
func eachServer(t *testing.T, test func(t *testing.T, e dbtest.Engine)) {
	for _, e := range dbtest.Engines() {
		if e.Name != "sqlite" {
			t.Run(e.Name, func(t *testing.T) { test(t, e) })
		}
	}
}

// D-602: the SQL routines count what they settle, of messages, runs of jobs and the inbox.
func TestSettledByRoutinesIsCounted(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		q := c.p.Outbox.WorkQueue("")
		for _, kind := range []string{"outbox", "job_run"} {
			enqueueSome(t, c.p, kind, 6)
			ids := c.claim(q, 6)
			c.routine(c.db.SQL, kind+"_ack", ids[:3])
			c.routine(c.db.SQL, kind+"_ack", ids[:4]) // three of them are not held any more
			c.routine(c.db.SQL, kind+"_fail", ids[4:5], "'no customer 17'")
			c.routine(c.db.SQL, kind+"_abandon", ids[5:6])
			c.topic(kind, 6, 4, 1, 1, 0, "no customer #")
		}
		for i := range 5 {
			added, err := c.p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: fmt.Sprint(i)}, Topic: "received"})
			c.check(err)
			if !added {
				t.Fatal("not added")
			}
		}
		_, err := c.db.SQL.ExecContext(t.Context(), c.db.Call("inbox_claim", "'"+c.owner.String()+"'", "3600", "50"))
		c.check(err)
		var ids []outbox.Position
		rows, err := c.db.SQL.QueryContext(t.Context(), "SELECT id FROM "+c.db.Table("outbox_message")+" WHERE topic = 'received' ORDER BY id")
		c.check(err)
		defer rows.Close()
		for rows.Next() {
			ids = append(ids, 0)
			c.check(rows.Scan(&ids[len(ids)-1]))
		}
		c.check(rows.Err())
		c.routine(c.db.SQL, "inbox_ack", ids[:2])
		c.routine(c.db.SQL, "inbox_fail", ids[2:3], "'bad'")
		c.routine(c.db.SQL, "inbox_abandon", ids[3:5], "'bad'")
		c.routine(c.db.SQL, "inbox_abandon", ids[3:5], "'bad'")
		c.topic("received", 5, 2, 2, 1, 0, "bad")
	})
}

// D-603: sessions that settle messages of the same topic at once do not wait for each other: each has a
// row. One that ended leaves its row to the next: there are as many as sessions settled at once.
func TestSessionsCountApart(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		c := newClaimer(t, e)
		other := &claimer{t, c.db, c.p, outbox.NewOwnerToken()}
		enqueueSome(t, c.p, "a", 6)
		one, two := c.claim(c.p.Outbox.WorkQueue(""), 3), other.claim(c.p.Outbox.WorkQueue(""), 3)
		first, second := c.db.Begin(t), c.db.Begin(t)
		c.routine(first, "outbox_ack", one[:1])
		other.routine(second, "outbox_ack", two[:1])
		other.routine(second, "outbox_fail", two[1:2])
		c.routine(first, "outbox_ack", one[1:2])
		c.check(errors.Join(first.Commit(), second.Commit()))
		c.routine(c.db.SQL, "outbox_ack", one[2:])
		minutes := c.db.Count(t, "SELECT count(DISTINCT minute) FROM "+c.db.Table("activity"))
		if n := c.db.Count(t, "SELECT count(*) FROM "+c.db.Table("activity")); n < 2 || n > 2*minutes && !strings.HasPrefix(c.db.Engine(), "sqlserver") {
			t.Errorf("%d rows of %d minutes, want 2", n, minutes)
		}
		c.topic("a", 6, 4, 0, 1, 0, "")
	})
}
